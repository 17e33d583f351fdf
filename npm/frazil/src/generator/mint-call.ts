/** The progress of a call that mints. */
import { lengthOf } from "../base/arrays.js";

/**
 * A call that mints, and its progress. The progress is kept here instead of in an error, because an error may come from the user's clock
 * and contain anything.
 */
export interface MintCall<T = BigUint64Array | undefined> {
  /** The time that it may still block, in milliseconds. */
  remainingMs: number;
  /** The status of an earlier call of the core that gave no block, if there was one. The core is not asked again. */
  answered: number | undefined;
  /** The array to fill, if there is one. */
  readonly target: T;
  /** The length of the target when the call began. */
  readonly length: number;
  /** The number of IDs in the target so far. */
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
