// The dedicated worker of page.mjs.
import { report } from "../report.mjs";
import { runTests } from "./harness.mjs";

self.onmessage = async ({ data }) => postMessage(await report(() => runTests(data)));
