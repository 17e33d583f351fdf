// Each code of the table, provoked by a call, to read what a person sees: `node tests-js/base/each-code.mjs` prints each as console.log
// shows it, as a line of JSON, and as Node prints it where nothing catches it. With a code it prints that one.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Layout, Snowflake } from "frazil";
import { lease } from "frazil/lease";
import { Segment } from "frazil/segment";
import { MemoryLeaseStore, manualClock } from "frazil/testing";
import { base62 } from "frazil/text";
import { leased } from "frazil/workers";

const atMs = Date.parse("2026-11-01T12:00:00Z");
const layout = Layout.named("default");
const file = fileURLToPath(import.meta.url);

/** Mints at each of these times, without a wait. */
function mintAt(times, options) {
  const clock = manualClock(times[0]);
  const ids = new Snowflake({ node: 7, now: clock.now, maxWaitMs: 0, maxLeadMs: 0, ...options });
  for (clock.nowMs of times) ids.next();
}

/** Opens a state file in a directory on a disk, and again after `change`. */
async function reopened(change) {
  const dir = mkdtempSync("/var/tmp/frazil-each-code-");
  try {
    const ids = await Snowflake.localAsync({ dir });
    const { path } = ids.health().file;
    ids.close();
    change(path);
    Snowflake.local({ dir });
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** A store of one node id, with a lease of it. */
async function held(fails = () => false) {
  const store = new MemoryLeaseStore();
  await store.init({ layout: "default", nodes: { from: 0, to: 0 } });
  for (const verb of ["acquire", "renew"]) {
    const own = store[verb].bind(store);
    store[verb] = async (request) => {
      if (fails(verb)) throw new Error("connect ECONNREFUSED 127.0.0.1:5432");
      return own(request);
    };
  }
  return { store, ids: await lease(store, { windowMs: 1000 }) };
}

/** Mints until it is refused. */
async function mintFor(ids) {
  for (;;) {
    ids.next();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const CALLS = {
  INVALID_LAYOUT: () => new Layout({ epochMs: 0, fields: [] }),
  INVALID_NODE: () => new Snowflake({ node: Number(undefined) }),
  NODE_REQUIRED: () => new Snowflake(),
  INVALID_OPTION: () => new Snowflake({ workerId: 7 }),
  INVALID_ARGUMENT: () => new Snowflake({ node: 7 }).nextMany("5"),
  STATE_CONFLICT: () => [new Snowflake({ node: 7 }), new Snowflake({ node: 7, sequenceStart: "random" })],
  NATIVE_REQUIRED: () => Snowflake.local(),
  WASM_UNAVAILABLE: () => new Snowflake({ node: 7 }).next(),
  UNSUPPORTED_FILE_SYSTEM: () => Snowflake.local({ dir: "/dev/shm" }),
  STATE_FILE_CORRUPT: () => reopened((path) => truncateSync(path, 100)),
  STATE_FILE_FAILED: () => Snowflake.local({ dir: join(file, "dir") }),
  CLOSED: () => {
    const ids = new Snowflake({ node: 7 });
    ids.close();
    ids.next();
  },
  CLOCK_BACKWARD: () => mintAt([atMs, atMs - 86_400_000]),
  SEQUENCE_EXHAUSTED: () => mintAt(Array(5000).fill(atMs)),
  CLOCK_BEFORE_EPOCH: () => mintAt([0]),
  TIME_EXHAUSTED: () => mintAt([atMs], { layout: "baidu" }),
  INVALID_CLOCK: () => new Snowflake({ node: 7, now: () => new Date() }).next(),
  LEASE_EXPIRED: async () => {
    let isAway = false;
    const { ids } = await held(() => isAway);
    isAway = true;
    await mintFor(ids);
  },
  LEASE_LOST: async () => {
    const { store, ids } = await held();
    await store.fence();
    const lost = new Promise((_, reject) => ids.on("lost", reject));
    await Promise.race([lost, new Promise(() => setInterval(() => {}, 1000))]);
  },
  NODE_IDS_EXHAUSTED: async () => lease((await held()).store, { windowMs: 1000, maxAsyncWaitMs: 500 }),
  STORE_UNAVAILABLE: () => held(() => true),
  SEGMENT_EXHAUSTED: () => {
    const store = { name: "orders-db", allocate: () => new Promise(() => {}) };
    return new Segment(store, { tag: "orders", maxAsyncWaitMs: 20 }).next();
  },
  STORE_NOT_INITIALISED: () => lease(new MemoryLeaseStore(), { scope: "orders" }),
  LAYOUT_MISMATCH: async () => lease((await held()).store, { layout: "twitter" }),
  STORE_REFUSED: () => leased({}),
  INVALID_ID: () => layout.decode("7b1b1f34-9c52-4f0e-8d5e-1c7a3c2f9c11"),
  INVALID_TEXT: () => base62.decode("7b1b-1f34"),
  TIME_OUT_OF_RANGE: () => layout.minIdAt(1_746_057_600),
  NOT_TIME_ORDERED: () => {
    const fields = ["sequence", "time"].map((kind) => ({ kind, bits: 30 }));
    new Layout({ epochMs: 1_704_067_200_000, tickMs: 1000, fields }).range(new Date(atMs), new Date(atMs + 1000));
  },
};

/** Those that need a machine of another kind, which their tests make. */
export const ELSEWHERE = {
  STATE_FILE_AHEAD: "local/wrong-clocks.test.mjs",
  UNPROVEN_PLATFORM: "local/portable.test.mjs",
};

export const PROVOKED = Object.keys(CALLS);

/** Provokes an error in a process of its own. */
export function show(code, options) {
  const needsWasm = code === "NATIVE_REQUIRED" || code === "WASM_UNAVAILABLE";
  const env = { ...process.env, ...(needsWasm && { FRAZIL_BACKEND: "wasm" }) };
  const flags = code === "WASM_UNAVAILABLE" ? ["--import", "data:text/javascript,delete globalThis.WebAssembly"] : [];
  return spawnSync(process.execPath, [...flags, file, code], { env, encoding: "utf8", ...options });
}

if (process.argv[1] === file) {
  const [, , code] = process.argv;
  if (code === undefined) for (const each of PROVOKED) show(each, { stdio: "inherit" });
  else {
    try {
      await CALLS[code]();
      throw new Error("nothing was thrown");
    } catch (error) {
      console.log(error);
      console.log(JSON.stringify(error));
      setImmediate(() => {
        throw error;
      });
    }
  }
}
