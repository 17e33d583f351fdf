// The decoded values of the ES module and of CommonJS have one type, and a test can write such a value by hand.
import type { Decoded } from "frazil";
import type { decoded } from "./mixed.cjs";

declare const ours: Decoded<"node">;
export const theirs: typeof decoded = ours;
export const back: Decoded<"node"> = theirs;
export const mock: Decoded<"node"> = {
  id: 1n,
  timestampMs: 0,
  node: 1,
  clock: undefined,
  sequence: 0,
  date: new Date(0),
  parts: { node: 1 },
  toJSON: () => ({}),
};
const copy = { ...ours };
export const id: bigint = copy.id;
// @ts-expect-error: a copy has no date
copy.date;
// @ts-expect-error: a copy has no parts
copy.parts;
// @ts-expect-error: a copy has no toJSON
copy.toJSON;
