// Runs the tests on a page, and then in a dedicated worker.
import { resultOf } from "../json-result.mjs";
import { runTests } from "./run-tests.mjs";

globalThis.answer = resultOf(async () => {
  const bytes = await (await fetch("/tests.wasm")).arrayBuffer();
  const worker = new Worker("/worker-main.mjs", { type: "module" });
  const inWorker = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  });
  worker.postMessage(bytes);
  return { page: await resultOf(() => runTests(bytes)), worker: await inWorker };
});
