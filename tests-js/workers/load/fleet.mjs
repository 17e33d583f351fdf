// A hundred isolates in one workerd that mint under leases of a few node ids. Isolates are replaced, their clocks are wrong, the
// object is aborted, and workerd is killed and started again on the same storage.
import { setMaxListeners } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { randomNumbers } from "../../local/minting-process.mjs";
import { bundleOnce, DATES, WorkerServer } from "../../stores/workerd/server.mjs";
import { countRepeats } from "./count.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

export const ISOLATES = 100;
const WINDOW_MS = 2000;
/** So few that each is granted again when its window is over: an isolate that replaces another waits for that. */
export const NODES = { from: 0, to: 99 };
/**
 * The most that the clock of an isolate is ahead, and behind: together more than a window, or a window without its start would do no
 * harm. One that is ahead by a window could mint nothing.
 */
const SKEW_MS = { ahead: 1400, behind: 2400 };
const SCOPE = "load";
/** How many requests an isolate gets at a time, at most. */
const BESIDE = 3;
/**
 * Sixteen IDs a millisecond, where `edge` has 256: a request takes up more of the window, so that two isolates that mint one window
 * soon mint one millisecond of it.
 */
const LAYOUT = {
  epochMs: 1_704_067_200_000,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "node", bits: 7 },
    { kind: "sequence", bits: 4 },
  ],
};
const IDS_A_MS = 16;
/** How many IDs a request mints. */
const COUNT = 1024;
const NEEDS_MS = COUNT / IDS_A_MS + 1;

/** The modules of the isolates, as router.mjs takes them. */
async function modulesOf(entry) {
  const folder = await bundleOnce(entry);
  const moduleOf = (name) => {
    const bytes = readFileSync(`${folder}/${name}`);
    return [name, name.endsWith(".wasm") ? { wasm: bytes.toString("base64") } : { js: bytes.toString() }];
  };
  return JSON.stringify(Object.fromEntries(readdirSync(folder).map(moduleOf)));
}

/** An isolate, as far as the test knows it. */
class Isolate {
  static #made = 0;
  name = `isolate-${++Isolate.#made}`;
  /** Until when it has a lease, and up to when it has minted. Both are times in IDs, and its own clock shows them. */
  untilMs = 0;
  usedMs = 0;
  counts = { acquired: 0, renewed: 0, lost: 0 };
  nodes = new Set();

  constructor(random, livesMs) {
    const part = 0.75 + 0.25 * random();
    this.skewMs = Math.round(random() < 0.5 ? SKEW_MS.ahead * part : -SKEW_MS.behind * part);
    this.date = DATES[Math.floor(DATES.length * random())];
    this.endsMs = performance.now() + livesMs * (0.5 + random());
  }

  get nowMs() {
    return Date.now() + this.skewMs;
  }
}

/**
 * Runs the load. `class_`: the class of the objects. `abortMs`, `killMs`: how often the object is aborted, and workerd killed. `livesMs`:
 * how long an isolate lives on average. `atLeast`: the run goes on until that many IDs were issued, for three times as long at most.
 * `stopsAtRepeat`: it ends when an ID has repeated.
 */
