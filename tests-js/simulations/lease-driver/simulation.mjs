// A deterministic simulation of the lease driver: three processes with clocks of their own, a store, and a network between them,
// in fake time. What happens follows from a seed.
//
//   node tests-js/simulations/lease-driver/simulation.mjs SEED    replays a seed, with a line for each step
//
// Checked in every run: no ID twice; the time of each ID within a window that its generator was granted; one attempt at a time; a
// bounded rate of requests; `retryAfterMs` is true; after the faults stop everybody mints again; after `close()` nothing is left.
// Where only calls renew: no timer is set while no call waits.
//
// It runs on WebAssembly, where random numbers come from `crypto`. The native addon draws from the kernel.
import { SimulatedWorld } from "../simulated-time.mjs";
import { SOMETIMES } from "./events.mjs";
import { IssuedIds } from "./ids.mjs";

process.env.FRAZIL_BACKEND = "wasm";

/** The world of the run under way. Fake time and fake randomness belong to it. */
let world;

const START_MS = 1_780_000_000_000;
const setTimer =
  (repeats) =>
  (run, delayMs = 0) => {
    const everyMs = Math.max(1, Number(delayMs) || 0);
    const event = { atMs: world.ms + everyMs, host: world.current, run, everyMs, repeats, isTimer: true };
    world.add(event);
    return { event, unref() {}, ref() {} };
  };
const clearTimer = (handle) => handle && world.remove(handle.event);
Object.assign(globalThis, {
  setTimeout: setTimer(false),
  setInterval: setTimer(true),
  clearTimeout: clearTimer,
  clearInterval: clearTimer,
});
Date.now = () => Math.floor(START_MS + (world?.ms ?? 0) + (world?.current?.wallAheadMs ?? 0));
performance.now = () => world.ms - (world.current?.suspendedMs ?? 0);
Object.defineProperty(crypto, "getRandomValues", {
  value: (array) => array.map((_, at) => (array[at] = world.random.below(2 ** 32))) && array,
});

const { Layout } = await import("frazil");
const shipped = await import("frazil/lease");
const { FaultyStore } = await import("../../lease/faulty-store.mjs");

/** The shortest window. Every fourth seed has one that is ten times as long, with everything else slowed down as well. */
const SHORT_MS = 3000;
/** How many requests a generator may send in 10 s of its own time. Measured: at most 20 in 2,000 seeds. */
const MAX_REQUESTS = 30;

class Host {
  /** How far the wall clock is ahead of true time. */
  wallAheadMs = 0;
  /** How long the machine was suspended in all: monotonic time stood still. */
  suspendedMs = 0;
  /** Nothing runs before. */
  heldUntilMs = 0;
  /** The generators, open and closed. */
  generators = [];

  constructor(name) {
    this.name = name;
  }

  get open() {
    return this.generators.find(({ state }) => state === "open");
  }
}

class World extends SimulatedWorld {
  storeAheadMs = 0;
  /** Until when the store answers nobody. */
  storeAwayUntilMs = 0;

  constructor(seed, lease, log) {
    super(seed, { log, replay: "tests-js/simulations/lease-driver/simulation.mjs", listed: SOMETIMES });
    this.lease = lease;
    this.scale = seed % 4 === 3 ? 10 : 1;
    this.windowMs = SHORT_MS * this.scale;
    this.timeoutMs = this.windowMs / 10;
    this.hosts = ["a", "b", "c"].map((name) => new Host(name));
    // Each run has a scope of its own, so that what one leased does not matter to the next.
    this.scope = "simulated";
    this.store = FaultyStore.with({
      now: () => Math.floor(START_MS + this.ms + this.storeAheadMs),
      scope: this.scope,
      nodes: { from: 0, to: 2 + this.random.below(3) },
      windowMaxMs: this.windowMs,
    });
    this.ids = new IssuedIds(Layout.named("default"), this.store.grants);
  }

  /** Runs something in a process after so much true time. */
  after(delayMs, host, run) {
    return this.add({ atMs: this.ms + delayMs, host, run });
  }

  /** Runs code of a process, and everything that follows from it in the same turn. */
  run(host, code) {
    return this.turn(host, code);
  }

