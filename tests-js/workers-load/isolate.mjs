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

const failure = ({ code, message }) => ({ code: code ?? "?", message });

export default {
  async fetch(request, _, ctx) {
    const { searchParams } = new URL(request.url);
    const target = new BigUint64Array(Number(searchParams.get("count")));
    let issued = 0;
    let isWaiting;
    try {
      const got = leased(store, ctx, env.OPTIONS);
      isWaiting = got instanceof Promise;
      const ids = isWaiting ? await got : got;
      try {
        ids.fill(target);
        issued = target.length;
      } catch (error) {
        issued = error.issued ?? 0;
        throw error;
      }
      const { leadMs, lease } = ids.health();
      const { node, untilMs } = lease;
      const { acquired, renewed, lost } = ids.stats().lease;
      if (searchParams.has("close")) ctx.waitUntil(ids.close());
      return answer(target, { isWaiting, node, untilMs, usedMs: wrongNow() + leadMs, acquired, renewed, lost });
    } catch (error) {
      return answer(target.subarray(0, issued), { isWaiting, error: failure(error) });
    }
  },
};
