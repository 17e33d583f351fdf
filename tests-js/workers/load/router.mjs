// The Worker that has the objects. It starts the isolates of isolate.mjs, and hands each request to the one that its path names.
import { WorkerEntrypoint } from "cloudflare:workers";
import { FrazilLeases } from "frazil/workers";

/** The class that is shipped, with a call that aborts the object. */
export class LoadLeases extends FrazilLeases {
  abortNow() {
    this.ctx.abort("aborted by a test");
  }
}

/** Windows without their start: what a lease is without `from`. */
const withoutFrom = (reply) => (reply.value?.granted ? { value: { ...reply.value, fromMs: 0 } } : reply);

/** The same object, which forgets where a window begins. */
export class BrokenLeases extends LoadLeases {
  acquire(request) {
    return withoutFrom(super.acquire(request));
  }

  renew(request) {
    return withoutFrom(super.renew(request));
  }
}

/** Calls an object for an isolate. */
export class Objects extends WorkerEntrypoint {
  call(name, verb, request) {
    const { OBJECTS } = this.env;
    return OBJECTS.get(OBJECTS.idFromName(name))[verb](request);
  }
}

/** The modules of isolate.mjs, which the test sends after each start. */
let modules;

const moduleOf = ([name, { js, wasm }]) => [
  name,
  js === undefined ? { wasm: Uint8Array.fromBase64(wasm).buffer } : { js },
];

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/modules") {
      modules = Object.fromEntries(Object.entries(await request.json()).map(moduleOf));
      return new Response();
    }
    if (pathname === "/abort") {
      const stub = env.OBJECTS.get(env.OBJECTS.idFromName(searchParams.get("name")));
      return new Response(await stub.abortNow().then(String, (error) => error.message));
    }
    const worker = env.LOADER.get(pathname, () => ({
      compatibilityDate: searchParams.get("date"),
      mainModule: "worker.mjs",
      modules,
      env: {
        OBJECTS: ctx.exports.Objects({ props: {} }),
        SKEW_MS: Number(searchParams.get("skewMs")),
        NODES: env.NODES,
        OPTIONS: env.OPTIONS,
      },
    }));
    return worker.getEntrypoint().fetch(request);
  },
};
