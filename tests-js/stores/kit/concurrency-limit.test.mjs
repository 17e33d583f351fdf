// At most 16 allocations of a store object run at once, even if some are abandoned while the client still has their statements.
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

test("an allocation that is given up keeps its turn for half a second, since the client still has its statement", async (t) => {
  // Time stands still but for `tick`.
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const client = new Client();
  const store = new PostgresStore(client);
  const calls = Array.from({ length: 40 }, (_, at) => {
    const controller = new AbortController();
    const call = store.allocate(allocation({ tag: `t${at}`, signal: controller.signal }));
    return { call, giveUp: () => controller.abort(new Error("given up")) };
  });
  const giveUp = async (some) => {
    for (const call of some) call.giveUp();
    for (const { call } of some) await assert.rejects(call, { message: "given up" });
    await settle();
  };
  await settle();
  assert.equal(client.given.length, 16);
  await giveUp(calls.slice(0, 16));
  t.after(() => giveUp(calls.slice(16)));
  t.mock.timers.tick(499);
  await settle();
  assert.equal(client.given.length, 16, "no turn is over");
  t.mock.timers.tick(1);
  await settle();
  assert.equal(client.given.length, 32, "all 16 turns are over");
  // Each turn ends once: an answer that comes later lets no other allocation begin.
  for (const statement of client.given.slice(0, 16)) statement.answer({ rows: [] });
  await settle();
  assert.equal(client.given.length, 32);
});

test("turns whose timers were faked end a second later, although these timers never fire", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const client = new Client();
  const store = new PostgresStore(client);
  const begin = (tag, signal) => store.allocate(allocation({ tag, signal }));
  const controller = new AbortController();
  const calls = Array.from({ length: 16 }, (_, at) => begin(`t${at}`, controller.signal));
  await settle();
  controller.abort(new Error("given up"));
  for (const call of calls) await assert.rejects(call, { message: "given up" });
  t.mock.timers.reset();
  const { now } = performance;
  t.mock.method(performance, "now", () => now.call(performance) + 1001);
  const last = new AbortController();
  const call = begin("another", last.signal);
  await settle();
  assert.equal(client.given.length, 17);
  last.abort(new Error("over"));
  await assert.rejects(call, { message: "over" });
});

test("an allocation that is given up as its turn begins sends nothing, and its turn is over", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const client = new Client();
  const store = new PostgresStore(client);
  const controllers = Array.from({ length: 18 }, () => new AbortController());
  const calls = controllers.map(({ signal }, at) => store.allocate(allocation({ tag: `t${at}`, signal })));
  for (const call of calls) call.catch(() => {});
  await settle();
  assert.equal(client.given.length, 16);
  // The first moment at which it no longer waits.
  const { signal } = controllers[16];
  signal.removeEventListener = (...listener) => {
    AbortSignal.prototype.removeEventListener.apply(signal, listener);
    controllers[16].abort(new Error("given up"));
  };
  client.given[0].fail(new Error("no answer"));
  await assert.rejects(calls[16], { message: "given up" });
  await settle();
  assert.equal(client.given.length, 17, "the last one has the turn");
  for (const controller of controllers) controller.abort();
  await Promise.allSettled(calls);
});
