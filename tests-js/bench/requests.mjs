// `npm run bench -- requests`: what programs do that mint now and then: a generator for each request, a state file that is used every
// five seconds, starting again, and the bytes of a call; and the rate of one thread by where the node id comes from. Prints tables, and
// writes a dated record.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import { Layout, Snowflake } from "frazil";
import { lease } from "frazil/lease";
import { PostgresStore } from "frazil/stores/postgres";
import { wideLayout } from "../generator/wide-layout.mjs";
import { PEERS } from "./peers/generators.mjs";
import { conditions, median, progress, quantile, short, spread, table, writeRecord } from "./record.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "frazil-requests-"));
const { backend } = new Snowflake({ node: 7 });
if (backend !== "native") throw new Error("the addon did not load: state files need it");
let sink;

const microseconds = (call) => {
  const began = process.hrtime.bigint();
  sink = call();
  return Number(process.hrtime.bigint() - began) / 1000;
};

/** Calls in a process that otherwise waits for the clock, each in a turn of its own, in random order. */
async function isolated(subjects) {
  const [COLD, CALLS] = [100, 500];
  const rows = Object.entries(subjects).map(([name, call]) => ({ name, call, times: [], at: 0 }));
  for (let round = 0; round < CALLS; round++) {
    for (const row of rows) row.at = Math.random();
    for (const { call, times } of rows.toSorted((one, other) => one.at - other.at)) {
      await new Promise(setImmediate);
      const until = Date.now() + 2;
      while (Date.now() < until);
      times.push(microseconds(call));
    }
    if (round % 50 === 49) progress("isolated calls", round + 1, CALLS);
  }
  const body = rows.map(({ name, times }) => {
    const warm = times.slice(COLD);
    const [base] = rows.map((row) => median(row.times.slice(COLD)));
    return [name, spread(warm), short(quantile(warm, 0.99)), (median(warm) / base).toFixed(2)];
  });
  return table(["isolated calls, µs", "median, middle half", "99 %", "x the first"], body);
}

/** Ways to mint several IDs for a request, and that of the fastest other package. */
function severalIds() {
  const ids = new Snowflake({ node: 7 });
  const other = PEERS["@sapphire/snowflake"].bigint;
  const times = (count, call) => () => {
    let last;
    for (let left = count; left > 0; left--) last = call();
    return last;
  };
  return Object.assign(
    {},
    ...[1, 10, 100, 1000].map((count) => {
      const array = new BigUint64Array(count);
      return {
        [`\`next()\`, ${count} times`]: times(count, ids.next),
        [`\`fill\` of an array of ${count} that is kept`]: () => ids.fill(array),
        [`\`nextMany(${count})\``]: () => ids.nextMany(count),
        [`@sapphire/snowflake, ${count} times`]: times(count, other),
      };
    }),
  );
}

/** `next()` of state files: of one in use all the time, and of several that each mint one ID every five seconds. */
async function sporadic() {
  const [FILES, EVERY_MS, TIMES] = [10, 5000, 8];
  const [busy, seldom] = [[], []];
  const files = Array.from({ length: FILES }, (_, at) => Snowflake.local({ dir, scope: `seldom-${at}` }));
  const always = Snowflake.local({ dir, scope: "busy" });
  let done = false;
  const calls = async () => {
    while (!done) {
      busy.push(microseconds(always.next));
      await sleep(5);
    }
  };
  const busyCalls = calls();
  for (const ids of files) ids.next();
  const extended = () => files.reduce((sum, ids) => sum + ids.stats().extensions, 0);
  await sleep(EVERY_MS);
  const before = extended();
  for (let time = 0; time < TIMES; time++) {
    for (const ids of files) {
      seldom.push(microseconds(ids.next));
      await sleep(EVERY_MS / FILES);
    }
    progress("calls every five seconds", time + 1, TIMES);
  }
  done = true;
  await busyCalls;
  const flushed = extended() - before;
  for (const ids of [...files, always]) ids.close();
  const row = (name, times) => [name, spread(times), short(quantile(times, 0.99)), short(quantile(times, 1))];
  const body = [row("one call every 5 ms", busy.slice(20)), row("one call every 5 s", seldom)];
  return `${table(["`next()` of `Snowflake.local()`, µs", "median, middle half", "99 %", "worst"], body)}

${flushed} of the ${seldom.length} calls every five seconds raised the ceiling themselves, which is one flush (\`stats().extensions\`).`;
}

