// A process whose clock is set back and forth (libfaketime reads the offset from a file) while its worker threads mint with one
// node id. It writes the IDs to a file, and the refusals and stats of each thread to the standard output.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { Snowflake } from "frazil";
import { resetting } from "../api/broken-generators.mjs";
import { setOffset } from "../movable-clock.mjs";

/** Mints until the gate is set; returns the IDs, how often each code refused, and the stats of the generator. */
function mint({ gate, layout, broken, most }) {
  const gates = new Int32Array(gate);
  const ids = broken ? undefined : new Snowflake({ node: 7, layout, maxWaitMs: 0 });
  const next = broken ? resetting() : ids.next;
  const issued = new BigUint64Array(most);
  const codes = {};
  let count = 0;
  parentPort.postMessage("ready");
  while (Atomics.load(gates, 0) === 0 && count < most) {
    try {
      for (let burst = 0; burst < 20 && count < most; burst++) {
        const id = next();
        issued[count++] = id;
      }
    } catch (error) {
      codes[error.code] = (codes[error.code] ?? 0) + 1;
    }
    Atomics.wait(gates, 0, 0, 1);
  }
  return { issued: issued.subarray(0, count), codes, stats: ids?.stats() };
}

if (isMainThread) {
  const { steps, threads, ...task } = JSON.parse(process.argv[2]);
  const file = process.env.FAKETIME_TIMESTAMP_FILE;
  const gate = new SharedArrayBuffer(4);
  const start = () => new Worker(new URL(import.meta.url), { workerData: { ...task, gate } });
  const workers = Array.from({ length: threads }, start);
  const messages = () => Promise.all(workers.map(async (worker) => (await once(worker, "message"))[0]));
  await messages();
  for (const { afterMs, offsetS } of [{ afterMs: 0, offsetS: 0 }, ...steps]) {
    await sleep(afterMs);
    setOffset(file, 1000 * offsetS);
  }
  await sleep(1200);
  const reported = messages();
  Atomics.store(new Int32Array(gate), 0, 1);
  const reports = await reported;
  writeFileSync(task.out, Buffer.concat(reports.map(({ issued }) => new Uint8Array(issued.slice().buffer))));
  process.stdout.write(JSON.stringify(reports.map(({ codes, stats }) => ({ codes, stats }))));
} else parentPort.postMessage(mint(workerData));