  /** A process that is held runs what was due as soon as it can. */
  dueMs({ atMs, host }) {
    return Math.max(atMs, host?.heldUntilMs ?? 0);
  }

  runEvent({ host, run }) {
    return this.run(host, run);
  }

  isHeld(host) {
    return host.heldUntilMs > this.ms;
  }
}

/** A generator of a process, and what is known of it. */
class Generator {
  state = "opening";
  ids;
  /** The grants it asked for. */
  grants = new Set();
  outstanding = new Set();
  requests = [];
  progress = 0;
  nodes = new Set();
  /** Calls that wait. */
  waiting = 0;
  last = -1n;
  isDead = false;

  constructor(host, options) {
    this.host = host;
    this.options = options;
    this.byCalls = options.renew === "calls";
  }
}

/** The store as a generator sees it, through a network with faults. */
function storeOf(generator) {
  const { host } = generator;
  const w = world;
  const { random, store } = w;
  const call = (verb) => (request) => {
    // A driver that asks without end must not do so here.
    if (w.failure) return new Promise(() => {});
    if (w.current !== host) throw new Error(`${verb} in the wrong process`);
    w.step(`${host.name}: ${verb} ${request.grant?.slice(0, 4) ?? ""} ${request.node ?? ""}`);
    generator.progress++;
    if (request.grant !== undefined) generator.grants.add(request.grant);
    if (verb !== "release") {
      const ownMs = w.ms - host.suspendedMs;
      generator.requests = generator.requests.filter((atMs) => atMs > ownMs - 10_000);
      generator.requests.push(ownMs);
      generator.most = Math.max(generator.most ?? 0, generator.requests.length);
      if (generator.requests.length > MAX_REQUESTS) w.fail(`${host.name} asks too often: ${generator.requests.length}`);
    }
    const open = {};
    for (const other of generator.outstanding) if (!other.isOver()) w.fail(`${host.name}: two attempts at a time`);
    generator.outstanding.clear();
    open.isOver = () => open.isSettled || request.signal.aborted;
    generator.outstanding.add(open);
    request.signal.addEventListener("abort", () => {
      generator.progress++;
      if (generator.byCalls && generator.state === "open") w.sometimes("a call gives up an attempt");
    });
    return new Promise((resolve, reject) => {
      const settle = (how, value) =>
        w.after(delay(), host, () => {
          if (generator.isDead || open.isSettled) return;
          open.isSettled = true;
          generator.progress++;
          const isLate = request.signal.aborted;
          const counts = isLate && generator.ids?.stats().lease;
          if (isLate && how === resolve && value?.granted === false) w.sometimes("a late refusal is dropped");
          how(value);
          if (counts && value?.granted) {
            w.after(0, host, () => {
              const now = generator.ids.stats().lease;
              if (now.acquired + now.renewed > counts.acquired + counts.renewed) w.sometimes("a late grant is used");
              else w.sometimes("an answer for an ended lease");
            });
          }
        });
      const execute = async () => {
        const before = request.grant && [...store.rows(w.scope).values()].some(({ grant }) => grant === request.grant);
        const fenceMs = store.fenceMs(w.scope);
        const result = await executeNow(verb, request);
        if (verb === "acquire" && result.granted && !before && w.ids.lastMs.get(result.node) >= result.fromMs)
          w.fail(`the window of ${host.name} begins before the end of what was minted`);
        if (verb === "acquire" && before) w.sometimes("an acquire is repeated after a lost answer");
        if (verb === "ensure" && store.fenceMs(w.scope) > fenceMs) w.sometimes("a fence is raised");
        if (verb === "renew" && result.reason === "fenced") w.sometimes("a renewal is fenced");
        if (verb === "renew" && result.reason === "taken") w.sometimes("a renewal is taken");
        if (verb === "acquire" && result.reason === "exhausted") w.sometimes("every node id is held");
        w.step(`store: ${verb} of ${host.name}: ${JSON.stringify(result)}`);
        return result;
      };
      const delay = () => (w.faults && random.chance(0.15) ? random.below(1500 * w.scale) : 1 + random.below(20));
      const kind = w.faults ? random.next() : 1;
      w.after(delay(), undefined, async () => {
        if (generator.isDead || w.ms < w.storeAwayUntilMs) return;
        if (kind < 0.05) {
          w.sometimes("a request is lost");
          if (verb === "release") w.sometimes("a release is lost");
          return;
        }
        if (kind < 0.1) {
          await execute();
          w.sometimes("an answer is lost");
          return;
        }
        if (kind < 0.13) {
          w.sometimes("the store fails");
          if (random.chance(0.5)) await execute();
          settle(reject, new Error("connection reset"));
          return;
        }
        if (kind < 0.145) {
          const answer = await execute();
          w.sometimes("an answer that cannot be true");
          settle(
            resolve,
            random.one([
              undefined,
              { ...answer, granted: true, grant: "f".repeat(32) },
              { ...answer, granted: true, node: "1" },
              { granted: false, reason: "busy" },
            ]),
          );
          return;
        }
        const answer = await execute();
        if (kind < 0.2) {
          w.sometimes("a request is carried out twice");
          w.after(delay(), undefined, execute);
        }
        settle(resolve, answer);
      });
    });
  };
  const executeNow = (verb, request) => {
    store.calls.length = 0;
    return store[verb](request);
  };
  return {
    name: "simulated",
    ...Object.fromEntries(["acquire", "renew", "release", "ensure"].map((verb) => [verb, call(verb)])),
  };
}

