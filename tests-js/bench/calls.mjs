// `npm run bench -- calls`: runs the compared calls interleaved, in rounds, prints ratios with their spread, and writes a dated record.
// Absolute times on a shared machine mean little; the ratio to `Date.now()` in the same round is comparable.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { Layout, Snowflake } from "frazil";
import { lease } from "frazil/lease";
import { Segment } from "frazil/segment";
import { PostgresStore } from "frazil/stores/postgres";
import { base62 } from "frazil/text";
import { measure } from "mitata";
import { wideLayout } from "../generator/wide-layout.mjs";
import { FaultySegments } from "../segment/faulty-store.mjs";
import { round as roundOfProcesses } from "./processes.mjs";
import { conditions, progress, quantile, writeRecord } from "./record.mjs";

const ROUNDS = 15;
/** The least processor time of each measurement. */
const MIN_CPU_TIME_NS = 60e6;
const ROUNDS_OF_PROCESSES = 9;
const ids = new Snowflake({ node: 1, layout: wideLayout });
const scattered = new Snowflake({ node: 0, layout: wideLayout, sequenceStart: "random" });
const dir = mkdtempSync(join(tmpdir(), "frazil-bench-"));
/** Only the addon has state files. */
const local = ids.backend === "native" ? Snowflake.local({ dir, scope: "bench", layout: wideLayout }) : undefined;
const database = new PGlite();
const store = new PostgresStore(database);
await store.migrate();
await store.init({ scope: "bench", layout: wideLayout });
const leased = await lease(store, { scope: "bench", layout: wideLayout });
const twitter = Layout.named("twitter");
const tweet = 1541815603606036480n;
const page = new BigUint64Array(4096);
/** Its ranges outlast the bench: what a number costs is measured, and not a store. */
const orders = new Segment(new FaultySegments(), { tag: "orders", step: 1e9 });
await orders.ready();
let at = 0;

/** The compared calls, and how many IDs one call mints or converts. */
const subjects = {
  "Date.now()": [() => Date.now(), 1],
  "next()": [() => ids.next(), 1],
  "next(), random start": [() => scattered.next(), 1],
  ...(local && { "next(), local()": [() => local.next(), 1] }),
  "next(), lease": [() => leased.next(), 1],
  "nextString()": [() => ids.nextString(), 1],
  "fill(4096), per id": [() => ids.fill(page), 4096],
  ...(local && { "fill(4096), local(), per id": [() => local.fill(page), 4096] }),
  "fill(4096), lease, per id": [() => leased.fill(page), 4096],
  "a read of a BigUint64Array": [() => page[at++ & 4095], 1],
  "segment: tryNext()": [() => orders.tryNext(), 1],
  // The promise of a segment's fill is measured by an ID generator's fill that is awaited too.
  "fill(4096), awaited, per id": [async () => ids.fill(page), 4096],
  "segment: fill(4096), per number": [async () => orders.fill(page), 4096],
  "segment: await next()": [async () => orders.next(), 1],
  "decode(id)": [() => twitter.decode(tweet), 1],
  "base62.encode(id)": [() => base62.encode(tweet), 1],
  "crypto.randomUUID()": [() => crypto.randomUUID(), 1],
};

const spread = (values) => {
  const [low, median, high] = [0.25, 0.5, 0.75].map((q) => quantile(values, q));
  return { median, low, high };
};

const rounds = [];
for (let round = 0; round < ROUNDS; round++) {
  const times = {};
  for (const [name, [call, count]] of Object.entries(subjects)) {
    const { avg } = await measure(call, { min_cpu_time: MIN_CPU_TIME_NS, min_samples: 2, inner_gc: false });
    times[name] = avg / count;
  }
  rounds.push(times);
  progress("round", round + 1, ROUNDS);
}

