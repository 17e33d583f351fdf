// A page with no policy: the vectors, and minting on the main thread, which cannot block.
import { Snowflake } from "frazil";
import { checkMinting, checkVectors } from "../checks.mjs";
import { resultOf } from "../json-result.mjs";

const warningsOf = (options) => new Snowflake({ node: 9, ...options }).health().warnings;

globalThis.answer = resultOf(async () => ({
  vectors: checkVectors(),
  minting: await checkMinting(2),
  warnings: [{}, { unshared: true }, { now: Date.now }].map(warningsOf),
}));
