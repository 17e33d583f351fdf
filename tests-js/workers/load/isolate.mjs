// A Worker that mints under a lease, in an isolate whose clock is wrong. The loader of router.mjs starts it.
import { env } from "cloudflare:workers";
import { DurableObjectStore, leased } from "frazil/workers";

const realNow = Date.now.bind(Date);
/** The clock of this isolate alone. */
const wrongNow = () => realNow() + env.SKEW_MS;
Date.now = wrongNow;
performance.now = wrongNow;

/** A loader hands over no namespace of objects, but an entry point of the Worker that has one. */
const namespace = {
  idFromName: (name) => name,
  get: (name) => ({
    acquire: (request) => env.OBJECTS.call(name, "acquire", request),
    renew: (request) => env.OBJECTS.call(name, "renew", request),
    release: (request) => env.OBJECTS.call(name, "release", request),
    ensure: (request) => env.OBJECTS.call(name, "ensure", request),
  }),
};
const store = new DurableObjectStore(namespace, { nodes: env.NODES });

/** The answer: the IDs as bytes, and how they came about in a header. */
function answer(ids, about) {
  return new Response(ids, { headers: { "content-type": "application/octet-stream", about: JSON.stringify(about) } });
}

/** The generator of this isolate, once there is one. */
let generator;

/** The lease that is held, up to when IDs of it were minted, and what became of the leases so far. */
function leaseNow() {
  if (generator === undefined) return {};
  const { leadMs, lease } = generator.health();
  const { acquired, renewed, lost } = generator.stats().lease;
  const nowMs = wrongNow();
  return { node: lease.node, untilMs: lease.untilMs, nowMs, usedMs: nowMs + leadMs, acquired, renewed, lost };
}

export default {
  async fetch(request, _, ctx) {
    const { searchParams } = new URL(request.url);
    const target = new BigUint64Array(Number(searchParams.get("count")));
    let isWaiting;
    try {
      const got = leased(store, ctx, env.OPTIONS);
      isWaiting = got instanceof Promise;
      generator = isWaiting ? await got : got;
      generator.fill(target);
      const about = { isWaiting, ...leaseNow() };
      if (searchParams.has("close")) ctx.waitUntil(generator.close());
      return answer(target, about);
    } catch (error) {
      const { code, message, retryable, issued = 0 } = error;
      return answer(target.subarray(0, issued), { isWaiting, ...leaseNow(), error: { code, message, retryable } });
    }
  },
};
