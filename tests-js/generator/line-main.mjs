// A program of `line.test.mjs`: what must hold of IDs that are minted without a call of the core. Its argument names one of these; it
// prints whether that holds, as JSON. In a folder with a changed copy of the package it tests that copy.
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

const codeOf = (call) => {
  try {
    return call();
  } catch (error) {
    return error.code;
  }
};
const increasing = (ids) => ids.every((id, at) => at === 0 || ids[at - 1] < id);

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
  return all.length > 10_000 && new Set(all).size === all.length && issued.every(increasing);
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

/** Whether the first ID of each tick is the one that the layout composes, up to the end of the time field. */
function inEveryLayout() {
  return LAYOUTS.every((given) => {
    const layout = Layout.from(given);
    const ticks = 2 ** layout.fields.find(({ kind }) => kind === "time").bits;
    const hasNode = layout.fields.some(({ kind }) => kind === "node");
    const parts = hasNode ? { node: 1 } : {};
    let shownMs = 0;
    const ids = new Snowflake({ layout, node: hasNode ? 1 : "none", now: () => shownMs, maxWaitMs: 0 });
    const endMs = layout.epochMs + ticks * layout.tickMs;
    const middle = Math.floor(ticks / 3);
    const starts = [0, 1, 2, middle, middle + 1, ticks - 2, ticks - 1].map(
      (tick) => layout.epochMs + tick * layout.tickMs,
    );
    shownMs = layout.epochMs - 0.5;
    if (codeOf(ids.next) !== "CLOCK_BEFORE_EPOCH") return false;
    for (const startsMs of starts) {
      shownMs = startsMs + layout.tickMs - 0.25;
      if (ids.next() !== layout.compose({ timestampMs: startsMs, sequence: 0, ...parts })) return false;
      if (ids.next() !== layout.compose({ timestampMs: startsMs, sequence: 1, ...parts })) return false;
    }
    shownMs = endMs;
    return codeOf(ids.next) === "TIME_EXHAUSTED";
  });
}

/** Whether generators of one state see in a word that another one has minted, also in its last bits. */
function withWideWords() {
  const layout = { epochMs: 5, unsigned: true, fields: [time(44), sequence(20)] };
  const generators = [0, 0].map(() => new Snowflake({ layout, node: "none" }));
  const ids = [0, 1, 2].flatMap(() => {
    ms++;
    return generators.map((one) => one.next());
  });
  return increasing(ids);
}

/** Whether steps back are counted from what the clock showed when an ID was minted without the core. */
function countsSteps() {
  const ids = new Snowflake({ node: 6, maxLeadMs: 1000, maxWaitMs: 0, now: () => ms });
  const other = new Snowflake({ node: 6, maxLeadMs: 1000, maxWaitMs: 0 });
  const same = new Snowflake({ node: 6, maxLeadMs: 1000, maxWaitMs: 0 });
  ids.next();
  ids.next();
  other.next();
  ms += 1000;
  ids.next();
  same.next();
  ms -= 500;
  ids.next();
  other.next();
  return [ids, other, same].every((one) => one.stats().stepsBack === 1 && one.stats().largestStepBackMs === 500);
}

/** Whether a step back is counted in full that follows a reading at which nothing was minted, however much is minted after it. */
function countsStepsAfterRefusals() {
  let shownMs = ms;
  const ids = new Snowflake({ node: 6, maxWaitMs: 0, now: () => shownMs });
  ids.next();
  ids.next();
  const endMs = ids.health().endsAt.getTime();
  shownMs = endMs + 1000;
  const refused = codeOf(ids.next);
  for (shownMs = ms + 1; shownMs < ms + 500; shownMs++) ids.next();
  const { stepsBack, largestStepBackMs } = ids.stats();
  return refused === "TIME_EXHAUSTED" && stepsBack === 1 && largestStepBackMs === endMs + 999 - ms;
}

/** Whether a closed generator stays closed, also when its handle belongs to another one. */
function staysClosed() {
  const ids = new Snowflake({ node: 7, now: () => ms });
  ids.next();
  ids.next();
  ids.close();
  const another = new Snowflake({ node: 8, now: () => ms });
  for (let calls = 0; calls < 2; calls++) {
    ms++;
    another.next();
  }
  ms++;
  return codeOf(ids.next) === "CLOSED" && codeOf(ids.tryNext) === "CLOSED" && typeof another.next() === "bigint";
}

