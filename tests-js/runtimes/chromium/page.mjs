// A page with no policy: the vectors, and minting on the main thread, which cannot block.
import { checkMinting, checkVectors } from "../checks.mjs";
import { report } from "../json-result.mjs";

globalThis.answer = report(async () => ({ vectors: checkVectors(), minting: await checkMinting(2) }));
