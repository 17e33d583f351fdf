// One node id in two worker threads and the main thread, all minting at once.
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { Snowflake } from "frazil";

const EACH = 70_000;

/** Mints IDs once every thread is ready. `broken`: from a state of this thread alone, as every other library does. */
function mint({ gate, broken }) {
  let calls = 0;
  const clock = broken ? { now: () => 1_780_000_000_000 + (calls++ >> 10) } : {};
  const ids = new Snowflake({ node: 7, maxWaitMs: 5000, ...clock });
  const gates = new Int32Array(gate);
  Atomics.add(gates, 0, 1);
  Atomics.notify(gates, 0);
  for (let ready = gates[0]; ready < 3; ready = gates[0]) Atomics.wait(gates, 0, ready);
  return BigUint64Array.from({ length: EACH }, () => ids.next());
}

async function repeats(broken) {
  const task = { gate: new SharedArrayBuffer(4), broken };
  const lists = [0, 1].map(() => {
    const worker = new Worker(new URL(import.meta.url), { workerData: task });
    return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  });
  const own = mint(task);
  const issued = [own, ...(await Promise.all(lists))].flatMap((ids) => [...ids]);
  return issued.length - new Set(issued).size;
}

if (isMainThread) process.stdout.write(JSON.stringify({ repeats: await repeats(false), broken: await repeats(true) }));
else parentPort.postMessage(mint(workerData));
