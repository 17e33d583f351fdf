// The program of a process whose threads mint from one state file until it is killed. Each thread writes its IDs to its own file before it
// mints the next ones. The kernel keeps what was written, however the process ends.
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, threadId, Worker, workerData } from "node:worker_threads";
import { Snowflake } from "frazil";

/** Refusals that end by themselves. `CLOCK_BACKWARD` can also refuse an opening, if its wait is longer than `startWaitMs`. */
const TEMPORARY = ["CLOCK_BACKWARD", "SEQUENCE_EXHAUSTED", "LEASE_EXPIRED"];
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Repeats a call until it is not refused temporarily. */
function retry(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (!TEMPORARY.includes(error.code)) throw error;
      pause(error.retryAfterMs);
    }
  }
}

function mint({ out, batch, pauseMs, broken, options }) {
  const file = openSync(join(out, `${process.pid}-${threadId}.ids`), "a");
  const ids = broken ? new Snowflake({ node: 0 }) : retry(() => Snowflake.local(options));
  const array = new BigUint64Array(batch);
  for (;;) {
    retry(() => ids.fill(array));
    writeSync(file, array);
    if (pauseMs > 0) pause(pauseMs);
  }
}

if (isMainThread) {
  const { threads, ...task } = JSON.parse(process.argv[2]);
  const fail = (error) => {
    process.stderr.write(`${error.code}\n${error.message}\n`);
    process.exit(3);
  };
  for (let thread = 0; thread < threads; thread++) {
    // An error from a worker arrives without its class, but with its code.
    new Worker(new URL(import.meta.url), { workerData: task }).on("error", fail);
  }
} else mint(workerData);