export async function run({
  seconds,
  atLeast = 0,
  stopsAtRepeat = false,
  class_ = "LoadLeases",
  abortMs = 1500,
  killMs = 6000,
  livesMs = 5000,
  seed = 20261122,
}) {
  const random = randomNumbers(seed);
  const modules = await modulesOf(path("isolate.mjs"));
  const server = await WorkerServer.startWith(path("router.mjs"), {
    objects: { OBJECTS: class_ },
    classes: { LoadLeases: "sqlite", BrokenLeases: "sqlite" },
    vars: { NODES, OPTIONS: { scope: SCOPE, layout: LAYOUT, windowMs: WINDOW_MS } },
    loaders: ["LOADER"],
  });
  const send = (to, init) => fetch(new URL(to, server.url), init);
  const sendModules = () => send("/modules", { method: "POST", body: modules });

  const answers = [];
  const isolates = [];
  const failures = {};
  const heldFailures = [];
  const totals = { requests: 0, waited: 0, waitedHeld: 0, failed: 0, cut: 0, aborts: 0, kills: 0 };
  let issued = 0;
  const ending = new AbortController();
  const isEnding = () => ending.signal.aborted;
  setMaxListeners(0, ending.signal);
  const pause = (ms) => sleep(ms, undefined, { signal: ending.signal }).catch(() => {});
  /** Counts starts of workerd; even while it runs. */
  let phase = 0;
  let running = Promise.resolve();

  const newIsolate = () => {
    const isolate = new Isolate(random, livesMs);
    isolates.push(isolate);
    return isolate;
  };

  /** Asks an isolate for IDs once. */
  async function ask(isolate, close) {
    const { name, skewMs, date, untilMs } = isolate;
    const lostBefore = isolate.counts.lost;
    const sentIn = phase;
    totals.requests++;
    let response;
    let bytes;
    try {
      response = await send(`/${name}?count=${COUNT}&skewMs=${skewMs}&date=${date}${close ? "&close" : ""}`);
      bytes = Buffer.from(await response.arrayBuffer());
    } catch (error) {
      if (sentIn === phase && sentIn % 2 === 0) throw error;
      totals.cut++;
      return;
    }
    const about = JSON.parse(response.headers.get("about") ?? "null");
    if (about === null) throw new Error(`${response.status} ${bytes}`);
    answers.push(bytes);
    issued += bytes.length / 8;
    const { lost = 0 } = about;
    if (lost > isolate.counts.lost) isolate.untilMs = 0;
    for (const key of Object.keys(isolate.counts)) isolate.counts[key] = Math.max(isolate.counts[key], about[key] ?? 0);
    // With room for the requests that ran at a time, from before the request to after it.
    const isHeld =
      lost === lostBefore && Math.max(isolate.nowMs, isolate.usedMs, about.usedMs ?? 0) + BESIDE * NEEDS_MS < untilMs;
    if (about.error) {
      const { code, message, retryable } = about.error;
      // No failure of the load, but of this test.
      if (!retryable) throw new Error(message);
      // As the isolate itself says, of a lease that came with this request. A clock that is behind has to reach its window first, which
      // takes longer than a request waits if it has waited for a node id before.
      const hasBegun = about.nowMs >= about.untilMs - WINDOW_MS;
      const isNew = hasBegun && Math.max(isolate.nowMs, about.usedMs) + BESIDE * NEEDS_MS < about.untilMs;
      totals.failed++;
      if (isHeld || isNew) heldFailures.push({ message, ...about, skewMs });
      failures[code ?? message] = (failures[code ?? message] ?? 0) + 1;
      return;
    }
    if (about.isWaiting) totals.waited++;
    if (about.isWaiting && isHeld) totals.waitedHeld++;
    // Answers of requests that ran beside each other can come in any order.
    isolate.usedMs = Math.max(isolate.usedMs, about.usedMs);
    if (!isolate.isClosed) isolate.untilMs = Math.max(isolate.untilMs, about.untilMs);
    isolate.nodes.add(about.node);
  }

  /** Keeps one isolate alive, and replaces it. */
  async function keepOne() {
    let isolate = newIsolate();
    let born = phase;
    while (!isEnding()) {
      await running;
      if (isEnding()) return;
      if (born !== phase || performance.now() > isolate.endsMs) {
        // Some Workers say that they go.
        if (born === phase && random() < 0.3) {
          isolate.isClosed = true;
          isolate.untilMs = 0;
          await ask(isolate, true);
        }
        isolate = newIsolate();
        born = phase;
      }
      await Promise.all(Array.from({ length: random() < 0.2 ? BESIDE : 1 }, () => ask(isolate)));
      await pause(50 + 300 * random());
    }
  }

  async function kill() {
    phase++;
    const restarted = server.kill().then(async () => {
      await server.start();
      await sendModules();
      phase++;
    });
    running = restarted;
    await restarted;
    totals.kills++;
  }

  async function strike() {
    let killAt = performance.now() + killMs;
    while (!isEnding()) {
      await pause(abortMs * (0.5 + random()));
      if (isEnding()) return;
      if (performance.now() > killAt) {
        await kill();
        killAt = performance.now() + killMs;
        continue;
      }
      await send(`/abort?name=lease/${SCOPE}`);
      totals.aborts++;
    }
  }

  const began = performance.now();
  try {
    await sendModules();
    const work = [strike(), ...Array.from({ length: ISOLATES }, keepOne)];
    const end = (async () => {
      const isOver = (ms) => performance.now() - began > ms;
      while (!isOver(1000 * seconds) || (issued < atLeast && !isOver(3000 * seconds))) {
        await sleep(1000);
        if (stopsAtRepeat && countRepeats(answers).repeats > 0) break;
      }
      ending.abort();
    })();
    await Promise.all([end, ...work]).finally(() => ending.abort());
  } finally {
    await server.stop();
  }
  const isolatesOf = new Map();
  for (const { nodes } of isolates) for (const node of nodes) isolatesOf.set(node, (isolatesOf.get(node) ?? 0) + 1);
  const sum = (key) => isolates.reduce((total, { counts }) => total + counts[key], 0);
  return {
    seconds: Math.round((performance.now() - began) / 1000),
    ...countRepeats(answers),
    isolates: isolates.length,
    nodes: isolatesOf.size,
    /** How often a node id went to another isolate than before. */
    reused: [...isolatesOf.values()].reduce((total, count) => total + count - 1, 0),
    leases: sum("acquired"),
    renewals: sum("renewed"),
    lost: sum("lost"),
    ...totals,
    failures,
    failedHeld: heldFailures.length,
    heldFailures,
  };
}
