// A program of `line.test.mjs`: what must hold of IDs that are minted without a call of the core. Its argument names one of these; it
// prints as JSON what it wanted and what it got. In a folder with a changed copy of the package it tests that copy.
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import vm from "node:vm";
import { Layout, Snowflake } from "frazil";
import { lease } from "frazil/lease";
import { MemoryLeaseStore } from "frazil/testing";

/** Beyond the start of the process. */
const start = Date.now() + 60_000;
let ms = start;
Date.now = () => ms;

/** What a call returns, or the code of its error. */
const codeOf = (call) => {
  try {
    return call();
  } catch (error) {
    if (error.code === undefined) throw error;
    return error.code;
  }
};
/** `"bigint"` of a call that returns an ID, or the code of its error. */
const kindOf = (call) => codeOf(() => typeof call());
const increasing = (ids) => ids.every((id, at) => at === 0 || ids[at - 1] < id);
const repeatsOf = (ids) => ids.length - new Set(ids).size;

/** More calls than a generator makes of the core before it looks for a line that it shares with no other. */
const WARM = 70;

/** Takes one ID a millisecond until the generator has its line. */
function warmUp({ next }) {
  for (let call = 0; call < WARM; call++) {
    ms++;
    next();
  }
}

/** The IDs of three generators of one state, which mint in any order on a clock that moves on and back. */
function onSharedState() {
  const generators = [0, 0, 10].map((maxLeadMs) => new Snowflake({ node: 5, maxLeadMs, maxWaitMs: 0 }));
  const issued = generators.map(() => []);
  let seed = 1;
  const random = (below) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < 20_000; round++) {
    ms += [0, 0, 0, 1, 1, 1, 2, 7, -1, -3][random(10)];
    const at = random(3);
    const ids = generators[at];
    const call = [ids.next, ids.next, () => ids.tryNext() ?? "none", () => ids.nextMany(3)][random(4)];
    const answer = codeOf(call);
    if (typeof answer !== "string") issued[at].push(...[answer].flat());
  }
  const all = issued.flat();
  const got = { many: all.length > 10_000, repeats: repeatsOf(all), inOrder: issued.map(increasing) };
  return { want: { many: true, repeats: 0, inOrder: [true, true, true] }, got };
}

const [time, node, sequence] = ["time", "node", "sequence"].map((kind) => (bits) => ({ kind, bits }));
const LAYOUTS = [
  "default",
  "sonyflake",
  "safe53",
  { epochMs: 0, unsigned: true, fields: [node(10), time(42), sequence(12)] },
  { epochMs: 5, unsigned: true, fields: [sequence(20), time(44)] },
  { epochMs: 1_700_000_000_000, tickMs: 3, fields: [time(20), sequence(12), node(31)] },
  { epochMs: 1_700_000_000_000, tickMs: 1000, fields: [time(31), node(1), sequence(31)] },
  { epochMs: start - 5, unsigned: true, fields: [time(11), node(1), sequence(52)] },
];

/** The first IDs of each tick are those that the layout composes, up to the end of the time field. */
function inEveryLayout() {
  const [want, got] = [[], []];
  for (const given of LAYOUTS) {
    const layout = Layout.from(given);
    const ticks = 2 ** layout.fields.find(({ kind }) => kind === "time").bits;
    const hasNode = layout.fields.some(({ kind }) => kind === "node");
    const parts = hasNode ? { node: 1 } : {};
    let shownMs = 0;
    const ids = new Snowflake({ layout, node: hasNode ? 1 : "none", now: () => shownMs, maxWaitMs: 0 });
    const endMs = layout.epochMs + ticks * layout.tickMs;
    const middle = Math.floor(ticks / 3);
    const first = Array.from({ length: WARM }, (_, tick) => tick);
    const starts = [...first, middle, middle + 1, ticks - 2, ticks - 1].map(
      (tick) => layout.epochMs + tick * layout.tickMs,
    );
    shownMs = layout.epochMs - 0.5;
    want.push("CLOCK_BEFORE_EPOCH");
    got.push(`${codeOf(ids.next)}`);
    for (const startsMs of starts) {
      shownMs = startsMs + layout.tickMs - 0.25;
      for (const sequence of [0, 1]) {
        want.push(`${layout.compose({ timestampMs: startsMs, sequence, ...parts })}`);
        got.push(`${codeOf(ids.next)}`);
      }
    }
    shownMs = endMs;
    want.push("TIME_EXHAUSTED");
    got.push(`${codeOf(ids.next)}`);
  }
  return { want, got };
}

