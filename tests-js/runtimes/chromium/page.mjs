// A page with no policy: the vectors, and minting on the main thread, which cannot block.
import { checkMinting, checkVectors } from "../everywhere.mjs";
import { report } from "../report.mjs";

globalThis.answer = report(async () => ({ vectors: checkVectors(), minting: await checkMinting(2) }));
