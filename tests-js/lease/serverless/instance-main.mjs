// An instance of a function: it is invoked by a line on its input, mints, and answers with a line. Its parent stops it between two
// invocations, as AWS Lambda and Cloud Run do, and also in the middle of one. It writes its IDs to its own file before it answers. The
// broken variant has a lease that ends by a time-out only, as most generators with a lease have.
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { lease } from "frazil/lease";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import { leaseUntilTimeout } from "../../processes/time-out-lease.mjs";

const {
  out,
  url,
  scope,
  windowMs,
  maxAsyncWaitMs,
  time,
  node,
  pool: poolOptions,
  broken,
} = JSON.parse(process.argv[2]);

const stop = () => process.kill(process.pid, "SIGSTOP");
const pool = new pg.Pool({ connectionString: url, ...poolOptions });
pool.on("error", () => {});
/** Set by an invocation: the process is stopped as soon as the next request is on its way. */
let stopsOnRequest = false;
let stopping;
const client = {
  query(...args) {
    const result = pool.query(...args);
    if (stopsOnRequest) {
      stopsOnRequest = false;
      // Some turns later: the connection is being opened, or the statement is sent.
      stopping = setTimeout(stop, 5 * Math.random());
    }
    return result;
  },
};
const store = new PostgresStore(client);
const file = openSync(join(out, `${process.pid}.ids`), "a");

/** What the documented function does: the lease is acquired in the first invocation, and each one asks `ready()`. */
let ids;
const events = {};
const proper = {
  async ready() {
    if (ids === undefined) {
      const waits = { windowMs, maxAsyncWaitMs, renew: "calls" };
      ids = await lease(store, { scope, time, ...waits, ...(node !== undefined && { node }) });
      for (const event of ["acquired", "renewed", "lost", "refused"])
        ids.on(event, (detail) => {
          events[event] = (events[event] ?? 0) + 1;
          if (event === "refused") events.why = detail.message;
        });
    }
    await ids.ready();
  },
  mint: (array) => ids.fillAsync(array),
  node: () => ids.node,
  attempts: () => ids.stats().lease.attempts,
  close: () => ids?.close(),
};

let held;
const untilTimeout = {
  async ready() {
    if (held && Date.now() < held.expiresAtMs) return;
    held = await leaseUntilTimeout(store, { scope, windowMs });
  },
  mint: (array) => held.ids.fillAsync(array),
  node: () => held.node,
  attempts: () => 0,
  close: () => {},
};

const generator = broken ? untilTimeout : proper;

async function invoke({ count = 10, stopsBetween, stopsAtRequest }) {
  stopsOnRequest = Boolean(stopsAtRequest);
  await generator.ready();
  if (stopsBetween) stop();
  const array = new BigUint64Array(count);
  await generator.mint(array);
  clearTimeout(stopping);
  writeSync(file, array);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { close, ...invocation } = JSON.parse(line);
  const reply = {};
  try {
    await (close ? generator.close() : invoke(invocation));
    // Between this line and the next one nothing may run.
    reply.resources = process.getActiveResourcesInfo();
    if (!close) Object.assign(reply, { node: generator.node(), attempts: generator.attempts(), events });
  } catch (error) {
    reply.error = `${error.code}: ${error.message}`;
    reply.cause = error.cause?.message;
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
  if (close) break;
}
await pool.end();
