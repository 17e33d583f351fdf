import { lengthOf } from "./arrays.js";

/** A call that mints. How far it is stands here: an error that comes out of it may be the user's, and say anything. */
export interface MintCall<T = BigUint64Array | undefined> {
  /** How long it may still block. */
  remainingMs: number;
  /** The array that it fills, if it fills one. */
  readonly target: T;
  /** How many IDs that takes: the length that it had at first. */
  readonly length: number;
  /** How many of them it has. */
  done: number;
  /** `#taken()` before its first one. */
  takenBefore: number;
}

export type FillCall = MintCall<BigUint64Array>;

export const newCall = <T extends BigUint64Array | undefined>(target: T, remainingMs: number): MintCall<T> => ({
  remainingMs,
  target,
  length: target === undefined ? 0 : lengthOf(target),
  done: 0,
  takenBefore: 0,
});
