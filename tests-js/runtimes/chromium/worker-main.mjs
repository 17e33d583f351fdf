// The dedicated worker of thread.mjs.
import { checkMinting, checkVectors } from "../everywhere.mjs";
import { report } from "../report.mjs";

postMessage(await report(async () => ({ vectors: checkVectors(), minting: await checkMinting(3) })));
