// At most 16 allocations of a store object are under way at once, also when some are given up whose statements the client still has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PostgresStore } from "frazil/stores/postgres";
import { allocation } from "./segments.mjs";

/** Lets everything happen that waits for nothing else. */
const settle = () => new Promise(setImmediate);

/** A client that answers when the test does. `given`: its statements. */
class Client {
  given = [];
  query() {
    return new Promise((answer, fail) => this.given.push({ answer, fail }));
  }
}

/**
 * 40 allocations of a store object: 16 of them have a statement each, and are given up. Checks that their callers hear of it at once, and
 * that no other begins. Time stands still but for `tick`.
 */
async function crowded(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const client = new Client();
  const store = new PostgresStore(client);
  const calls = Array.from({ length: 40 }, (_, at) => {
    const controller = new AbortController();
    const call = store.allocate(allocation({ tag: `t${at}`, signal: controller.signal }));
    return { call, giveUp: () => controller.abort(new Error("given up")) };
  });
  await settle();
  assert.equal(client.given.length, 16);
  const giveUp = async (some) => {
    for (const call of some) call.giveUp();
    for (const { call } of some) await assert.rejects(call, { message: "given up" });
    await settle();
  };
  await giveUp(calls.slice(0, 16));
  assert.equal(client.given.length, 16, "statements that the client has");
  t.after(() => giveUp(calls.slice(16)));
  return client;
}

test("an allocation that is given up keeps its turn for half a second, since the client still has its statement", async (t) => {
  const client = await crowded(t);
  t.mock.timers.tick(499);
  await settle();
  assert.equal(client.given.length, 16);
  t.mock.timers.tick(1);
  await settle();
  assert.equal(client.given.length, 32);
  // Their turns are over: their answers admit nobody.
  for (const statement of client.given.slice(0, 16)) statement.answer({ rows: [] });
  await settle();
  assert.equal(client.given.length, 32);
});
