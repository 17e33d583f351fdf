/**
 * In bundles for download or upload, `bits.ts` reads IDs one by one. They contain nothing of `fast.ts`, and nothing calls what is missing
 * here.
 */
import type * as fast from "./fast.js";

export enum Decoding {
  FAST = 0,
}

const absent = undefined as never;
export const firstWith: typeof fast.firstWith = absent;
export const isIdOf: typeof fast.isIdOf = absent;
export const keyOf: typeof fast.keyOf = absent;
export const keepParts: typeof fast.keepParts = absent;
export const partsOf: typeof fast.partsOf = absent;
export const readColumns: typeof fast.readColumns = absent;
