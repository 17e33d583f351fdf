// A page with no policy: the vectors, and minting on the main thread, which cannot block.
import { checkMinting, checkVectors } from "../checks.mjs";
import { resultOf } from "../json-result.mjs";

globalThis.answer = resultOf(async () => ({ vectors: checkVectors(), minting: await checkMinting(2) }));
