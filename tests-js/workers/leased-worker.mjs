// A Worker that mints under leases. The path of a request selects what to do; the response is the result.
import { DurableObject, env as moduleEnv } from "cloudflare:workers";
import { lease } from "frazil/lease";
import { D1Store } from "frazil/stores/d1";
import { DurableObjectStore, FrazilLeases, leased, segmented } from "frazil/workers";
import { dataOf, refusal } from "./refusal.mjs";

const realNow = Date.now.bind(Date);

/** How much time has passed that no test waited for: for the isolate, its objects, and the stores that are right. */
let passedMs = 0;
const rightNow = () => realNow() + passedMs;

/** What a call at module scope throws. */
const atModuleScope = refusal(() => leased(moduleEnv.FRAZIL));

const refusalAsync = (promise) =>
  Promise.resolve(promise).then(
    (value) => ({ returned: String(value) }),
    (error) => dataOf(error),
  );

/** The class that is shipped, with a call that aborts the object. */
export class TestLeases extends FrazilLeases {
  abortNow() {
    this.ctx.abort("aborted by a test");
  }
}

/** An object of another class, whose methods have the same names. It replies with what its name says. */
export class Odd extends DurableObject {
  acquire(request) {
    return {
      text: "yes",
      empty: {},
      none: undefined,
      error: { error: {} },
      code: { error: { code: "HACK", message: "m" } },
      details: {
        error: {
          code: "STORE_UNAVAILABLE",
          message: "m",
          details: { code: "HACK", message: 5, name: 6, retryAfterMs: "x" },
        },
      },
    }[request.scope];
  }
}

/** An object of a program, which mints under a lease as well. */
export class Minting extends DurableObject {
  async mint(options) {
    const ids = kept(options, await leased(this.env.FRAZIL, options));
    return { id: ids.nextString(), node: ids.node, stats: ids.stats().lease };
  }
}

/** The namespaces that requests were given. */
const namespaces = new Set();

/** The generators that a test looks at without a call of `leased()`, which would have the store asked. By scope. */
const generators = new Map();

function kept({ scope = "default" } = {}, ids) {
  generators.set(scope, ids);
  return ids;
}

/** All IDs of the isolate, in the order in which they were issued. */
const issued = [];

/** Whether the clock is that of production: it stands still within an event, and shows each event another time. */
let isStill = false;
let stillMs = 0;
let events = 0;

/** An event begins. Every other one sees a clock that is 200 ms behind. */
function tick() {
  stillMs = rightNow() - (events++ % 2) * 200;
}

/** How far the clock of the isolate is ahead. */
let aheadMs = 0;

Date.now = () => (isStill ? stillMs : rightNow() + aheadMs);
performance.now = Date.now;
const { setTimeout: realTimeout } = globalThis;
globalThis.setTimeout = (run, ms) =>
  realTimeout(() => {
    tick();
    run();
  }, ms);

/** How many requests have begun to wait for an answer that is late, or for the promise of another request. */
let waits = 0;

function late(ms) {
  waits++;
  return scheduler.wait(ms);
}

/** A store whose answers are events. `delaysMs`: how late the answers of the calls are, in their order. */
function eventStore(env, delaysMs = []) {
  const store = new DurableObjectStore(env.FRAZIL);
  const verb = (name) => async (request) => {
    const delayMs = delaysMs.shift();
    if (delayMs) await late(delayMs);
    try {
      return await store[name](request);
    } finally {
      tick();
    }
  };
  const verbs = ["acquire", "renew", "release", "ensure"];
  return { name: "events", ...Object.fromEntries(verbs.map((name) => [name, verb(name)])) };
}

/** A store with a clock of its own, which is right. */
const rightStore = () => {
  const grant = async ({ grant, windowMs }) => {
    const storeNowMs = rightNow();
    return { granted: true, grant, node: 1, fromMs: 0, untilMs: storeNowMs + windowMs, storeNowMs };
  };
  return { name: "right", acquire: grant, renew: grant, release: async () => true, ensure: async () => {} };
};

/** What the runtime has said of rejections that nobody handles. */
const unhandled = [];
addEventListener("unhandledrejection", ({ reason }) => unhandled.push(String(reason?.message)));

const stores = {};
/** A promise that requests share, as a naive cache does. The request that made it looks until what it waits for is there. */
let shared;
let looks = 0;
let isThere = false;

