/**
 * In bundles that are downloaded or uploaded, IDs are read one by one by `bits.ts`: nothing of `fast.ts` is in them, and nothing calls
 * what is absent here.
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
