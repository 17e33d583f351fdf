// A process without an addon: prints its backend, warnings and errors.
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { Snowflake } from "frazil";

const described = (error) => ({
  code: error.code,
  message: error.message,
  hint: error.hint,
  cause: error.cause?.message,
  causes: (error.cause?.errors ?? [error.cause]).map((cause) => cause?.message?.split("\n")[0]),
});
const mint = (options) => {
  try {
    const ids = new Snowflake({ node: 7, ...options });
    return { backend: ids.backend, decoded: ids.decode(ids.next()).node };
  } catch (error) {
    return described(error);
  }
};

if (isMainThread) {
  const warnings = [];
  process.on("warning", ({ name, code, message, detail }) => warnings.push({ name, code, message, detail }));
  const main = [mint(), mint()];
  const worker = new Worker(new URL(import.meta.url));
  const thread = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  process.stdout.write(JSON.stringify({ main, thread, warnings }));
} else parentPort.postMessage({ refused: mint(), unshared: mint({ unshared: true }) });
