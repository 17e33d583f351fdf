// The dedicated worker of page.mjs.
import { report } from "../json-result.mjs";
import { runTests } from "./run-tests.mjs";

self.onmessage = async ({ data }) => postMessage(await report(() => runTests(data)));
