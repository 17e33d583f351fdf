// A Worker that hands out the numbers of segments. The path of a request selects what to do; the response is the result.
import { DurableObject, env as moduleEnv } from "cloudflare:workers";
import { D1Store } from "frazil/stores/d1";
import { DurableObjectStore, FrazilLeases, leased, segmented } from "frazil/workers";
import { dataOf, refusal } from "./refusal.mjs";

const realNow = Date.now.bind(Date);
const { setTimeout: realTimeout } = globalThis;

/** How much the clock of the isolate has lost while it stood, or was moved ahead. */
let movedMs = 0;
/** What the clock shows while it stands. */
let stoppedMs;

const stop = () => {
  stoppedMs ??= Date.now();
};
/** The clock goes on, from where it stood. */
const goOn = () => {
  if (stoppedMs !== undefined) movedMs = stoppedMs - realNow();
  stoppedMs = undefined;
};
const move = (ms) => {
  if (stoppedMs === undefined) movedMs += ms;
  else stoppedMs += ms;
};

Date.now = () => stoppedMs ?? realNow() + movedMs;
performance.now = Date.now;
// While the clock stands no time is over. Requests look nevertheless.
globalThis.setTimeout = (run, ms) => (stoppedMs !== undefined && ms >= 1000 ? 0 : realTimeout(run, ms));

/** What a call at module scope throws. */
const atModuleScope = refusal(() => segmented(moduleEnv.FRAZIL, { tag: "orders" }));

/** The class that is shipped, with a call that aborts the object. */
export class TestLeases extends FrazilLeases {
  abortNow() {
    this.ctx.abort("aborted by a test");
  }
}

/** An object of a program, which numbers its things, in the isolate of the Worker. */
export class Numbering extends DurableObject {
  async next(given) {
    return { number: await segmented(sourceOf(this.env, given), given.options).nextString() };
  }

  /** Is aborted while it asks. */
  async die(given) {
    void this.next(given).catch(() => {});
    while (attempts.length === 0) await scheduler.wait(1);
    this.ctx.abort("aborted by a test");
  }
}

const numbering = (env) => env.NUMBERING.get(env.NUMBERING.idFromName("one"));

/**
 * For the calls of the store, in their order: how long they wait before they are carried out and after, until which names are released, and
 * by how much the clock moves when they are carried out.
 */
let delays = [];
/** The attempts that the store was asked for. */
const attempts = [];
/** How many of them it has carried out. */
let carriedOut = 0;
const released = new Set();
/** Whether the clock stands while the store is asked, so that no try is too slow. */
let standsWhileAsked = false;
let asked = 0;

async function until(name) {
  while (!released.has(name)) await scheduler.wait(5);
}

/** A store whose answers can be late, or lost. */
function delayed(env) {
  const store = new DurableObjectStore(env.FRAZIL);
  const allocate = async (request) => {
    const { beforeMs = 0, before, moveMs = 0, afterMs = 0, after, error } = delays.shift() ?? {};
    attempts.push(request.attempt);
    if (error === "lost before") throw new Error(error);
    if (beforeMs) await scheduler.wait(beforeMs);
    if (before) await until(before);
    const answer = await store.allocate(request);
    carriedOut++;
    move(moveMs);
    if (afterMs) await scheduler.wait(afterMs);
    if (after) await until(after);
    if (error) throw new Error(error);
    return answer;
  };
  return {
    name: "delayed",
    async allocate(request) {
      if (!standsWhileAsked) return allocate(request);
      asked++;
      stop();
      try {
        return await allocate(request);
      } finally {
        if (--asked === 0) goOn();
      }
    },
  };
}

let kept;
/** A promise that requests share, as a naive cache does. The request that made it looks until what it waits for is released. */
let shared;
let looks = 0;
let joined = 0;

function sourceOf(env, given) {
  if (given.source === "d1") return new D1Store(env.DB);
  if (given.source === "delayed") {
    kept ??= delayed(env);
    return kept;
  }
  return env.FRAZIL;
}

const open = ({ env, ctx, given }) =>
  given.ctx === false
    ? segmented(sourceOf(env, given), given.options)
    : segmented(sourceOf(env, given), ctx, given.options);

const plain = ({ problem, ...stats }) => ({ ...stats, problem: problem?.code });