/** Checks IDs of a generator. `isSync`: whether they came from a synchronous call. */
function check(generator, ids, isSync) {
  const w = world;
  const wrong = w.ids.check(generator.host.name, generator.grants, ids);
  if (wrong !== undefined) w.fail(wrong);
  for (const id of ids) {
    const { node } = w.ids.decode(id);
    generator.nodes.add(node);
    if (!isSync) continue;
    if (node !== generator.ids.node)
      w.fail(`${generator.host.name}: an ID of node ${node}, but node is ${generator.ids.node}`);
    if (id <= generator.last && generator.options.sequenceStart !== "wrap")
      w.fail(`${generator.host.name}: not in order`);
    if (id > generator.last) generator.last = id;
  }
  if (generator.nodes.size > 1) w.sometimes("a generator has two node ids");
}

/** A refusal of a synchronous call: is the time to wait true? */
function checkRefusal(generator, error) {
  const w = world;
  const { code, retryAfterMs } = error;
  const known = ["LEASE_EXPIRED", "LEASE_LOST", "CLOCK_BACKWARD", "SEQUENCE_EXHAUSTED", "CLOSED"];
  if (!known.includes(code)) w.fail(`${generator.host.name}: ${error.stack}`);
  w.step(`${generator.host.name}: ${code} ${retryAfterMs ?? ""}`);
  if (code === "CLOSED" && generator.state === "open") w.fail("CLOSED, and it was not closed");
  if (code !== "LEASE_EXPIRED" && code !== "LEASE_LOST") return;
  w.sometimes(code);
  const isInFlight = [...generator.outstanding].some((open) => !open.isOver());
  if (isInFlight && code === "LEASE_EXPIRED") w.sometimes("expired while a renewal is in flight");
  if (!(Number.isInteger(retryAfterMs) && retryAfterMs >= 1 && retryAfterMs <= 5000))
    w.fail(`retryAfterMs is ${retryAfterMs}`);
  const { progress } = generator;
  const isStuck = () => generator.state === "open" && generator.progress === progress;
  const said = () => w.fail(`${generator.host.name}: ${code} said ${retryAfterMs} ms, and nothing has happened since`);
  // In the time of the process: if it is suspended, this comes as late as its timers.
  const event = w.after(retryAfterMs + 2, generator.host, () => {
    if (!isStuck()) return;
    if (!generator.byCalls) said();
    // Only a call does anything: it mints, or it asks the store.
    try {
      check(generator, [generator.ids.next()], true);
    } catch (error) {
      if (error.code === undefined) throw error;
      if (error.code.startsWith("LEASE_")) w.after(1, generator.host, () => isStuck() && said());
    }
  });
  event.isOwnTime = true;
}