/** Tables of the medians over the rounds of processes, and of the ratios to the first row in the same round. */
async function processTables() {
  const rounds = [];
  for (let round = 0; round < ROUNDS_OF_PROCESSES; round++) {
    rounds.push(await roundOfProcesses(dir));
    progress("round of processes", round + 1, ROUNDS_OF_PROCESSES);
  }
  const lines = (kind, show) => {
    const names = Object.keys(rounds[0][kind]);
    return names.map((name) => {
      const value = spread(rounds.map((round) => round[kind][name])).median;
      const { median, low, high } = spread(rounds.map((round) => round[kind][name] / round[kind][names[0]]));
      return `| ${name} | ${show(value)} | ${median.toFixed(2)} | ${low.toFixed(2)} to ${high.toFixed(2)} |`;
    });
  };
  return `
Processes with \`fill(4096)\`, together:

| | million IDs a second | times the first | middle half |
|---|---|---|---|
${lines("rates", (rate) => (rate / 1e6).toFixed(1)).join("\n")}

From the start of a process to its first ID:

| | ms | times the first | middle half |
|---|---|---|---|
${lines("starts", (ms) => ms.toFixed(1)).join("\n")}
`;
}

/** What many leased generators in one process take. */
async function manyLeases(count) {
  await store.init({ scope: "many", layout: "default" });
  global.gc?.();
  const before = process.memoryUsage().heapUsed;
  const began = performance.now();
  const many = await Promise.all(
    Array.from({ length: count }, () => lease(store, { scope: "many", maxAsyncWaitMs: 60_000 })),
  );
  const ms = performance.now() - began;
  const minted = performance.now();
  const distinct = new Set(many.map((ids) => ids.next())).size;
  const mintMs = performance.now() - minted;
  if (distinct !== count) throw new Error(`${count} leased generators minted ${distinct} distinct IDs`);
  const kB = (process.memoryUsage().heapUsed - before) / 1024 / count;
  await Promise.all(many.map((ids) => ids.close()));
  return `${count} leased generators in one process, on PGlite: ${ms.toFixed(0)} ms to acquire all (one statement each), ${mintMs.toFixed(1)} ms to mint an ID with each, ${kB.toFixed(1)} kB of heap each.`;
}

const rows = Object.keys(subjects).map((name) => {
  const ns = spread(rounds.map((times) => times[name]));
  const ratio = spread(rounds.map((times) => times[name] / times["Date.now()"]));
  return { name, ns, ratio };
});
const digits = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(1));
const table = [
  "| call | times Date.now() | middle half | ns |",
  "|---|---|---|---|",
  ...rows.map(
    ({ name, ns, ratio }) =>
      `| ${name} | ${digits(ratio.median)} | ${digits(ratio.low)} to ${digits(ratio.high)} | ${digits(ns.median)} |`,
  ),
].join("\n");
/** A sentence that compares a call with the same one on a state of the process, round by round. */
const comparison = (name, other) => {
  const { median, low, high } = spread(rounds.map((times) => times[name] / times[other]));
  return `\`${name}\` takes ${median.toFixed(2)} times what \`${other}\` takes (middle half ${low.toFixed(2)} to ${high.toFixed(2)}).`;
};
/** A sentence on what a call costs beyond the read that it ends with. */
const overRead = (name) => {
  const { median } = spread(rounds.map((times) => times[name] - times["a read of a BigUint64Array"]));
  return `\`${name}\` takes ${median.toFixed(1)} ns more than a read of a BigUint64Array.`;
};
const record = `\`npm run bench -- calls\`: ${conditions()}; ${ROUNDS} interleaved rounds.
Layout of the generator: time 40, node 1, sequence 22, so that no cap is in the way.

${table}

${comparison("next(), lease", "next()")} ${overRead("segment: tryNext()")} ${comparison("segment: fill(4096), per number", "fill(4096), awaited, per id")}
${local ? `\n${comparison("next(), local()", "next()")}\n` : ""}
${await manyLeases(1000)}
${local ? await processTables() : ""}`;
local?.close();
orders.close();
await leased.close();
await database.close();
rmSync(dir, { recursive: true });
writeRecord(`calls-${ids.backend}`, `Calls: ${ids.backend}`, record);
