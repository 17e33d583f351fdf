// A worker thread of `threads-main.mjs`: a web worker gets the URL of the package's file as a message, one of node:worker_threads
// as its data.
import { parentPort, workerData } from "node:worker_threads";
import { mint } from "./threads-mint.mjs";

if (workerData?.entry) parentPort.postMessage(await mint(workerData.entry));
else {
  globalThis.onmessage = async ({ data }) => globalThis.postMessage(await mint(data));
}