const calls = {
  "module-scope": () => atModuleScope,
  namespaces: ({ env }) => {
    namespaces.add(env.FRAZIL);
    return namespaces.size;
  },
  /** A program that forgot to wait: while the isolate has no lease, and once it has one. */
  unawaited: async ({ env, ctx, given }) => {
    const promise = leased(env.FRAZIL, ctx, given.options);
    const first = refusal(() => promise.next());
    await promise;
    return { first, later: refusal(() => leased(env.FRAZIL, ctx, given.options).next()) };
  },
  /** An ID, how `leased()` returned, and what the lease did until then. */
  id: async ({ env, ctx, given }) => {
    if (given.epoch) given.options.epochMs = new Date(given.epoch);
    const got = given.ctx ? leased(env.FRAZIL, ctx, given.options) : leased(env.FRAZIL, given.options ?? {});
    const isPromise = got instanceof Promise;
    const ids = kept(given.options, await got);
    const id = given.isAsync ? await ids.nextStringAsync() : ids.nextString();
    return { isPromise, id, node: ids.node, layout: ids.layout.name, stats: ids.stats().lease, health: ids.health() };
  },
  /** What a lease did until now, and whether an ID can be minted. Has nothing asked. */
  stats: ({ given: { scope } }) => {
    const { refusal } = generators.get(scope).health();
    return { ...generators.get(scope).stats().lease, code: refusal?.code ?? null };
  },
  /** Time passes, without that anybody waits. */
  pass: ({ given: { ms } }) => {
    passedMs += ms;
    return passedMs;
  },
  waits: () => waits,
  looks: () => looks,
  /** What the shared promise waits for is there. */
  there: () => {
    isThere = true;
    return null;
  },
  /** An ID under a lease of the database. */
  d1: async ({ env, ctx, given }) => (await leased(new D1Store(env.DB), ctx, given)).nextString(),
  /** Runs statements in the database, as wrangler does. */
  sql: async ({ env, given }) => (await env.DB.batch(given.map((sql) => env.DB.prepare(sql)))).length,
  /** Synchronous calls alone, as of a program that kept the generator. */
  next: async ({ env, ctx, given }) => {
    const { options } = given;
    const ids = generators.get(options.scope) ?? kept(options, await leased(env.FRAZIL, ctx, options));
    return refusal(ids.nextString);
  },
  /** What options say that no JSON has, in calls after the first one. */
  "later-options": async ({ env, ctx, given: { options } }) => {
    await leased(env.FRAZIL, ctx, options);
    const later = [{ windowMs: 300_000n }, { owner: Symbol("me") }, { time: "store" }, { epochMs: 1 }];
    return later.map((more) => refusal(() => leased(env.FRAZIL, ctx, { ...options, ...more })));
  },
  /** `lease()`, with timers that run as long as the request does. */
  lease: async ({ env, given }) => {
    const ids = await lease(new DurableObjectStore(env.FRAZIL), given.options);
    const id = ids.nextString();
    await ids.close();
    return { id, after: refusal(ids.next) };
  },
  close: async ({ env, ctx, given }) => {
    const ids = await leased(env.FRAZIL, ctx, given.options);
    await ids.close();
    return { after: refusal(ids.next), node: ids.node ?? null };
  },
  /** What `leased()` returns for an object of options that is changed between two calls. */
  "changed-options": async ({ env, ctx }) => {
    const isSame = async (options, change) => {
      const first = await leased(env.FRAZIL, ctx, options);
      await leased(env.FRAZIL, ctx, options);
      change();
      const second = await leased(env.FRAZIL, ctx, options);
      return { isSame: first === second, equal: first.node === second.node };
    };
    const plain = { scope: "shop" };
    let scope = "getter-a";
    const getter = Object.freeze({
      get scope() {
        return scope;
      },
    });
    const proxied = new Proxy(Object.freeze({}), {});
    const inherited = Object.create({ scope: "inherited" });
    return {
      changed: await isSame(plain, () => {
        plain.scope = "orders";
      }),
      getter: await isSame(getter, () => {
        scope = "getter-b";
      }),
      same: await isSame({ scope: "stays" }, () => {}),
      proxied: await isSame(proxied, () => {}),
      inherited: refusal(() => leased(env.FRAZIL, ctx, inherited)).code,
      layout: await (async () => {
        const options = { scope: "layouts", layout: { ...(await leased(env.FRAZIL, ctx)).layout.toJSON() } };
        await leased(env.FRAZIL, ctx, options);
        options.layout.fields = options.layout.fields.map(({ kind, bits }) => ({
          kind,
          bits: bits - (kind === "time"),
        }));
        return refusal(() => leased(env.FRAZIL, ctx, options));
      })(),
    };
  },
  /** A call with a context that something has wrapped. */
  "wrapped-ctx": async ({ env, ctx, given: { kind, options } }) => {
    const { waitUntil } = ctx;
    const wrapped = {
      proxy: new Proxy(ctx, {}),
      taken: { waitUntil },
      throws: {
        waitUntil() {
          throw new Error("no");
        },
      },
      rejects: {
        async waitUntil() {
          throw new Error("no, later");
        },
      },
    }[kind];
    const ids = kept(options, await leased(env.FRAZIL, wrapped, options));
    return { id: ids.nextString(), node: ids.node, stats: ids.stats().lease, unhandled };
  },
  /** As a library does that wraps `env` in each request. */
  "wrapped-env": async ({ env, ctx, given: { options, close } }) => {
    const ids = await leased(
      new Proxy(env.FRAZIL, { get: (target, name) => target[name]?.bind(target) }),
      ctx,
      options,
    );
    const { node } = ids;
    if (close) await ids.close();
    return node;
  },
  /** How many sources, each of which is another object, get a generator in one request, and why the next one is refused. */
  "wrapped-envs": async (event) => {
    for (let got = 0; got < 40; got++) {
      const refused = await calls["wrapped-env"](event).then(() => undefined, dataOf);
      if (refused) return { got, code: refused.code, field: refused.field };
    }
    return { got: 40 };
  },
  /** What `using` and `await using` do at the end of a block. */
  using: async ({ env, ctx, given: { options } }) => {
    const ids = await leased(env.FRAZIL, ctx, options);
    const before = ids.nextString();
    ids[Symbol.dispose]();
    await ids[Symbol.asyncDispose]();
    const orders = segmented(env.FRAZIL, ctx, { tag: "orders" });
    orders[Symbol.dispose]();
    return {
      before,
      after: ids.nextString(),
      node: ids.node,
      isKept: orders === segmented(env.FRAZIL, ctx, { tag: "orders" }),
    };
  },
  /** A scope whose node ids are all held. */
  exhausted: async ({ env, ctx, given: { scope } }) => {
    const store = (node) => new DurableObjectStore(env.FRAZIL, { nodes: { from: node, to: node } });
    const options = { scope, layout: "edge", maxAsyncWaitMs: 300 };
    const first = await lease(store(5), { ...options, windowMs: 30_000 });
    const second = await refusalAsync(lease(store(5), options));
    const isolate = await refusalAsync(leased(store(5), ctx, options));
    await first.close();
    return { lease: second, leased: isolate };
  },
  ahead: ({ given: { ms } }) => {
    aheadMs = ms;
    return ms;
  },
  /** A call to a store whose clock is right. */
  right: async ({ ctx, given: { options } }) => {
    stores.right ??= rightStore();
    try {
      return refusal((await leased(stores.right, ctx, options)).nextString);
    } catch (error) {
      return dataOf(error);
    }
  },
  /** What `leased()` returns for several scopes: whether at once, and whether an ID can be minted. */
  "all-right": async ({ ctx, given }) => {
    stores.right ??= rightStore();
    const outcomes = [];
    for (const options of given) {
      const got = leased(stores.right, ctx, options);
      const ids = await got;
      const { refusal, lease } = ids.health();
      outcomes.push({ isPromise: got instanceof Promise, code: refusal?.code ?? null, lease });
    }
    return outcomes;
  },
  /** Whether `leased()` has to ask that store, or finds its lease. Nothing else has the core look, as `health()` does. */
  "right-quietly": async ({ ctx, given }) => {
    stores.right ??= rightStore();
    const got = leased(stores.right, ctx, given);
    await got;
    return got instanceof Promise;
  },
  /** An answer that is refused, and what the runtime says of it. */
  "bad-answer": async ({ ctx }) => {
    const bad = async () => ({ granted: false, reason: "because" });
    const worse = async ({ grant }) => ({ granted: true, grant, node: -1, fromMs: 0, untilMs: 1, storeNowMs: 0 });
    const errors = [];
    for (const acquire of [bad, worse]) {
      const store = { ...rightStore(), acquire };
      errors.push((await refusalAsync(leased(store, ctx, { maxAsyncWaitMs: 100 }))).code);
    }
    await scheduler.wait(20);
    return { errors, unhandled };
  },
  odd: async ({ env, given: { scope } }) => {
    const store = new DurableObjectStore(env.ODD);
    const hex = "0".repeat(32);
    const request = {
      scope,
      grant: hex,
      nonce: hex,
      owner: "o",
      windowMs: 1000,
      layout: "1 1ms time41 node14 sequence8",
    };
    return refusalAsync(store.acquire(request));
  },
  abort: async ({ env, given }) => {
    const stub = env.FRAZIL.get(env.FRAZIL.idFromName(`lease/${given.scope}`));
    return stub.abortNow().then(String, (error) => error.message);
  },
  still: ({ given }) => {
    isStill = given.isStill;
    return isStill;
  },
  /** Mints with I/O between. */
  mint: async ({ env, ctx, given }) => {
    stores.events ??= eventStore(env);
    const ids = await leased(stores.events, ctx, given.options);
    const take = (id) => issued.push(id);
    for (let at = 0; at < given.rounds; at++) {
      for (let count = 0; count < 20; count++) take(ids.next());
      await new Promise((resolve) => setTimeout(resolve, 1 + (at % 3)));
    }
    const awaited = await ids.nextManyAsync(20);
    return { awaited: awaited.map(String), stats: ids.stats().lease };
  },
  /** How many IDs there are in one event, and why there is no further one. */
  burst: async ({ env, ctx, given }) => {
    const ids = await leased(env.FRAZIL, ctx, given.options);
    const target = new BigUint64Array(1024);
    const seen = new Set();
    for (;;) {
      try {
        for (const id of ids.fill(target)) seen.add(id);
      } catch (error) {
        for (const id of target.subarray(0, error.issued)) seen.add(id);
        return { count: seen.size, ...dataOf(error) };
      }
    }
  },
  "in-an-object": ({ env, given }) => env.MINTING.get(env.MINTING.idFromName("one")).mint(given.options),
  issued: () => issued.map(String),
  /** Acquires. The first request that asks is answered late. */
  slow: async ({ env, ctx, given }) => {
    stores.slow ??= eventStore(env, [given.delayMs]);
    const ids = await leased(stores.slow, ctx, given.options);
    return { id: ids.nextString(), stats: ids.stats().lease };
  },
  /** The same with a promise that all requests share. */
  naive: async ({ env, ctx, given }) => {
    const acquire = async () => {
      waits++;
      for (; !isThere; looks++) await scheduler.wait(5);
      return leased(env.FRAZIL, ctx, given.options);
    };
    if (shared) waits++;
    shared ??= acquire();
    const ids = await shared;
    return { id: ids.nextString() };
  },
  constant: () => "382138004275228672",
  plain: async ({ env, ctx }) => (await leased(env.FRAZIL, ctx)).nextString(),
  /** Nanoseconds of a call, by the clock of a runtime that is not production. */
  cost: async ({ env, ctx, given }) => {
    const { count } = given;
    const options = given.options;
    const ids = await leased(env.FRAZIL, ctx, options);
    const timed = async (run) => {
      const beganMs = realNow();
      await run();
      return ((realNow() - beganMs) * 1e6) / count;
    };
    const empty = await timed(async () => {
      for (let at = 0; at < count; at++) await ids;
    });
    const now = await timed(async () => {
      for (let at = 0; at < count; at++) Date.now();
    });
    const call = await timed(() => {
      for (let at = 0; at < count; at++) leased(env.FRAZIL, ctx, options);
    });
    const awaited = await timed(async () => {
      for (let at = 0; at < count; at++) await leased(env.FRAZIL, ctx, options);
    });
    const literal = await timed(() => {
      for (let at = 0; at < count; at++) leased(env.FRAZIL, ctx, { scope: "default", windowMs: 300_000 });
    });
    return { empty, now, call, awaited, ...(options && { literal }) };
  },
};

export default {
  async fetch(request, env, ctx) {
    tick();
    const { pathname, searchParams } = new URL(request.url);
    const given = JSON.parse(searchParams.get("given") ?? "{}");
    const call = calls[pathname.slice(1)];
    try {
      return Response.json(await call({ env, ctx, given }));
    } catch (error) {
      return Response.json({ error: dataOf(error) }, { status: 500 });
    }
  },
};
