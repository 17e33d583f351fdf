// The program of a process that mints under a lease until it is killed. It writes its IDs to a file of its own before it mints
// the next ones: the kernel keeps what was written, however the process ends. The broken variant has a lease that ends by a
// time-out only, as most generators with a lease have.
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Layout, Snowflake } from "frazil";
import { layoutText, lease } from "frazil/lease";

const { out, server, port, scope, windowMs, time, batch, pauseMs, broken } = JSON.parse(process.argv[2]);

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

const { connectStore } = await import(server);
const { store } = await retry(() => connectStore(port));
const file = openSync(join(out, `${process.pid}.ids`), "a");
const array = new BigUint64Array(batch);

/** Mints under a lease, which it gives back now and then. */
async function mintUnderLeases() {
  for (;;) {
    const ids = await retry(() => lease(store, { scope, windowMs, time, maxAsyncWaitMs: 10_000 }));
    const until = performance.now() + 5000 + 15_000 * Math.random();
    while (performance.now() < until) {
      await retry(() => ids.fill(array));
      writeSync(file, array);
      await sleep(pauseMs);
    }
    await ids.close();
  }
}

/** Mints with a node id that it has acquired for so long by its own clock; nothing bounds the times in the IDs. */
async function mintUntilTimeout() {
  const digits = () => crypto.randomUUID().replaceAll("-", "");
  for (;;) {
    const request = { scope, windowMs, owner: "broken", layout: layoutText(Layout.named("default")) };
    const answer = await retry(async () => {
      const answer = await store.acquire({ ...request, grant: digits(), nonce: digits() });
      if (!answer.granted) throw Object.assign(new Error(answer.reason), { code: "NODE_IDS_EXHAUSTED" });
      return answer;
    });
    const ids = new Snowflake({ node: answer.node, now: Date.now, maxLeadMs: 1000 });
    const expiresAt = Date.now() + windowMs;
    while (Date.now() < expiresAt) {
      await retry(() => ids.fill(array));
      writeSync(file, array);
      await sleep(pauseMs);
    }
  }
}

try {
  await (broken ? mintUntilTimeout() : mintUnderLeases());
} catch (error) {
  process.stderr.write(`${error.stack}\n`);
  process.exit(3);
}