const ACTIONS = {
  mint: 30,
  mintMany: 8,
  mintAsync: 8,
  open: 14,
  close: 4,
  crash: 2,
  stepClock: 4,
  suspend: 3,
  block: 3,
  storeAway: 2,
  storeLosesWrites: 1,
  stepStoreClock: 1,
};
const WEIGHTED = Object.entries(ACTIONS).flatMap(([name, weight]) => Array(weight).fill(name));

function openGenerator(host) {
  const w = world;
  const { random } = w;
  const options = {
    scope: w.scope,
    windowMs: w.windowMs,
    maxAsyncWaitMs: random.one([200, 1000, 5000]),
    time: random.one(["wall", "store"]),
    renew: random.one(["timer", "calls"]),
    sequenceStart: random.one(["zero", "random", "wrap"]),
    ...(random.chance(0.3) && { node: random.below(4) }),
    ...(random.chance(0.3) && { maxLeadMs: 0 }),
  };
  const generator = new Generator(host, options);
  host.generators.push(generator);
  const controller = new AbortController();
  if (w.faults && random.chance(0.1)) {
    w.after(random.below(1000), host, () => {
      if (generator.state === "opening") w.sometimes("lease() is aborted");
      controller.abort(new Error("stop"));
    });
  }
  w.step(`${host.name}: lease() ${JSON.stringify(options)}`);
  w.lease(storeOf(generator), { ...options, signal: controller.signal }).then(
    (ids) => {
      generator.ids = ids;
      for (const event of ["acquired", "renewed", "lost", "refused"]) {
        ids.on(event, (detail) => {
          w.step(`${host.name}: ${event} ${detail.message ?? JSON.stringify(detail)}`);
          w.sometimes(event);
          if (generator.byCalls && event === "renewed") w.sometimes("a call renews");
          if (event === "lost" && ids.node !== undefined)
            w.failure ??= new Error(`seed ${w.seed}: lost, with a node id`);
        });
      }
      w.sometimes("acquired");
      if (generator.state === "opening") generator.state = "open";
      w.step(`${host.name}: open with node ${ids.node}`);
    },
    (error) => {
      if (generator.state === "opening") generator.state = "rejected";
      w.step(`${host.name}: lease() rejects: ${error.message}`);
      if (error.message !== "stop" && error.retryable) w.sometimes("lease() gives up");
    },
  );
}

function act() {
  const w = world;
  const { random } = w;
  const name = random.one(WEIGHTED);
  const host = random.one(w.hosts);
  if (name === "storeAway") {
    const forMs = w.scale * random.one([200, 1000, 4000, 7000]);
    w.step(`the store is away for ${forMs} ms`);
    w.storeAwayUntilMs = w.ms + forMs;
    if (forMs > w.windowMs) w.sometimes("the store is away for longer than a window");
    return undefined;
  }
  if (name === "storeLosesWrites") {
    if (w.backup && w.ms - w.backupMs < 4000 * w.scale) {
      w.step("the store loses its last writes");
      w.sometimes("the store loses writes");
      w.store.restore(w.backup);
      w.store.failOver();
      w.backup = undefined;
    } else {
      w.backup = w.store.save();
      w.backupMs = w.ms;
    }
    return undefined;
  }
  if (name === "stepStoreClock") {
    // Not at the same time as lost writes: that is not promised.
    if (w.seed % 2 === 0) return undefined;
    w.storeAheadMs += w.scale * random.one([-2000, -500, 500, 2000]);
    w.step(`the store's clock is ${w.storeAheadMs} ms ahead`);
    return undefined;
  }
  if (name === "suspend") {
    if (w.isHeld(host)) return undefined;
    const forMs = w.scale * random.one([500, 2000, 5000]);
    w.step(`${host.name} is suspended for ${forMs} ms`);
    if (host.open && forMs > w.windowMs) w.sometimes("a process is suspended over its window");
    host.heldUntilMs = w.ms + forMs;
    host.suspendedMs += forMs;
    for (const event of w.events) if (event.host === host && (event.isTimer || event.isOwnTime)) event.atMs += forMs;
    return undefined;
  }
  if (name === "block") {
    if (w.isHeld(host)) return undefined;
    const forMs = w.scale * random.one([100, 400, 2000]);
    w.step(`the event loop of ${host.name} is blocked for ${forMs} ms`);
    host.heldUntilMs = w.ms + forMs;
    if (forMs > w.timeoutMs && host.open?.outstanding.size) w.sometimes("an event loop is blocked over a time-out");
    return undefined;
  }
  if (name === "stepClock") {
    const stepMs = w.scale * random.one([-5000, -1500, -50, 50, 1500, 5000]);
    host.wallAheadMs = random.chance(0.3) ? 0 : host.wallAheadMs + stepMs;
    w.step(`the clock of ${host.name} is ${host.wallAheadMs} ms ahead`);
    if (stepMs < 0) w.sometimes("a clock goes back");
    if (host.wallAheadMs > w.windowMs) w.sometimes("a clock is a window ahead");
    return w.isHeld(host) ? undefined : [host, () => inProcess("mint", host)];
  }
  if (w.isHeld(host)) return undefined;
  return [host, () => inProcess(name, host)];
}

