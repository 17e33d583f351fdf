// The dedicated worker of worker-page.mjs.
import { checkMinting, checkVectors } from "../checks.mjs";
import { report } from "../json-result.mjs";

postMessage(await report(async () => ({ vectors: checkVectors(), minting: await checkMinting(3) })));
