/** Where a program is downloaded or uploaded, IDs are read by what is there for one ID: nothing of `fast.ts` is in the bundle. */
export enum Decoding {
  FAST = 0,
}

export { firstWith, keyOf, partsOf, readColumns } from "./fast.js";