/** Generators of one state see in a word that another one has minted, also in its last bits. */
function withWideWords() {
  const layout = { epochMs: 5, unsigned: true, fields: [time(44), sequence(20)] };
  const generators = [0, 0].map(() => new Snowflake({ layout, node: "none" }));
  const ids = [0, 1, 2].flatMap(() => {
    ms++;
    return generators.map((one) => one.next());
  });
  return { want: { inOrder: true }, got: { inOrder: increasing(ids) } };
}

/** Steps back are counted from what the clock showed when an ID was minted without the core. */
function countsSteps() {
  const ids = new Snowflake({ node: 6, maxLeadMs: 1000, maxWaitMs: 0, now: () => ms });
  const other = new Snowflake({ node: 6, maxLeadMs: 1000, maxWaitMs: 0 });
  const same = new Snowflake({ node: 6, maxLeadMs: 1000, maxWaitMs: 0 });
  warmUp(ids);
  other.next();
  ms += 1000;
  ids.next();
  same.next();
  ms -= 500;
  ids.next();
  other.next();
  const stepsOf = ({ stats }) => [stats().stepsBack, stats().largestStepBackMs];
  return { want: [1, 2, 3].map(() => [1, 500]), got: [ids, other, same].map(stepsOf) };
}

/** A step back is counted in full that follows a reading at which nothing was minted, however much is minted after it. */
function countsStepsAfterRefusals() {
  let shownMs = ms - WARM;
  const ids = new Snowflake({ node: 6, maxWaitMs: 0, now: () => shownMs });
  for (; shownMs < ms; shownMs++) ids.next();
  const endMs = ids.health().endsAt.getTime();
  shownMs = endMs + 1000;
  const refused = codeOf(ids.next);
  for (shownMs = ms + 1; shownMs < ms + 500; shownMs++) ids.next();
  const { stepsBack, largestStepBackMs } = ids.stats();
  return { want: ["TIME_EXHAUSTED", 1, endMs + 999 - ms], got: [refused, stepsBack, largestStepBackMs] };
}

/** A closed generator stays closed, also when its handle belongs to another one. */
function staysClosed() {
  const ids = new Snowflake({ node: 7, now: () => ms });
  warmUp(ids);
  ids.close();
  const another = new Snowflake({ node: 8, now: () => ms });
  warmUp(another);
  ms++;
  return { want: ["CLOSED", "CLOSED", "bigint"], got: [ids.next, ids.tryNext, another.next].map(kindOf) };
}

/** A generator issues nothing after close(), also if the module is stopped, so that close() throws. */
async function closesWithoutCore() {
  const { calls } = Snowflake.port().binding;
  const stop = (name) => {
    calls[name] = () => {
      throw Object.assign(new Error(), { code: "stopped" });
    };
  };
  stop("next");
  stop("reserve");
  const store = new MemoryLeaseStore();
  await store.init({ scope: "default", layout: "default" });
  const all = [new Snowflake({ node: 13 }), await lease(store)];
  stop("health");
  const got = all.map((ids) => {
    ms++;
    const before = kindOf(ids.next);
    const closing = kindOf(ids.close);
    ms++;
    return [before, closing, kindOf(ids.next)];
  });
  return { want: all.map(() => ["bigint", "stopped", "stopped"]), got };
}

