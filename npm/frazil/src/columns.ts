/** Decoding many IDs into typed arrays, one field after the other: a loop that calls no function takes a quarter of the time. */
import { LOW, type Span } from "./bits.js";

type Column = Float64Array | Uint32Array;

/** Writes the number of a span in each ID, times `factor` plus `base`. `halves` has the halves of the IDs. */
export function readColumn(halves: Uint32Array, span: Span, into: Column, factor = 1, base = 0): void {
  const [lowest, ...more] = span.runs ?? [span];
  readRun(halves, lowest as Span, into, factor, base, false);
  let below = (lowest as Span).max + 1;
  for (const run of more) {
    readRun(halves, run, into, factor * below, 0, true);
    below *= run.max + 1;
  }
}

/** The same for adjacent bits. `adds`: to what the column has. */
function readRun(
  halves: Uint32Array,
  { shift, max }: Span,
  into: Column,
  factor: number,
  base: number,
  adds: boolean,
): void {
  const { length } = into;
  const bits = Math.log2(max + 1);
  const [low, high] = [LOW, 1 - LOW];
  if (shift > 31 || shift + bits <= 32) {
    // All bits are in one half. Shifts are modulo 32.
    const half = shift > 31 ? high : low;
    const mask = max | 0;
    for (let at = 0; at < length; at++) {
      const value = ((((halves[2 * at + half] as number) >>> shift) & mask) >>> 0) * factor + base;
      into[at] = adds ? (into[at] as number) + value : value;
    }
    return;
  }
  const scale = 2 ** (32 - shift);
  const mask = ((max + 1) / scale - 1) | 0;
  for (let at = 0; at < length; at++) {
    const above = (((halves[2 * at + high] as number) & mask) >>> 0) * scale;
    const value = (above + ((halves[2 * at + low] as number) >>> shift)) * factor + base;
    into[at] = adds ? (into[at] as number) + value : value;
  }
}

/** The position of the first ID that has a bit above `bits`, or -1. */
export function firstAbove(halves: Uint32Array, bits: number): number {
  const { length } = halves;
  if (bits === 64) return -1;
  // At most 63 bits, so the high half has one at least that no ID may have; below 33 bits, all of them.
  const [low, high] = [LOW, 1 - LOW];
  const highMask = bits > 32 ? -1 << (bits - 32) : -1;
  const lowMask = bits < 32 ? -1 << bits : 0;
  for (let at = 0; at < length; at += 2)
    if (((halves[at + high] as number) & highMask) | ((halves[at + low] as number) & lowMask)) return at / 2;
  return -1;
}