/** A process that prints when its first ID was there, with these arguments. */
function firstId(env, ...args) {
  const all = { ...process.env, ...env };
  const { stdout, stderr } = spawnSync(process.execPath, [path("first-id-main.mjs"), ...args], {
    encoding: "utf8",
    env: all,
  });
  if (stdout === "") throw new Error(`no first ID: ${stderr}`);
  return JSON.parse(stdout);
}

/** From the start of a process to its first ID, over Node alone in the same round. */
async function starts() {
  const ROUNDS = 25;
  const alone = () =>
    Number(spawnSync(process.execPath, [path("requests/node-main.mjs")], { encoding: "utf8" }).stdout);
  const folder = (name) => join(dir, name);
  const attached = spawn(process.execPath, [path("first-id-main.mjs"), folder("attached"), "wait"]);
  await once(attached.stdout, "data");
  const subjects = {
    "static node id, addon": () => firstId({}),
    "static node id, WebAssembly": () => firstId({ FRAZIL_BACKEND: "wasm" }),
    "`local()`, after `close()`, as a handler of SIGTERM calls it": () => firstId({}, folder("closed"), "close"),
    "`local()`, after `kill -9`": () => firstId({}, folder("killed")),
    "`local()`, while another process uses the file": () => firstId({}, folder("attached")),
  };
  // A new file waits a second, which is not the start that is measured.
  for (const start of Object.values(subjects)) start();
  const rounds = Object.keys(subjects).map(() => []);
  const alones = [];
  for (let round = 0; round < ROUNDS; round++) {
    const base = alone();
    alones.push(base);
    for (const [at, start] of Object.values(subjects).entries()) rounds[at].push({ base, ...start() });
    progress("starts", round + 1, ROUNDS);
  }
  attached.kill();
  const part = (samples, of) => short(median(samples.map(of)));
  const body = Object.keys(subjects).map((name, at) => [
    name,
    spread(rounds[at].map(({ mintedMs, base }) => mintedMs - base)),
    part(rounds[at], ({ startedMs, importedMs }) => importedMs - startedMs),
    part(rounds[at], ({ importedMs, openedMs }) => openedMs - importedMs),
    part(rounds[at], ({ openedMs, mintedMs }) => mintedMs - openedMs),
  ]);
  const head = ["from the start to the first ID, ms", "over Node alone", "of it: import", "opening", "first ID"];
  return `${table(head, body)}

Node alone: ${spread(alones)} ms.`;
}

function bytes() {
  const args = [
    "--expose-gc",
    "--max-semi-space-size=512",
    "--min-semi-space-size=512",
    path("requests/bytes-main.mjs"),
  ];
  const rows = JSON.parse(execFileSync(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] }));
  const floor = rows[0].heap;
  // Memory comes in pages: below a byte a call is none.
  const shown = (value) => (value < 1 ? "0" : value.toFixed(0));
  const body = rows.slice(1).map(({ name, heap, native }) => [name, shown(heap - floor), shown(native)]);
  return table(["bytes a call allocates", "in the heap", "outside"], body);
}

