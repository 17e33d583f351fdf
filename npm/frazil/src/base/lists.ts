/** Lists of many IDs, as `bigint` or as decimal text. */
import { Ids, lengthOf } from "./arrays.js";
import { putOwn } from "./own-properties.js";

/** Array, also if a program replaces the global later. */
const List = Array;

/** The largest array that is kept for the next call. */
const MAX_SPARE = 4096;

/** An array that no call uses. Making one takes a fifth of a call that fills it and makes a list. */
let spare: BigUint64Array | undefined;

/**
 * An array of that length, reserved for the caller until it is given back: a user's clock may mint while a call waits.
 *
 * @internal
 */
export function takeArray(length: number): BigUint64Array {
  const taken = spare;
  spare = undefined;
  return taken !== undefined && lengthOf(taken) === length ? taken : new Ids(length);
}

/** Keeps an array for the next call of that length. @internal */
export function giveArray(ids: BigUint64Array): void {
  if (lengthOf(ids) <= MAX_SPARE) spare = ids;
}

/**
 * A list of the IDs, or of their decimal texts. It has its full length from the start, which takes a third of the time of a growing list.
 *
 * @internal
 */
export function listOf<T extends bigint | string>(ids: BigUint64Array, areTexts: boolean): T[] {
  const length = lengthOf(ids);
  const list = new List<bigint | string>(length);
  // Two loops: one loop with a check for each ID takes a tenth longer.
  if (!areTexts) for (let at = 0; at < length; at++) putOwn(list, at, ids[at] as bigint);
  else for (let at = 0; at < length; at++) putOwn(list, at, `${ids[at]}`);
  return list as T[];
}
