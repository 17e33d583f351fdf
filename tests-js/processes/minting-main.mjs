// The program of a process that mints under a lease until it is killed, and gives the lease back now and then. It writes its IDs to its own
// file before it mints the next ones: the kernel keeps what was written, however the process ends. The broken variant has a lease that ends
// by a time-out only.
//
// The task is JSON: `out` (a folder), `prefix` (of the name of the file), `store` (`module` with `connectStore(address)`, and its
// `address`), `batch` (of IDs), `pauseMs` (after each batch), `keepsMs` (a lease for so long: from, to), `broken`; the rest are
// options of the lease. Or `alone`: it mints without a lease, until it is killed.
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Layout, Snowflake } from "frazil";
import { lease } from "frazil/lease";
import { leaseUntilTimeout } from "./time-out-lease.mjs";

const {
  out,
  prefix = "",
  store: at,
  layout,
  batch,
  pauseMs,
  keepsMs,
  broken,
  alone,
  ...options
} = JSON.parse(process.argv[2]);
if (layout) options.layout = new Layout(layout);

/** Refusals that end by themselves. Anything else ends the process, and the test. */
const TEMPORARY = [
  "LEASE_EXPIRED",
  "LEASE_LOST",
  "CLOCK_BACKWARD",
  "SEQUENCE_EXHAUSTED",
  "STORE_UNAVAILABLE",
  "NODE_IDS_EXHAUSTED",
];

async function retry(call) {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!TEMPORARY.includes(error.code)) throw error;
      await sleep(Math.min(error.retryAfterMs ?? 50, 500));
    }
  }
}

/** Mints with a generator while `goesOn()`. */
async function mint(ids, goesOn) {
  const array = new BigUint64Array(batch);
  while (goesOn()) {
    await retry(() => ids.fill(array));
    writeSync(file, array);
    await sleep(pauseMs);
  }
}

async function mintUnderLeases() {
  const [fromMs, toMs] = keepsMs;
  for (;;) {
    const ids = await retry(() => lease(store, { ...options, maxAsyncWaitMs: 10_000 }));
    const until = performance.now() + fromMs + (toMs - fromMs) * Math.random();
    await mint(ids, () => performance.now() < until);
    await ids.close();
  }
}

const mintAlone = () => mint(new Snowflake({ node: 1023 }), () => true);

async function mintUntilTimeouts() {
  for (;;) {
    const { ids, expiresAtMs } = await retry(() => leaseUntilTimeout(store, options));
    await mint(ids, () => Date.now() < expiresAtMs);
  }
}

let store;
let file;
try {
  if (!alone) {
    const { connectStore } = await import(at.module);
    ({ store } = await retry(() => connectStore(at.address)));
  }
  file = openSync(join(out, `${prefix}${process.pid}.ids`), "a");
  await (alone ? mintAlone() : broken ? mintUntilTimeouts() : mintUnderLeases());
} catch (error) {
  process.stderr.write(`${error.stack}\n`);
  process.exit(3);
}
