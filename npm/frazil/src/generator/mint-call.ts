/** The progress of a call that mints. */
import { lengthOf } from "../base/arrays.js";

/**
 * A call that mints, and its progress. The progress is kept here and not read from an error, because an error may come
 * from the user's clock and contain anything.
 */
export interface MintCall<T = BigUint64Array | undefined> {
  /** How long it may still block, in milliseconds. */
  remainingMs: number;
  /** The status of the core's answer to a call that came before and has no block, if there was one. It is not asked again for it. */
  answered: number | undefined;
  /** The array to fill, if there is one. */
  readonly target: T;
  /** The length of the target when the call began. */
  readonly length: number;
  /** How many IDs the target has so far. */
  done: number;
  /** `#takenCount()` before the first of them. */
  takenBefore: number;
  /** The node id of the first of them. */
  node: number | undefined;
}

export type FillCall = MintCall<BigUint64Array>;

export const newCall = <T extends BigUint64Array | undefined>(
  target: T,
  remainingMs: number,
  answered?: number,
): MintCall<T> => ({
  remainingMs,
  answered,
  target,
  length: target === undefined ? 0 : lengthOf(target),
  done: 0,
  takenBefore: 0,
  node: undefined,
});
