// A page that mints in a dedicated worker.
import { report } from "../report.mjs";

globalThis.answer = report(async () => {
  const worker = new Worker("/thread-worker.mjs", { type: "module" });
  const answer = await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  });
  return { ...answer, isolated: crossOriginIsolated };
});
