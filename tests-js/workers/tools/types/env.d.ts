// As people write it who use @cloudflare/workers-types.
interface Env {
  FRAZIL: DurableObjectNamespace<import("./worker.ts").FrazilLeases>;
  OWN: DurableObjectNamespace<import("./worker.ts").OwnLeases>;
  ROOMS: DurableObjectNamespace<import("./worker.ts").Room>;
  ELSEWHERE: DurableObjectNamespace;
  DB: D1Database;
  KV: KVNamespace;
}
