// The server of a file of tests, which ends with it, and servers of single tests.
import { after, before } from "node:test";
import { newScopeOf } from "../kit/attempts.mjs";
import { connectStore, startServer } from "./server.mjs";

export const NO_INCARNATION = { incarnation: "none-accepting-repeats-after-failover" };
export let server;
export let client;
export let store;

before(async () => {
  server = await startServer();
  ({ client, store } = await connectStore(server.port));
});

after(async () => {
  client.destroy();
  await server.stop();
});

/** A new scope. */
export const newScope = (options, of = store) => newScopeOf(of, options);

export const keyOf = (scope, key) => `frazil:{${scope}}:${key}`;

/** A server of a test's own, which is stopped after it. */
export async function ownServer(context, options) {
  const own = await startServer(options);
  context.after(() => own.stop());
  return own;
}

/** A store of a test's own. */
export async function ownStore(context, port, options) {
  const own = await connectStore(port, options);
  context.after(() => own.close());
  return own.store;
}
