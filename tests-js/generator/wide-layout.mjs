import { Layout } from "frazil";

/** A layout with 2^22 sequence numbers per millisecond, more than any loop uses, so that calls never wait. */
export const wideLayout = new Layout({
  epochMs: 1704067200000,
  fields: [
    { kind: "time", bits: 40 },
    { kind: "node", bits: 1 },
    { kind: "sequence", bits: 22 },
  ],
});
