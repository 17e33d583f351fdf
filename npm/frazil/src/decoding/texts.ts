/** The decimal texts of many IDs, in Node and Bun. Elsewhere each is that of its `bigint`. */
import { bufferOf, lengthOf, offsetOf } from "../arrays.js";
import { LOW } from "../bits.js";

// Captured, so that no program that replaces them is called.
const apply = Reflect.apply;
const { fromCharCode } = String;
const { charCodeAt } = String.prototype;
const Halves = Uint32Array;

/** The character code of the digit 0. */
const ZERO = 48;

/**
 * Writes the texts of IDs into a list of their length. Neighbours mostly differ in their last digits alone, and a `bigint` computes all
 * of them for its text.
 */
export function writeTexts(ids: BigUint64Array, list: { [at: number]: string }): void {
  const length = lengthOf(ids);
  const halves = new Halves(bufferOf(ids), offsetOf(ids), 2 * length);
  /** The codes of the last text. */
  let codes: number[] = [];
  // The halves of the last ID with three zeros in the place of its last three digits. None has a negative half.
  let baseHigh = -1;
  let baseLow = 0;
  for (let at = 0; at < length; at++) {
    const low = halves[2 * at + LOW] as number;
    const high = halves[2 * at + 1 - LOW] as number;
    const beyond = (low - baseLow) >>> 0;
    if (beyond < 1000 && high === (low < baseLow ? baseHigh + 1 : baseHigh)) {
      const tens = (beyond / 10) | 0;
      const hundreds = (beyond / 100) | 0;
      const digits = codes.length;
      codes[digits - 3] = ZERO + hundreds;
      codes[digits - 2] = ZERO + tens - 10 * hundreds;
      codes[digits - 1] = ZERO + beyond - 10 * tens;
      list[at] = apply(fromCharCode, undefined, codes);
      continue;
    }
    const text = `${ids[at]}`;
    list[at] = text;
    // Elements from the start: one that is missing is asked of `Array.prototype`, where a program may have put its own.
    codes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    codes.length = text.length;
    for (let digit = 0; digit < text.length; digit++) codes[digit] = apply(charCodeAt, text, [digit]);
    // Below 1000 the texts of neighbours have other lengths.
    baseHigh = -1;
    if (text.length < 4) continue;
    const code = (fromEnd: number) => (codes[text.length - fromEnd] as number) - ZERO;
    const last = 100 * code(3) + 10 * code(2) + code(1);
    baseHigh = low < last ? high - 1 : high;
    baseLow = (low - last) >>> 0;
  }
}
