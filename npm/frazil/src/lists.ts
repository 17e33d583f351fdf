/** Lists of many IDs, as `bigint` or as decimal text. */
import { Decoding, writeTexts } from "#decoding";
import { lengthOf } from "./arrays.js";

/** Array, also if a program replaces the global later. */
const List = Array;

/**
 * A list of the IDs, or of their decimal texts. Of its full length from the start, which takes a third of the time of one that grows.
 *
 * @internal
 */
export function listOf<T extends bigint | string>(ids: BigUint64Array, areTexts: boolean): T[] {
  const length = lengthOf(ids);
  const list = new List<bigint | string>(length);
  // A loop for each: one that asks at each ID takes a tenth more.
  if (!areTexts) for (let at = 0; at < length; at++) list[at] = ids[at] as bigint;
  else if (Decoding.FAST) writeTexts(ids, list as string[]);
  else for (let at = 0; at < length; at++) list[at] = `${ids[at]}`;
  return list as T[];
}
