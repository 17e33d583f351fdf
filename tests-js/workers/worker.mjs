// A Worker that mints under a lease. The path of a request selects what to do; the response is the result.
import { leased } from "frazil/workers";

export { FrazilLeases } from "frazil/workers";

let namespace;
let first;
let count = 0;

const ANSWERS = {
  identity: (env) => {
    const same = namespace === undefined || namespace === env.FRAZIL;
    const id = String(env.FRAZIL.idFromName("x"));
    first ??= id;
    namespace = env.FRAZIL;
    return { same, sameId: id === first, count: ++count };
  },
  id: async (env, ctx) => {
    const got = leased(env.FRAZIL, ctx);
    const isPromise = got instanceof Promise;
    const ids = await got;
    return { isPromise, id: ids.nextString(), node: ids.node, stats: ids.stats().lease, health: ids.health().lease };
  },
};

export default {
  async fetch(request, env, ctx) {
    try {
      return Response.json(await ANSWERS[new URL(request.url).pathname.slice(1)](env, ctx, request));
    } catch (error) {
      return Response.json({ code: error.code, message: error.message, stack: error.stack }, { status: 500 });
    }
  },
};