function inProcess(name, host) {
  const w = world;
  const { random } = w;
  const generator = host.generators.findLast(({ ids }) => ids !== undefined);
  if (name === "open") {
    if (!host.generators.some(({ state }) => state === "open" || state === "opening")) openGenerator(host);
    return;
  }
  if (generator === undefined || generator.isDead) return;
  const { ids } = generator;
  if (name === "close") {
    if (generator.state !== "open") return;
    if ([...generator.outstanding].some((open) => !open.isOver())) w.sometimes("close() while an attempt is under way");
    closeGenerator(generator);
    return;
  }
  if (name === "crash") {
    w.step(`${host.name} crashes`);
    w.sometimes("a process crashes");
    generator.isDead = true;
    generator.state = "crashed";
    return;
  }
  if (name === "mintAsync") {
    if (generator.state !== "open") return;
    const controller = new AbortController();
    const abortMs = random.chance(0.4) ? random.below(800) : undefined;
    const beganMs = w.ms;
    const count = random.one([1, 10, 10, 5000]);
    let isOver = false;
    if (abortMs !== undefined) {
      w.after(abortMs, host, () => {
        if (!isOver) w.sometimes("a call is aborted");
        controller.abort(new Error("stop"));
      });
    }
    const { signal } = controller;
    const isReady = random.chance(0.3);
    generator.waiting++;
    const call = isReady
      ? ids.ready({ signal }).then(() => {
          // Nothing has run since, so an ID can be minted, unless another call that was woken took the last one of the tick.
          const { refusal } = ids.health();
          if (refusal && refusal.code !== "SEQUENCE_EXHAUSTED")
            w.failure ??= new Error(`seed ${w.seed}, ${w.ms} ms: ready(), but ${refusal.message}`);
          return [];
        })
      : ids.nextManyAsync(count, { signal });
    call.finally(() => generator.waiting--).catch(() => {});
    call.then(
      (minted) => {
        isOver = true;
        if (w.ms - beganMs > 5) w.sometimes("a call waits and is woken");
        try {
          check(generator, minted, false);
        } catch (error) {
          w.failure ??= error;
        }
      },
      (error) => {
        isOver = true;
        w.step(`${host.name}: nextManyAsync(${count}): ${error.message}`);
        if (error.code?.startsWith("LEASE_")) w.sometimes("a call gives up");
      },
    );
    return;
  }
  if (generator.state === "closing") w.sometimes("minting while it closes");
  try {
    const minted =
      name === "mint"
        ? Array.from({ length: 1 + random.below(6) }, () => ids.next())
        : ids.nextMany(random.one([50, 500, 500]));
    w.step(`${host.name}: ${minted.length} IDs`);
    check(generator, minted, true);
  } catch (error) {
    if (error.code === undefined) throw error;
    checkRefusal(generator, error);
  }
}

function closeGenerator(generator) {
  const w = world;
  generator.state = "closing";
  w.step(`${generator.host.name}: close()`);
  const beganMs = w.ms;
  for (const delayMs of [3, 12, 30]) {
    w.after(delayMs, generator.host, () => {
      if (generator.state === "closing" && w.faults) inProcess("mint", generator.host);
    });
  }
  generator.ids.close().then(
    () => {
      generator.state = "closed";
      generator.closedAfterMs = w.ms - beganMs;
      w.step(`${generator.host.name}: closed`);
    },
    (error) => {
      w.failure ??= error;
    },
  );
}

