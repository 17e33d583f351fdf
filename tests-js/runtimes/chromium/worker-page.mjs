// A page that mints in a dedicated worker.
import { resultOf } from "../json-result.mjs";

globalThis.answer = resultOf(async () => {
  const worker = new Worker("/worker-main.mjs", { type: "module" });
  const answer = await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  });
  return { ...answer, isolated: crossOriginIsolated };
});