/** IDs a second of one thread, and how far the time in an ID lies behind the clock, at worst. */
async function rates(leased) {
  const [ROUNDS, SLICE_MS, STEP] = [25, 40, 2000];
  const layout = wideLayout;
  const array = new BigUint64Array(4096);
  const local = Snowflake.local({ dir, scope: "rates", layout });
  const kept = {
    "static node id": new Snowflake({ layout, node: 0 }),
    "`Snowflake.local()`": local,
    "a lease": leased,
    '`freshness: "turn"`': new Snowflake({ layout, node: 0, freshness: "turn" }),
    "default layout, which has at most 4,096 a millisecond": new Snowflake({
      node: 9,
      maxWaitMs: 10_000,
      // What is borrowed from the next milliseconds would be a good part of a slice.
      maxLeadMs: 1,
    }),
  };
  const subjects = Object.entries(kept).map(([name, ids]) => ({ name: `\`next()\`, ${name}`, ids, call: ids.next }));
  const turns = kept['`freshness: "turn"`'];
  subjects.push({
    name: "`fill` of 4,096, static node id",
    call: () => kept["static node id"].fill(array),
    each: 4096,
  });
  const samples = subjects.map(() => []);
  for (let round = -2; round < ROUNDS; round++) {
    for (const [at, { call, each = 1 }] of subjects.entries()) {
      const step = Math.ceil(STEP / each);
      const began = performance.now();
      let [steps, spentMs] = [0, 0];
      for (; spentMs < SLICE_MS; spentMs = performance.now() - began) {
        for (let left = step; left > 0; left--) sink = call();
        steps++;
      }
      if (round >= 0) samples[at].push((steps * step * each) / spentMs / 1000);
      await new Promise(setImmediate);
    }
    progress("rates", Math.max(round + 1, 0), ROUNDS);
  }
  /** The most milliseconds that the time in an ID was behind the clock, which is read right after it. */
  const worst = async (ids, turnsOfMs) => {
    let most = 0;
    for (let turn = 0; turn < turnsOfMs.length; turn++) {
      const until = performance.now() + turnsOfMs[turn];
      do {
        const id = ids.next();
        const now = Date.now();
        const error = now - layout.timestampOf(id);
        if (error > most) most = error;
      } while (performance.now() < until);
      await new Promise(setImmediate);
    }
    return most;
  };
  const tight = (ms) => Array(Math.ceil(1000 / ms)).fill(ms);
  const errors = [];
  for (const ids of [kept["static node id"], turns])
    errors.push([await worst(ids, tight(1)), await worst(ids, tight(20)), await worst(ids, tight(200))]);
  local.close();
  const body = subjects.map(({ name }, at) => [name, spread(samples[at])]);
  const turnRate = short(median(samples[3]));
  return `${table(["one thread", "million IDs a second"], body)}

Beside that, what others claim in their READMEs, on their machines: UidGenerator 6 million a second, Frostflake 115 to 125, CosId 127 for its \`SegmentChainId\`. \`freshness: "turn"\` gives ${turnRate} here.

How many milliseconds the time in an ID was behind the clock that was read after it, at worst in a second of calls without a pause. Where the machine takes the core away between the call and the reading, that counts as well: the first row shows how much.

${table(
  ["", "turns of 1 ms", "of 20 ms", "of 200 ms"],
  [
    ['`freshness: "call"`, the default', ...errors[0]],
    ['`freshness: "turn"`', ...errors[1]],
  ],
)}`;
}

const database = new PGlite();
const store = new PostgresStore(database);
await store.migrate();
await store.init({ scope: "requests", layout: wideLayout });
const leased = await lease(store, { scope: "requests", layout: wideLayout });
const kept = new Snowflake({ node: 7 });
const local = Snowflake.local({ dir, scope: "kept" });
const layout = Layout.named("default");
const sections = [
  await isolated({
    "`next()` of a generator that is kept": kept.next,
    "`new Snowflake({ node: 7 }).next()`": () => new Snowflake({ node: 7 }).next(),
    "`new Snowflake({ node: 7, layout }).next()`, with a `Layout` that is kept": () =>
      new Snowflake({ node: 7, layout }).next(),
    "`next()` of a lease": leased.next,
    "`next()` of `Snowflake.local()` that is kept": local.next,
  }),
  await isolated(severalIds()),
  await rates(leased),
  bytes(),
  await starts(),
  await sporadic(),
];
local.close();
await leased.close();
await database.close();
rmSync(dir, { recursive: true });
if (sink === undefined) throw new Error("nothing was minted");
const titles = [
  "A generator for each request",
  "Several IDs for a request",
  "One thread",
  "Bytes of a call",
  "Starting again",
  "Every five seconds",
];
writeRecord(
  "requests",
  "Programs that mint now and then",
  `\`npm run bench -- requests\`: ${conditions()}; medians, middle half in brackets.

${sections.map((section, at) => `## ${titles[at]}\n\n${section}`).join("\n\n")}`,
);
