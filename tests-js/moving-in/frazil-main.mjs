// The program of a process of the new generation: it mints under a lease of a MySqlStore until it is killed, and gives the lease
// back now and then. Its IDs are in a file before it mints the next ones. The broken variants differ in one statement of the
// client.
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Layout } from "frazil";
import { lease } from "frazil/lease";
import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { brokenPool } from "./broken-pools.mjs";

const { out, url, layout, batch, pauseMs, broken, ...options } = JSON.parse(process.argv[2]);

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

try {
  const pool = mysql.createPool({ uri: url, connectionLimit: 2 });
  const store = new MySqlStore(broken === undefined ? pool : brokenPool(pool, broken));
  const file = openSync(join(out, `frazil-${process.pid}.ids`), "a");
  const array = new BigUint64Array(batch);
  for (;;) {
    const ids = await retry(() => lease(store, { ...options, layout: new Layout(layout), maxAsyncWaitMs: 10_000 }));
    const until = performance.now() + 3000 + 9000 * Math.random();
    while (performance.now() < until) {
      await retry(() => ids.fill(array));
      writeSync(file, array);
      await sleep(pauseMs);
    }
    await ids.close();
  }
} catch (error) {
  process.stderr.write(`${error.stack}\n`);
  process.exit(3);
}
