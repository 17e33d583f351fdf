// A process whose threads mint on one state file until they are killed, and write every ID to files of their own before they
// mint the next ones. What was written stays, however the process ends: it is with the kernel.
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, threadId, Worker, workerData } from "node:worker_threads";
import { Snowflake } from "frazil";

/** The codes of refusals that pass. `CLOCK_BACKWARD` also at the start: then the wait is longer than a start may take. */
const PASSING = ["CLOCK_BACKWARD", "SEQUENCE_EXHAUSTED", "LEASE_EXPIRED"];
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** What a call gives in the end, where refusals that pass stand in its way. */
function patiently(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (!PASSING.includes(error.code)) throw error;
      pause(error.retryAfterMs);
    }
  }
}

function mint({ out, batch, pauseMs, broken, options }) {
  const file = openSync(join(out, `${process.pid}-${threadId}.ids`), "a");
  const ids = broken ? new Snowflake({ node: 0 }) : patiently(() => Snowflake.local(options));
  const array = new BigUint64Array(batch);
  for (;;) {
    patiently(() => ids.fill(array));
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
    // An error that crosses from a worker has lost its class, but not its code.
    new Worker(new URL(import.meta.url), { workerData: task }).on("error", fail);
  }
} else mint(workerData);