/** Whether a generator issues nothing after close(), also if the module is stopped, so that close() throws. */
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
  return all.every((ids) => {
    ms++;
    const before = typeof codeOf(ids.next);
    const closing = codeOf(ids.close);
    ms++;
    return before === "bigint" && closing === "stopped" && codeOf(ids.next) === "stopped";
  });
}

/** Whether a generator hears that one with a longer lead was opened, of which a predecessor may have issued more. */
function beginsLater() {
  ms = Math.ceil(performance.timeOrigin) + 1;
  const ids = new Snowflake({ node: 9, maxLeadMs: 0, maxWaitMs: 0 });
  const first = codeOf(ids.next);
  new Snowflake({ node: 9, maxLeadMs: 10, maxWaitMs: 0 });
  ms++;
  const refused = codeOf(ids.next);
  ms += 10;
  return typeof first === "bigint" && refused === "CLOCK_BACKWARD" && typeof ids.next() === "bigint";
}

/** Whether a lease mints in its window only, with the node id of the lease that is held. */
async function underLease() {
  const store = new MemoryLeaseStore();
  await store.init({ scope: "default", layout: "default" });
  const ids = await lease(store, { maxWaitMs: 0 });
  ids.next();
  ms += 1000;
  const first = Layout.named("default").decode(ids.next()).node === ids.node;
  ms += 60_000;
  const expired = codeOf(ids.next);
  ms -= 60_000 - 1;
  const back = typeof ids.next();
  const closing = ids.close();
  ms++;
  const closed = codeOf(ids.next);
  await closing;
  return first && expired === "LEASE_EXPIRED" && back === "bigint" && closed === "CLOSED";
}

/** Whether copies of the package, in this realm and in a vm context, mint from one state, each on a line. */
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
  // Copies on WebAssembly have the same calls.
  let minting;
  const copies = [Snowflake, copyIn(), copyIn(context)].map((Class) => {
    const { calls } = Class.port().binding;
    const copy = { called: 0 };
    copy.next = () => {
      minting = copy;
      return copy.ids.next();
    };
    const { reserve } = calls;
    calls.reserve = (...given) => {
      if (minting === copy) copy.called++;
      return reserve(...given);
    };
    copy.ids = new Class({ node: 30, maxWaitMs: 0 });
    return copy;
  });
  const issued = copies.flatMap(({ next }) =>
    [1, 2, 3].map(() => {
      ms++;
      return next();
    }),
  );
  for (let round = 0; round < 3000; round++) {
    ms += round % 2;
    issued.push(copies[(round % 7) % 3].next());
  }
  return (
    new Set(issued).size === issued.length && copies.every(({ ids, called }) => ids.stats().reservations - called > 100)
  );
}

/** The generators of one state file, which mint on the line from now on, and what ends them. */
function onFile(use) {
  const dir = mkdtempSync(join(tmpdir(), "frazil-line-"));
  ms = Math.floor(performance.timeOrigin + performance.now()) + 2000;
  Date.now = () => ms;
  const generators = [0, 1].map(() => Snowflake.local({ dir, maxWaitMs: 0 }));
  const warm = () => {
    for (let round = 0; round < 3; round++)
      for (const { next } of generators) {
        ms++;
        next();
      }
  };
  try {
    warm();
    return use(generators, warm, join(dir, readdirSync(dir)[0]));
  } finally {
    for (const { close } of generators) close();
    rmSync(dir, { recursive: true });
  }
}

/** Whether the first ID of a tick of a state file takes no call of the core, and a closed one issues nothing. */
const mintsFromFiles = () => {
  let count = 0;
  const { calls } = Snowflake.port().binding;
  for (const name of ["next", "reserve"]) {
    const call = calls[name];
    calls[name] = (...given) => ++count && call(...given);
  }
  return onFile(([one, other], warm) => {
    const before = count;
    warm();
    const ofWarm = count - before;
    one.close();
    ms++;
    return ofWarm === 0 && codeOf(one.next) === "CLOSED" && typeof other.next() === "bigint";
  });
};

