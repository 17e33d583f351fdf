// A Worker that mints under leases. The path of a request selects what to do; the response is the result.
import { DurableObject, env as moduleEnv } from "cloudflare:workers";
import { FrazilError } from "frazil";
import { DurableObjectStore, FrazilLeases, leased } from "frazil/workers";

const realNow = Date.now.bind(Date);

/** What a call at module scope throws. */
const atModuleScope = refusal(() => leased(moduleEnv.FRAZIL));

function refusal(call) {
  try {
    return { returned: String(call()) };
  } catch (error) {
    return dataOf(error);
  }
}

function dataOf(error) {
  const { code, message, field, retryAfterMs, retryable } = error;
  return { ours: FrazilError.is(error), code, message, field, retryAfterMs, retryable };
}

/** The class that is shipped, with a call that aborts the object. */
export class TestLeases extends FrazilLeases {
  abortNow() {
    this.ctx.abort("aborted by a test");
  }
}

/** An object of a program, which mints under a lease as well. */
export class Minting extends DurableObject {
  async mint(options) {
    const ids = await leased(this.env.FRAZIL, options);
    return { id: ids.nextString(), node: ids.node, stats: ids.stats().lease };
  }
}

/** The namespaces that requests were given. */
const namespaces = new Set();

/** All IDs of the isolate, in the order in which they were issued. */
const issued = [];

/** Whether the clock is that of production: it stands still within an event, and shows each event another time. */
let isStill = false;
let stillMs = 0;
let events = 0;

/** An event begins. Every other one sees a clock that is 200 ms behind. */
function tick() {
  stillMs = realNow() - (events++ % 2) * 200;
}

Date.now = () => (isStill ? stillMs : realNow());
performance.now = Date.now;
const { setTimeout: realTimeout } = globalThis;
globalThis.setTimeout = (run, ms) =>
  realTimeout(() => {
    tick();
    run();
  }, ms);

/** A store whose answers are events. `delayMs`: how long the calls of each request wait, in their order. */
function eventStore(env, delaysMs = []) {
  const store = new DurableObjectStore(env.FRAZIL);
  const verb = (name) => async (request) => {
    const delayMs = delaysMs.shift();
    if (delayMs) await scheduler.wait(delayMs);
    try {
      return await store[name](request);
    } finally {
      tick();
    }
  };
  const verbs = ["acquire", "renew", "release", "ensure"];
  return { name: "events", ...Object.fromEntries(verbs.map((name) => [name, verb(name)])) };
}

const stores = {};
/** A promise that requests share, as a naive cache does. */
let shared;

const calls = {
  "module-scope": () => atModuleScope,
  namespaces: ({ env }) => {
    namespaces.add(env.FRAZIL);
    return namespaces.size;
  },
  /** An ID, how `leased()` returned, and what the lease did until then. */
  id: async ({ env, ctx, given }) => {
    const got = given.ctx ? leased(env.FRAZIL, ctx, given.options) : leased(env.FRAZIL, given.options ?? {});
    const isPromise = got instanceof Promise;
    const ids = await got;
    const id = given.isAsync ? await ids.nextStringAsync() : ids.nextString();
    return { isPromise, id, node: ids.node, layout: ids.layout.name, stats: ids.stats().lease, health: ids.health() };
  },
  /** Synchronous calls alone, as of a program that kept the generator. */
  next: async ({ env, ctx, given }) => {
    const ids = stores.kept ?? (await leased(env.FRAZIL, ctx, given.options));
    stores.kept = ids;
    return refusal(ids.nextString);
  },
  close: async ({ env, ctx, given }) => {
    const ids = await leased(env.FRAZIL, ctx, given.options);
    await ids.close();
    return { after: refusal(ids.next), node: ids.node ?? null };
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
      await scheduler.wait(given.delayMs);
      return leased(env.FRAZIL, ctx, given.options);
    };
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