/** A generator hears that one with a longer lead was opened, whose predecessor may have issued more. */
function beginsLater() {
  ms = Math.ceil(performance.timeOrigin) + 1;
  const ids = new Snowflake({ node: 9, maxLeadMs: 0, maxWaitMs: 0 });
  const got = [kindOf(ids.next)];
  new Snowflake({ node: 9, maxLeadMs: 10, maxWaitMs: 0 });
  ms++;
  got.push(kindOf(ids.next));
  ms += 10;
  got.push(kindOf(ids.next));
  return { want: ["bigint", "CLOCK_BACKWARD", "bigint"], got };
}

/** A lease mints in its window only, with the node id of the lease that is held. */
async function underLease() {
  const store = new MemoryLeaseStore();
  await store.init({ scope: "default", layout: "default" });
  const ids = await lease(store, { maxWaitMs: 0 });
  warmUp(ids);
  ms += 1000;
  const got = [Layout.named("default").decode(ids.next()).node];
  const want = [ids.node, "LEASE_EXPIRED", "bigint", "CLOSED"];
  ms += 60_000;
  got.push(kindOf(ids.next));
  ms -= 60_000 - 1;
  got.push(kindOf(ids.next));
  const closing = ids.close();
  ms++;
  got.push(kindOf(ids.next));
  await closing;
  return { want, got };
}

/** Copies of the package, in this realm and in a vm context, mint from one state, each on a line. */
function acrossCopies() {
  const path = createRequire(import.meta.url).resolve("frazil");
  const names = ["module", "exports", "require", "__filename", "__dirname"];
  const copyIn = (parsingContext) => {
    const module = { exports: {} };
    const load = vm.compileFunction(readFileSync(path, "utf8"), names, { parsingContext });
    load(module, module.exports, createRequire(path), path, dirname(path));
    return module.exports.Snowflake;
  };
  const context = vm.createContext({ process, console });
  vm.runInContext("Date", context).now = () => ms;
  const copies = [Snowflake, copyIn(), copyIn(context)].map((Class) => {
    const { calls } = Class.port().binding;
    const copy = { called: 0 };
    for (const name of ["next", "reserve"]) {
      const call = calls[name];
      calls[name] = (...given) => ++copy.called && call(...given);
    }
    copy.ids = new Class({ node: 30, maxWaitMs: 0 });
    return copy;
  });
  const issued = copies.flatMap(({ ids }) =>
    [1, 2, 3].map(() => {
      ms++;
      return ids.next();
    }),
  );
  for (let round = 0; round < 3000; round++) {
    ms += round % 2;
    issued.push(copies[(round % 7) % 3].ids.next());
  }
  const isOnLine = ({ ids, called }) => ids.stats().reservations - called > 100;
  const got = { repeats: repeatsOf(issued), onLine: copies.map(isOnLine) };
  return { want: { repeats: 0, onLine: [true, true, true] }, got };
}

/** The generators of one state file, which mint on the line from now on, and what ends them. */
function onFile(use) {
  const dir = mkdtempSync(join(tmpdir(), "frazil-line-"));
  ms = Math.floor(performance.timeOrigin + performance.now()) + 2000;
  Date.now = () => ms;
  const generators = [0, 1].map(() => Snowflake.local({ dir, maxWaitMs: 0 }));
  const mint = (rounds) => {
    for (let round = 0; round < rounds; round++)
      for (const { next } of generators) {
        ms++;
        next();
      }
  };
  try {
    mint(WARM);
    return use(generators, mint, join(dir, readdirSync(dir)[0]));
  } finally {
    for (const { close } of generators) close();
    rmSync(dir, { recursive: true });
  }
}

/** The first ID of a tick of a state file takes no call of the core, and a closed one issues nothing. */
const mintsFromFiles = () => {
  let count = 0;
  const { calls } = Snowflake.port().binding;
  for (const name of ["next", "reserve"]) {
    const call = calls[name];
    calls[name] = (...given) => ++count && call(...given);
  }
  return onFile(([one, other], mint) => {
    const before = count;
    mint(3);
    const ofLine = count - before;
    one.close();
    ms++;
    return { want: [0, "CLOSED", "bigint"], got: [ofLine, kindOf(one.next), kindOf(other.next)] };
  });
};

