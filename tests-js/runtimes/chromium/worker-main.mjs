// The dedicated worker of worker-page.mjs.
import { Snowflake } from "frazil";
import { checkMinting, checkVectors } from "../checks.mjs";
import { resultOf } from "../json-result.mjs";

postMessage(
  await resultOf(async () => ({
    vectors: checkVectors(),
    minting: await checkMinting(3),
    warnings: new Snowflake({ node: 9 }).health().warnings.length,
  })),
);
