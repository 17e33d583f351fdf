// A process whose clock is set back and forth (libfaketime reads the offset from a file) while its worker threads mint with one
// node id. It writes the IDs to a file, and the refusals and stats of each thread to the standard output.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { Snowflake } from "frazil";
import { setOffset } from "../../processes/movable-clock.mjs";
import { repeats, resetting } from "../broken-generators.mjs";

/**
 * A broken generator repeats an ID only where two of its calls fall into one millisecond, which a busy machine can put off. So its
 * clock takes the steps again until an ID repeats, so often at most.
 */
const MOST_ROUNDS = 20;

/**
 * Mints into `issued` until the gate is set; returns how often each code refused, and the stats of the generator. `control`: the
 * gate, behind it how many IDs each thread has issued, and behind these how often each has looked at the clock.
 */
function mint({ control, thread, threads, issued, layout, broken }) {
  const ids = broken ? undefined : new Snowflake({ node: 7, layout, maxWaitMs: 0 });
  const next = broken ? resetting() : ids.next;
  const codes = {};
  let count = 0;
  parentPort.postMessage("ready");
  while (Atomics.load(control, 0) === 0) {
    try {
      for (let burst = 0; burst < 20 && count < issued.length; burst++) {
        const id = next();
        issued[count++] = id;
      }
    } catch (error) {
      codes[error.code] = (codes[error.code] ?? 0) + 1;
    }
    Atomics.store(control, 1 + thread, count);
    Atomics.add(control, 1 + threads + thread, 1);
    Atomics.wait(control, 0, 0, 1);
  }
  return { codes, stats: ids?.stats() };
}

if (isMainThread) {
  const { steps, threads, most, out, ...task } = JSON.parse(process.argv[2]);
  const file = process.env.FAKETIME_TIMESTAMP_FILE;
  const control = new Int32Array(new SharedArrayBuffer(4 * (1 + 2 * threads)));
  const memory = Array.from({ length: threads }, () => new BigUint64Array(new SharedArrayBuffer(8 * most)));
  const start = (issued, thread) =>
    new Worker(new URL(import.meta.url), { workerData: { ...task, control, thread, threads, issued } });
  const workers = memory.map(start);
  const messages = () => Promise.all(workers.map(async (worker) => (await once(worker, "message"))[0]));
  const issued = () => memory.map((ids, thread) => ids.subarray(0, Atomics.load(control, 1 + thread)));
  /** Waits until each thread has minted by the clock as it is: a round that began before may have read it as it was. */
  const seenByAll = async () => {
    const rounds = () => control.slice(1 + threads);
    const before = rounds();
    while (rounds().some((count, thread) => count < before[thread] + 2)) await sleep(1);
  };
  await messages();
  for (let round = 1; ; round++) {
    for (const { afterMs, offsetS } of [{ afterMs: 0, offsetS: 0 }, ...steps]) {
      await sleep(afterMs);
      setOffset(file, 1000 * offsetS);
      await seenByAll();
    }
    await sleep(1200);
    if (!task.broken || round === MOST_ROUNDS || repeats(issued().flatMap((ids) => [...ids])) > 0) break;
  }
  const reported = messages();
  Atomics.store(control, 0, 1);
  const reports = await reported;
  writeFileSync(out, Buffer.concat(issued().map((ids) => new Uint8Array(ids.slice().buffer))));
  process.stdout.write(JSON.stringify(reports));
} else parentPort.postMessage(mint(workerData));