/** Nothing is issued from an older copy that is written over the file. */
const endsWithOlderContents = () =>
  onFile(([one, other], mint, path) => {
    const older = readFileSync(path);
    ms = one.health().file.ceilingMs + 10;
    mint(3);
    ms++;
    const last = kindOf(one.next);
    writeSync(openSync(path, "r+"), older);
    return { want: ["bigint", "STATE_FILE_CORRUPT"], got: [last, kindOf(other.next)] };
  });

/** Generators go on when the memory of the module has grown. */
function growsMemory() {
  const ids = new Snowflake({ node: 10, now: () => ms });
  const bytes = () => globalThis[Symbol.for("frazil")].connect().binding.memory.buffer.byteLength;
  ids.next();
  const before = bytes();
  const others = [];
  while (bytes() === before) others.push(new Snowflake({ node: 10, now: () => ms }));
  const issued = [];
  for (let round = 0; round < 10; round++) {
    ms += round % 2;
    issued.push(ids.next());
  }
  others[0].next();
  return { want: { inOrder: true }, got: { inOrder: increasing(issued) } };
}

/** A generator that is closed by the object that its clock shows issues nothing. */
function refusesObjects() {
  let shown = ms;
  Date.now = () => shown;
  const shared = new Snowflake({ node: 12, maxWaitMs: 0 });
  shared.next();
  // The block is looked at by two comparisons.
  let comparisons = 0;
  shown = {
    valueOf: () => {
      if (++comparisons > 2) shared.close();
      return ms + 1;
    },
  };
  return { want: "INVALID_CLOCK", got: kindOf(shared.tryNext) };
}

/** No program that replaces what is global mints while the word is read and written, as by a proxy of a view. */
function hasOwnViews() {
  const issued = [];
  let reads = 0;
  globalThis.Uint32Array = new Proxy(Uint32Array, {
    construct: (target, given) =>
      new Proxy(Reflect.construct(target, given), {
        get(view, name) {
          // After the lower half of the word, the upper one.
          if (++reads === 2) issued.push(other.next());
          return view[name];
        },
      }),
  });
  const { floor } = Math;
  Math.floor = (number) => {
    reads++;
    return floor(number);
  };
  const [ids, other] = [0, 1].map(() => new Snowflake({ node: 11, maxWaitMs: 0 }));
  for (let round = 0; round < 10; round++) {
    ms++;
    reads = 0;
    issued.push(ids.next());
  }
  return { want: { reads: 0, repeats: 0 }, got: { reads, repeats: repeatsOf(issued) } };
}

/** No function that replaces one of the language gets the memory of a state. */
async function givesNobodyTheMemory() {
  let isGiven = false;
  const takes = (given) => {
    isGiven ||= given.some((value) => ArrayBuffer.isView(value) || value instanceof ArrayBuffer);
  };
  const spy = (owner, name) => {
    const { value } = Object.getOwnPropertyDescriptor(owner, name);
    owner[name] = function (...given) {
      takes([this, ...given]);
      return Reflect.apply(value, this, given);
    };
  };
  for (const name of ["compareExchange", "load", "store"]) spy(Atomics, name);
  for (const name of ["map", Symbol.iterator, "push"]) {
    const { value } = Object.getOwnPropertyDescriptor(Array.prototype, name);
    Array.prototype[name] = function (...given) {
      for (let at = 0; at < this.length; at++) if (this[at] instanceof ArrayBuffer) isGiven = true;
      return Reflect.apply(value, this, given);
    };
  }
  for (let at = 0; at < 10; at++)
    Object.defineProperty(Object.prototype, at, {
      set(value) {
        takes([value, value?.word]);
        Object.defineProperty(this, at, { value, writable: true, enumerable: true, configurable: true });
      },
      configurable: true,
    });
  for (const name of ["BigUint64Array", "Float64Array", "Number"])
    globalThis[name] = new Proxy(globalThis[name], {
      construct(target, given) {
        takes(given);
        return Reflect.construct(target, given);
      },
    });
  const ids = new Snowflake({ node: 21 });
  for (let round = 0; round < 10; round++) {
    ms++;
    ids.next();
  }
  return { want: { isGiven: false }, got: { isGiven } };
}

