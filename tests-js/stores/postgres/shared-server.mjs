// The server of a file of tests, which ends with it, and its pools.
import { after, before } from "node:test";
import { PostgresStore } from "frazil/stores/postgres";
import { newScopeOf } from "../kit/attempts.mjs";
import { PostgresServer, poolTo } from "./server.mjs";

export let server;
export let pool;
export const closing = [];

before(async () => {
  server = await PostgresServer.start({ max_connections: 100 });
  pool = poolTo(server.url);
  await new PostgresStore(pool).migrate();
});

after(async () => {
  for (const close of closing) await close();
  await pool.end();
  await server.stop();
});

/** A new scope. */
export const newScope = (options, store = new PostgresStore(pool)) => newScopeOf(store, options);
