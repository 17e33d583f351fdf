// Six processes mint under leases of eight node ids, from a real store, under faults. They are stopped for up to three windows, killed, cut
// off from the store, and their clocks are set by up to 20 seconds. The store is stopped and crashes. The test counts repeats among the IDs
// that they wrote.
//
// FRAZIL_NEMESIS_STORE is the store, one of all-stores.mjs; Postgres if it is not set.
// FRAZIL_NEMESIS_S is the duration of the run with the store's time; the others take half of it and a quarter, and the broken
// variant runs until it repeats. It is 27 in CI, so a minute in all, and 400 in `npm run test:long`, so ten minutes with faults.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Layout } from "frazil";
import { tools } from "../../../scripts/tools.mjs";
import { countIds } from "../../local/count-repeats.mjs";
import { randomNumbers } from "../../local/minting-process.mjs";
import { laterWork } from "../../processes/later.mjs";
import { faketimeClock } from "../../processes/movable-clock.mjs";
import { serverModule } from "../../stores/kit/all-stores.mjs";
import { startProxy } from "../../stores/kit/cut-proxy.mjs";

const SECONDS = Number(process.env.FRAZIL_NEMESIS_S ?? 20);
const PROCESSES = 6;
const NODES = { from: 0, to: 7 };

const STORE = process.env.FRAZIL_NEMESIS_STORE ?? "postgres";
// With Redis a restart is another incarnation, and a fence exceeds the longest window by 5 s: holders go on if more is left.
const WINDOW_MS = STORE === "redis" ? 12_000 : 3000;
/** What the lengths of faults are counted in, but for the stops of a process, which are counted in windows. */
const FAULT_MS = 3000;
/** How long a process is stopped. With long windows most stops are short, so that most processes run. */
const stopMs = (random) => 3 * WINDOW_MS * random() ** (WINDOW_MS > FAULT_MS ? 4 : 1);
/** How far apart the crashes of the store are at least. A fence of Redis lasts 12 s and 5: three times that, so that some time is left
 * in which a holder that lost its lease can get another one. */
const CRASHES_MS = STORE === "redis" ? 51_000 : 0;

const program = fileURLToPath(new URL("../../processes/minting-main.mjs", import.meta.url));
const { startServer, connectStore } = await import(serverModule(STORE));

let server;
before(async () => {
  server = await startServer();
});
after(() => server?.crash()); // an orderly end can take a minute

let scopes = 0;
/** A new scope, in which no node id was ever granted. */
async function newScope() {
  const scope = `run-${++scopes}`;
  const { store, close } = await connectStore(server.port);
  await store.migrate?.();
  await store.init({ scope, layout: "default", nodes: NODES, windowMaxMs: WINDOW_MS });
  await close();
  return scope;
}

/** A process that mints, behind a proxy and with a clock of its own. */
async function startHolder(folder, offsetMs, task) {
  const clock = faketimeClock({ library: tools.faketime, offsetMs });
  const proxy = await startProxy(server.port);
  const gaveUp = [];
  let child;
  let ended;
  let isEnding = false;
  const start = () => {
    child = spawn(
      process.execPath,
      [program, JSON.stringify({ ...task, out: folder, store: { module: serverModule(STORE), address: proxy.port } })],
      {
        stdio: ["ignore", "ignore", "pipe"],
        env: { ...process.env, ...clock.env },
      },
    );
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    ended = once(child, "close").then(([status]) => {
      if (status !== null) gaveUp.push(errors || `exit code ${status}`);
    });
  };
  start();
  return {
    proxy,
    clock,
    gaveUp,
    signal: (name) => child.kill(name),
    async restart() {
      child.kill("SIGKILL");
      await ended;
      if (!isEnding) start();
    },
    async end() {
      isEnding = true;
      child.kill("SIGCONT");
      child.kill("SIGKILL");
      await ended;
      proxy.close();
    },
  };
}

/** The faults, each with its share. Each begins now, and ends by itself or by `later`. */
const FAULTS = [
  [
    4,
    "stopped",
    ({ holder, random, later }) => {
      holder.signal("SIGSTOP");
      later(stopMs(random), () => holder.signal("SIGCONT"));
    },
  ],
  [3, "killed", ({ holder }) => holder.restart()],
  [5, "clock set", ({ holder, random }) => holder.clock.set(40_000 * random() - 20_000)],
  [
    4,
    "cut off",
    ({ holder, random, later }) => {
      holder.proxy.cut();
      const lose = random() < 0.5;
      later(FAULT_MS * 2 * random(), () => holder.proxy.heal({ lose }));
    },
  ],
  [
    1,
    "store stopped",
    async ({ random }) => {
      server.signal("SIGSTOP");
      await sleep(FAULT_MS * random());
      server.signal("SIGCONT");
    },
  ],
  [
    1,
    "store crashed",
    async () => {
      await server.crash();
      await server.start();
    },
  ],
];
const DRAWN = FAULTS.flatMap(([share, ...fault]) => Array(share).fill(fault));

const BATCH = 200;
/** How long a part of the time is of which it counts whether a process mints in it. */
const PART_MS = 1000;
const layout = Layout.named("default");