const calls = {
  "module-scope": () => atModuleScope,
  init: async ({ env, given }) => {
    if (given.source === "d1") {
      const store = new D1Store(env.DB);
      await store.migrate();
      return store.initSegment(given.options);
    }
    return new DurableObjectStore(env.FRAZIL).initSegment(given.options);
  },
  /** Sets the delays, and forgets the attempts. */
  delays: ({ given }) => {
    delays = given.delays;
    attempts.length = 0;
    carriedOut = 0;
    released.clear();
    return null;
  },
  release: ({ given: { name } }) => {
    released.add(name);
    return null;
  },
  "carried-out": () => carriedOut,
  stop: () => {
    stop();
    return null;
  },
  "go-on": () => {
    goOn();
    return null;
  },
  move: ({ given: { ms } }) => {
    move(ms);
    return null;
  },
  "stand-while-asked": ({ given }) => {
    standsWhileAsked = given.isOn;
    return null;
  },
  attempts: () => attempts,
  joined: () => ({ joined, looks }),
  next: async (event) => {
    const numbers = open(event);
    const { ranges } = numbers.stats();
    const number = await numbers.nextString();
    return { number, isFirst: ranges === 0, stats: plain(numbers.stats()) };
  },
  many: async (event) => {
    const numbers = open(event);
    const { count, rounds = 1 } = event.given;
    const all = [];
    for (let round = 0; round < rounds; round++) {
      all.push(...(await numbers.nextManyStrings(count)));
      await scheduler.wait(round % 3);
    }
    return all;
  },
  try: (event) => {
    const number = open(event).tryNext();
    return { number: number === undefined ? null : `${number}` };
  },
  /** When a call began and ended in the isolate, and how it ended. */
  timed: async (event) => {
    const beganMs = Date.now();
    const ended = await open(event)
      .nextString()
      .then(
        (number) => ({ number }),
        (error) => dataOf(error),
      );
    return { ...ended, beganMs, endedMs: Date.now() };
  },
  /**
   * Keeps the isolate busy: its timers are late, by far more than a request waits between two looks. Returns when each round ended.
   */
  spin: async ({ given: { rounds, ms } }) => {
    const ended = [];
    while (ended.length < rounds) {
      const untilMs = Date.now() + ms;
      while (Date.now() < untilMs);
      ended.push(Date.now());
      await scheduler.wait(1);
    }
    return ended;
  },
  /**
   * Makes calls one after the other, 10 ms of the clock apart: as many, or until the store was asked so often by all requests. Returns
   * how many.
   */
  told: async (event) => {
    const { calls, tries } = event.given;
    let told = 0;
    for (; told < calls && attempts.length < tries; told++) {
      const { code } = await open(event).nextString().then(String, dataOf);
      if (code !== "STORE_NOT_INITIALISED") throw new Error(`call ${told}: ${code}`);
      move(10);
      await scheduler.wait(0);
    }
    return { told, tries: attempts.length };
  },
  /** Opens segments of many tags, and closes them. */
  tags: ({ env, ctx, given }) => {
    for (let tag = 0; tag < given.count; tag++) segmented(env.FRAZIL, ctx, { tag: `${given.name}-${tag}` }).close();
    return null;
  },
  stub: ({ env, ctx }) => {
    const stub = env.FRAZIL.get(env.FRAZIL.idFromName("one"));
    return [
      refusal(() => leased(stub, ctx)),
      refusal(() => segmented(stub, ctx, { tag: "stub" })),
      refusal(() => new DurableObjectStore(stub)),
    ];
  },
  "object-next": async ({ env, given }) => numbering(env).next(given),
  "object-dies": async ({ env, given }) =>
    numbering(env)
      .die(given)
      .then(String, (error) => error.message),
  signal: async (event) => open(event).nextString({ signal: AbortSignal.timeout(event.given.ms) }),
  stats: (event) => plain(open(event).stats()),
  close: async (event) => {
    const numbers = open(event);
    numbers.close();
    return { again: open(event) !== numbers, closed: numbers.stats().closed, after: refusal(numbers.tryNext) };
  },
  /** What options say that no JSON has, in calls after the first one. */
  "later-options": (event) => {
    open(event);
    const later = [{ step: Symbol("ten") }, { step: `${event.given.options.step}` }, { maxStep: 10n }];
    return later.map((more) => {
      const given = { ...event.given, options: { ...event.given.options, ...more } };
      return refusal(() => open({ ...event, given }));
    });
  },
  same: (event) => new Set([open(event), open(event)]).size === 1,
  abort: async ({ env, given }) => {
    const stub = env.FRAZIL.get(env.FRAZIL.idFromName(`segment/${given.tag}`));
    return stub.abortNow().then(String, (error) => error.message);
  },
  /** The next number from a range that requests share as a promise. */
  naive: async ({ env }) => {
    const fetchRange = async () => {
      for (; !released.has("naive"); looks++) await scheduler.wait(5);
      const holder = crypto.randomUUID().replaceAll("-", "");
      const request = { tag: "naive", count: 100, maxCount: 100, above: 0n, failoverSkip: 0, holder, attempt: holder };
      const { first } = await new DurableObjectStore(env.FRAZIL).allocate(request);
      return { next: first };
    };
    joined++;
    shared ??= fetchRange();
    const range = await shared;
    return `${range.next++}`;
  },
};

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    const given = JSON.parse(searchParams.get("given") ?? "{}");
    try {
      return Response.json(await calls[pathname.slice(1)]({ env, ctx, given }));
    } catch (error) {
      return Response.json({ error: dataOf(error) }, { status: 500 });
    }
  },
};
