/** A layout with 16 IDs a millisecond, so that a process is soon ahead of the clock as far as it may, on a busy machine too. */
export const slowLayout = {
  epochMs: 1_704_067_200_000,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "node", bits: 14 },
    { kind: "sequence", bits: 4 },
  ],
};
