// The server of a file of tests, which ends with it, and clients of it.
import { after, before } from "node:test";
import { newScopeOf } from "../kit/attempts.mjs";
import { closeClient, connectClient, connectStore, startServer } from "./server.mjs";

export let server;
export const open = [];

before(async () => {
  server = await startServer();
});

after(async () => {
  for (const { close } of open) await close();
  await server.stop();
});

/** A store of its own client, which is closed at the end. */
export async function connected(options, port = server.port) {
  const opened = await connectStore(port, options);
  open.push(opened);
  return opened.store;
}

/** A client, which is closed at the end. */
export async function client(options, port = server.port) {
  const one = await connectClient(port, options);
  open.push({ close: () => closeClient(one) });
  return one;
}

/** A new scope, with the node ids 0 to `to`. */
export const newScope = async (to = 3, { store, ...options } = {}) =>
  newScopeOf(store ?? (await connected()), { nodes: { from: 0, to }, ...options });
