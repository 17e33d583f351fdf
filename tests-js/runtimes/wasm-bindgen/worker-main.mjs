// The dedicated worker of page.mjs.
import { resultOf } from "../json-result.mjs";
import { runTests } from "./run-tests.mjs";

self.onmessage = async ({ data }) => postMessage(await resultOf(() => runTests(data)));
