// A process of `isolated.mjs`: the nanoseconds of each isolated call behind the workload that its first argument names, as JSON.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Snowflake } from "frazil";
import { lease } from "frazil/lease";
import { MemoryLeaseStore } from "frazil/testing";
import { PEERS } from "../peers/generators.mjs";
import { WORKLOADS } from "./workloads.mjs";

/** In the first rounds the engine learns. */
const [COLD, ROUNDS] = [300, 900];
const workload = WORKLOADS[process.argv[2]];
const ids = new Snowflake({ node: 7 });
const scattered = new Snowflake({ node: 8, sequenceStart: "random" });
const narrow = new Snowflake({ node: 1, layout: "safe53" });
const dir = ids.backend === "native" ? mkdtempSync(join(tmpdir(), "frazil-isolated-")) : undefined;
const local = dir && Snowflake.local({ dir });
const store = new MemoryLeaseStore();
await store.init({ scope: "default", layout: "default" });
const leased = await lease(store);
const words = BigUint64Array.from({ length: 4096 }, (_, at) => 383_000_000_000_000_000n + BigInt(at));
const shared = new BigUint64Array(new SharedArrayBuffer(8));
let at = 0;
let swapped = 0n;

/** Every call: an empty one, floors, ours, and those of other packages. */
const subjects = {
  empty: () => 0n,
  "floor: `Date.now()`": () => Date.now(),
  "floor: the time, and a read": () => Date.now() > 0 && words[at++ & 4095],
  "floor: the time, and a swap": () => Date.now() > 0 && Atomics.compareExchange(shared, 0, swapped, ++swapped),
  "`next()`": ids.next,
  "`tryNext()`": ids.tryNext,
  "`await nextAsync()`": ids.nextAsync,
  "`nextNumber()`": narrow.nextNumber,
  "`nextString()`": ids.nextString,
  "`next()`, random start": scattered.next,
  "`next()` of `local()`": local?.next,
  "`next()` of a lease": leased.next,
};
for (const [name, { bigint, text }] of Object.entries(PEERS)) {
  if (bigint) subjects[name] = bigint;
  else subjects[`${name}, text`] = text;
}
subjects["@sapphire/snowflake, text"] = () => `${PEERS["@sapphire/snowflake"].bigint()}`;

const rows = Object.entries(subjects)
  .filter(([, call]) => call)
  .map(([name, call]) => ({ name, call, times: [], order: 0 }));
let sink;
for (let round = 0; round < ROUNDS; round++) {
  for (const row of rows) row.order = Math.random();
  for (const { call, times } of rows.toSorted((one, other) => one.order - other.order)) {
    await workload();
    const began = process.hrtime.bigint();
    sink = call();
    times.push(Number(process.hrtime.bigint() - began));
    if (sink instanceof Promise) await sink;
  }
}
local?.close();
if (dir) rmSync(dir, { recursive: true });
const result = {
  backend: ids.backend,
  times: Object.fromEntries(rows.map(({ name, times }) => [name, times.slice(COLD)])),
};
// The timers of the lease would keep the process.
process.stdout.write(JSON.stringify(result), () => process.exit());