/** A clock that shows no time gets no ID. */
function refusesWhatIsNoTime() {
  let shownMs = ms;
  const ids = new Snowflake({ node: 22, now: () => shownMs, maxWaitMs: 0 });
  for (let call = 0; call < WARM; call++) {
    shownMs = ++ms;
    ids.next();
  }
  const [issued, accepted] = [[], []];
  for (let round = 0; round < 10; round++) {
    shownMs = ++ms;
    issued.push(ids.next());
    for (shownMs of [Number.NaN, Infinity, -Infinity, -1, -0, 2 ** 53, 2 ** 64, 5e-324])
      if (kindOf(ids.next) === "bigint") accepted.push(`${shownMs}`);
  }
  return { want: { accepted: [], inOrder: true }, got: { accepted, inOrder: increasing(issued) } };
}

/** The first ID of a tick takes no call of the core, whatever else is open, and the second one takes one. */
async function asksNothing() {
  let count = 0;
  const { calls } = Snowflake.port().binding;
  const { next, reserve } = calls;
  calls.next = (...given) => ++count && next(...given);
  calls.reserve = (...given) => ++count && reserve(...given);
  const ids = new Snowflake({ node: 7 });
  const scattered = new Snowflake({ node: 8, sequenceStart: "random" });
  const store = new MemoryLeaseStore();
  await store.init({ scope: "default", layout: "default" });
  const leased = await lease(store);
  const [tried, awaited] = [9, 10].map((node) => new Snowflake({ node, unshared: true }));
  // On the addon a call of the core finds the line.
  const round = async () => {
    const { next, tryNext, nextString, nextAsync } = ids;
    const ofOthers = [leased.next, leased.tryNext, tried.tryNext, awaited.nextAsync];
    for (const call of [next, tryNext, nextString, nextAsync, ...ofOthers]) {
      ms++;
      await call();
    }
  };
  for (let rounds = 0; rounds < WARM; rounds++) await round();
  count = 0;
  for (let rounds = 0; rounds < 50; rounds++) await round();
  const ofFirst = count;
  ids.next();
  scattered.next();
  return { want: { ofFirst: 0, asks: true }, got: { ofFirst, asks: count > 1 } };
}

/** 64 calls of the core take no buffers, which are freed in a later turn only, unless all generators of the kind share them. */
function keepsNoBuffers() {
  const { lines } = Snowflake.port().binding;
  const { lineMemory } = lines;
  let count = 0;
  lines.lineMemory = (...given) => {
    count++;
    return lineMemory(...given);
  };
  const madeBy = (ids, calls) => {
    const before = count;
    for (let made = 0; made < calls; made++) {
      ms++;
      ids.next();
    }
    return count - before;
  };
  const open = (options) => new Snowflake({ node: 7, ...options });
  const own = [{ now: () => ms }, { unshared: true }];
  const made = own.flatMap((options) => [madeBy(open(options), 64), madeBy(open(options), 65)]);
  return { want: [0, 3, 0, 3, 3, 0], got: [...made, madeBy(open({}), 1), madeBy(open({}), 2)] };
}

const SCENARIOS = {
  asksNothing,
  keepsNoBuffers,
  onSharedState,
  inEveryLayout,
  withWideWords,
  countsSteps,
  countsStepsAfterRefusals,
  staysClosed,
  closesWithoutCore,
  beginsLater,
  underLease,
  growsMemory,
  refusesObjects,
  hasOwnViews,
  givesNobodyTheMemory,
  refusesWhatIsNoTime,
  acrossCopies,
  mintsFromFiles,
  endsWithOlderContents,
};
const outcome = await SCENARIOS[process.argv[2]]();
process.stdout.write(JSON.stringify(outcome), () => process.exit());