/** Whether nothing is issued from an older copy that is written over the file. */
const endsWithOlderContents = () =>
  onFile(([one, other], warm, path) => {
    const older = readFileSync(path);
    ms = one.health().file.ceilingMs + 10;
    warm();
    ms++;
    const last = one.next();
    writeSync(openSync(path, "r+"), older);
    const after = codeOf(other.next);
    return typeof last === "bigint" && after === "STATE_FILE_CORRUPT";
  });

/** Whether generators go on when the memory of the module has grown. */
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
  return increasing(issued);
}

/** Whether a call of the core for one ID finds it in a memory that has grown, and takes no second one. */
async function findsIds() {
  const { memory } = globalThis[Symbol.for("frazil")]?.connect().binding ?? Snowflake.port().binding;
  const ids = new Snowflake({ node: 10, layout: "multi-clock", now: () => ms });
  const issued = [];
  for (const call of [ids.next, ids.tryNext, ids.nextAsync])
    for (let round = 0; round < 10; round++) {
      ms++;
      if (round % 2) memory.grow(1);
      issued.push(await call());
    }
  return increasing(issued) && issued.every((id) => ids.decode(id).sequence === 0) && ids.stats().issued === 30;
}

/** Whether a generator that is closed by the object that its clock shows issues nothing. */
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
  return typeof codeOf(shared.tryNext) === "string";
}

/** Whether no program that replaces what is global mints while the word is read and written, as by a proxy of a view. */
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
  return reads === 0 && new Set(issued).size === issued.length;
}

/** Whether no function that a program puts in the place of one of the language gets the memory of a state. */
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
  return !isGiven;
}

/** Whether a clock that shows no time gets no ID. */
function refusesWhatIsNoTime() {
  let shownMs = ms;
  const ids = new Snowflake({ node: 22, now: () => shownMs, maxWaitMs: 0 });
  const issued = [];
  for (let round = 0; round < 10; round++) {
    shownMs = ++ms;
    issued.push(ids.next());
    for (shownMs of [Number.NaN, Infinity, -Infinity, -1, -0, 2 ** 53, 2 ** 64, 5e-324])
      if (typeof codeOf(ids.next) !== "string") return false;
  }
  return new Set(issued).size === 10 && increasing(issued);
}

/** Whether the first ID of a tick takes no call of the core, whatever else is open, and the second one takes one. */
async function asksNothing() {
  let count = 0;
  const { calls } = Snowflake.port().binding;
  const { reserve } = calls;
  calls.reserve = (...given) => ++count && reserve(...given);
  const ids = new Snowflake({ node: 7 });
  const scattered = new Snowflake({ node: 8, sequenceStart: "random" });
  const store = new MemoryLeaseStore();
  await store.init({ scope: "default", layout: "default" });
  const leased = await lease(store);
  const [tried, awaited] = [9, 10].map((node) => new Snowflake({ node, unshared: true }));
  // On the addon the first calls find the line.
  const round = async () => {
    const { next, tryNext, nextString, nextAsync } = ids;
    const ofOthers = [leased.next, leased.tryNext, tried.tryNext, awaited.nextAsync];
    for (const call of [next, tryNext, nextString, nextAsync, ...ofOthers]) {
      ms++;
      await call();
    }
  };
  await round();
  await round();
  count = 0;
  for (let rounds = 0; rounds < 50; rounds++) await round();
  const ofFirst = count;
  ids.next();
  scattered.next();
  return ofFirst === 0 && count > 1;
}

/** Whether one ID alone takes no buffers, which are freed in a later turn only, unless all generators of its kind share them. */
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
  const made = own.flatMap((options) => [madeBy(open(options), 1), madeBy(open(options), 2)]);
  return `${[...made, madeBy(open({}), 1), madeBy(open({}), 2)]}` === "0,3,0,3,3,0";
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
  findsIds,
  refusesObjects,
  hasOwnViews,
  givesNobodyTheMemory,
  refusesWhatIsNoTime,
  acrossCopies,
  mintsFromFiles,
  endsWithOlderContents,
};
const holds = await SCENARIOS[process.argv[2]]();
process.stdout.write(JSON.stringify(holds), () => process.exit());