/** Where only calls renew, a process has no timers but those of calls that wait. */
function checkTimers() {
  for (const host of world.hosts) {
    const isQuiet = ({ byCalls, state, waiting }) => byCalls && state === "open" && waiting === 0;
    if (!host.generators.every(isQuiet)) continue;
    const timers = world.events.filter((event) => event.isTimer && event.host === host);
    if (timers.length > 0) world.fail(`${timers.length} timers of ${host.name} outlive a call`);
    if (host.generators.length > 0) world.sometimes("nothing runs between calls");
  }
}

/** Runs a seed. Returns what happened in it. */
export async function simulate(seed, { lease = shipped.lease, log, actions = 60 } = {}) {
  const w = new World(seed, lease, log);
  world = w;
  for (let action = 0; action < actions; action++) {
    await w.advance(w.random.below(500 * w.scale));
    checkTimers();
    const chosen = act();
    if (chosen) await w.run(...chosen);
  }
  // The faults stop, the clocks are set right, and everybody mints again.
  w.step("the faults stop");
  w.faults = false;
  w.storeAwayUntilMs = 0;
  w.storeAheadMs = 0;
  for (const host of w.hosts) host.wallAheadMs = 0;
  // A clock that was set is drift, after which a lease with store time asks the store first.
  await w.advance(25_000 * w.scale);
  for (const host of w.hosts) {
    for (const generator of host.generators.filter(({ state }) => state === "open")) {
      await w.run(host, () => {
        try {
          check(generator, [generator.ids.next()], true);
        } catch (error) {
          if (error.code === undefined) throw error;
          w.wanted = error;
        }
      });
      if (w.wanted && generator.byCalls) {
        w.wanted = undefined;
        const isReady = async () => {
          let outcome;
          await w.run(host, () => {
            generator.ids.ready().then(
              () => {
                outcome = true;
              },
              (error) => {
                outcome = error;
              },
            );
          });
          await w.advance(6000);
          return outcome;
        };
        // The first calls, which may wait for 200 ms only, find that writes were lost, and the fence has to pass.
        let outcome;
        for (let calls = 0; calls < 4 && outcome !== true; calls++) {
          if (calls > 0) await w.advance(5000 + 2 * w.windowMs);
          outcome = await isReady();
        }
        if (outcome !== true) w.fail(`${host.name} does not mint again: ${outcome?.message}`);
      }
      if (w.wanted) {
        w.wanted = undefined;
        // Where the clock was the problem, the first refused call has the store asked.
        await w.advance(6000);
        await w
          .run(host, () => check(generator, [generator.ids.next()], true))
          .catch((error) => w.fail(`${host.name} does not mint again: ${error.message}`));
      }
    }
  }
  for (const host of w.hosts) {
    await w.run(host, () => {
      for (const generator of host.generators)
        if (generator.ids && generator.state !== "closed") closeGenerator(generator);
    });
  }
  const closingMs = w.ms;
  while (w.hosts.some(({ generators }) => generators.some(({ state }) => state === "closing" || state === "opening"))) {
    if (w.ms - closingMs > 3 * w.timeoutMs) w.fail("close() takes too long");
    await w.advance(10);
  }
  const left = w.events.filter(({ isTimer }) => isTimer);
  if (left.length > 0) w.fail(`${left.length} timers are left after close()`);
  for (const host of w.hosts)
    for (const { ids } of host.generators) if (ids && ids.node !== undefined) w.fail("a node id after close()");
  const most = Math.max(0, ...w.hosts.flatMap(({ generators }) => generators.map(({ most = 0 }) => most)));
  return { seen: w.seen, ids: w.ids.size, most };
}

if (process.argv[1] === import.meta.filename) {
  const seed = Number(process.argv[2] ?? 1);
  const { seen, ids, most } = await simulate(seed, { log: (line) => process.stdout.write(`${line}\n`) });
  process.stdout.write(`seed ${seed}: ${ids} IDs, at most ${most} requests in 10 s; ${[...seen].join("; ")}\n`);
}