/** The share of the parts of a time in which that many processes minted, by the times in their IDs. */
function shareOfMinting(folder, processes, fromMs, untilMs) {
  let parts = 0;
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    const ids = new BigUint64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 8));
    const minted = new Set();
    for (let at = 0; at < ids.length; at += BATCH) {
      const ms = layout.timestampOf(ids[at]);
      if (ms >= fromMs && ms < untilMs) minted.add(Math.floor((ms - fromMs) / PART_MS));
    }
    parts += minted.size;
  }
  return parts / (processes * Math.ceil((untilMs - fromMs) / PART_MS));
}

/** Lets processes mint for so long, and until what they have minted is enough, with faults or without. */
async function run({ seconds, isEnough = () => true, faults, seed = 20261122, crashes = true, ...task }) {
  const scope = await newScope();
  const [folder, alone] = ["", "alone-"].map((name) => mkdtempSync(join(tmpdir(), `frazil-nemesis-${name}`)));
  const random = randomNumbers(seed);
  const struck = {};
  let issued = 0;
  let fromMs;
  let untilMs;
  const { later, allDone } = laterWork();
  const settings = {
    scope,
    windowMs: WINDOW_MS,
    time: "store",
    batch: BATCH,
    pauseMs: 4,
    keepsMs: [5000, 20_000],
    ...task,
  };
  const offsets = Array.from({ length: PROCESSES }, () => (faults ? 40_000 * random() - 20_000 : 0));
  const holders = await Promise.all(offsets.map((offsetMs) => startHolder(folder, offsetMs, settings)));
  // It shows what the machine lets a process do: it needs no lease, and no fault strikes it.
  const control = spawn(
    process.execPath,
    [program, JSON.stringify({ out: alone, alone: true, batch: BATCH, pauseMs: settings.pauseMs })],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  try {
    // Starting six processes takes seconds on a busy machine, and is not what is measured.
    while (readdirSync(folder).filter((name) => name.endsWith(".ids")).length < PROCESSES) await sleep(50);
    while (countIds(alone).issued === 0) await sleep(50);
    await sleep(1000);
    fromMs = Date.now();
    const before = countIds(folder).issued;
    const until = performance.now() + 1000 * seconds;
    let crashedAt = Number.NEGATIVE_INFINITY;
    while (performance.now() < until || !isEnough(folder)) {
      await sleep(faults ? 300 + 800 * random() : 200);
      if (!faults) continue;
      const [name, strike] = DRAWN[Math.floor(DRAWN.length * random())];
      if (name === "store crashed") {
        if (!crashes || performance.now() - crashedAt < CRASHES_MS) continue;
        crashedAt = performance.now();
      }
      struck[name] = (struck[name] ?? 0) + 1;
      await strike({ holder: holders[Math.floor(PROCESSES * random())], random, later });
    }
    untilMs = Date.now();
    issued = countIds(folder).issued - before;
    await allDone();
  } finally {
    control.kill("SIGKILL");
    await Promise.all(holders.map((holder) => holder.end()));
  }
  const counted = countIds(folder);
  const minting = shareOfMinting(folder, PROCESSES, fromMs, untilMs);
  const possible = shareOfMinting(alone, 1, fromMs, untilMs);
  for (const path of [folder, alone]) rmSync(path, { recursive: true, force: true });
  return {
    ...counted,
    struck,
    gaveUp: holders.flatMap((holder) => holder.gaveUp),
    minting,
    possible,
    perSecond: issued / seconds,
  };
}

const shown = (struck) =>
  Object.entries(struck)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");

// docs/internals/claims.md: 22, 23
test(`${STORE}: processes under faults repeat no ID, for ${SECONDS} s with the store's time and ${SECONDS / 2} with their own`, async (t) => {
  const calm = await run({ seconds: Math.max(5, SECONDS / 4), faults: false });
  assert.equal(calm.repeats, 0);
  assert.deepEqual(calm.gaveUp, []);
  const stored = await run({ seconds: SECONDS, faults: true });
  const wall = await run({ seconds: SECONDS / 2, faults: true, time: "wall", seed: 7 });
  for (const [name, { issued, struck, minting, possible, perSecond }] of Object.entries({
    calm,
    "store's time": stored,
    "wall time": wall,
  })) {
    const part = Math.round((100 * perSecond) / calm.perSecond);
    const [under, without] = [minting, possible].map((share) => `${Math.round(100 * share)} %`);
    const whenever = `minting in ${under} of the time, ${without} without leases`;
    t.diagnostic(
      `${name}: ${issued} IDs, ${part} % of those without faults; ${whenever}; ${shown(struck) || "no faults"}`,
    );
  }
  for (const { repeats, gaveUp } of [stored, wall]) {
    assert.equal(repeats, 0);
    assert.deepEqual(gaveUp, []);
  }
  const { minting, possible } = stored;
  assert.ok(minting > 0.5 * possible, `minting in ${minting} of the time, a process without a lease in ${possible}`);
});

test("the checker catches leases that end by a time-out only", async (t) => {
  // It writes no fence, and would get no lease after a crash of a store that asks for one.
  const crashes = STORE !== "redis";
  const isEnough = (folder) => countIds(folder).repeats > 0;
  const { issued, repeats, struck } = await run({ seconds: 0, isEnough, faults: true, broken: true, crashes });
  t.diagnostic(`${issued} IDs, ${repeats} repeats; ${shown(struck)}`);
  assert.ok(repeats > 0);
});
