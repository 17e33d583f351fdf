// A server, and what the tests of one file do with it and with its store.
import { after, before } from "node:test";
import { EtcdStore } from "frazil/stores/etcd";
import { newScopeOf } from "../kit/attempts.mjs";
import { startCluster as startMembers } from "./server.mjs";

export const running = [];
export async function startCluster(count, args) {
  const members = await startMembers(count, args);
  running.push(...members);
  return members;
}
export const startServer = async ({ args } = {}) => (await startCluster(1, args))[0];

export let server;
before(async () => {
  server = await startServer();
});
after(() => Promise.all(running.map((member) => member.crash())));

/** A store. A member of a loaded machine answers late: tests of the limit pass their own. */
export const storeOf = (options, { port } = server) =>
  new EtcdStore({ endpoints: [`http://127.0.0.1:${port}`], timeoutMs: 60_000, ...options });

/** A new scope. */
export const newScope = (options, store = storeOf()) => newScopeOf(store, options);

/** A `fetch` whose requests and answers are changed. Each function gets the JSON and returns what is passed on. */
export const changingFetch =
  ({ request = (json) => json, answer = (json) => json }, inner = fetch) =>
  async (url, init) => {
    const response = await inner(url, { ...init, body: JSON.stringify(request(JSON.parse(init.body), url)) });
    const text = JSON.stringify(answer(JSON.parse(await response.text())));
    return { status: response.status, headers: response.headers, text: async () => text };
  };
