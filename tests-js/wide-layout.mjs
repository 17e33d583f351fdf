import { Layout } from "frazil";

/** A layout with sequence numbers that no loop uses up within its milliseconds, so that no cap is in the way. */
export const wide = new Layout({
  epochMs: 1704067200000,
  fields: [
    { kind: "time", bits: 40 },
    { kind: "node", bits: 1 },
    { kind: "sequence", bits: 22 },
  ],
});
