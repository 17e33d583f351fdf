// Calls that wait for numbers: their order, their results when others fail, and their errors.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { FrazilError } from "frazil";
import { Segment } from "frazil/segment";
import { FaultySegments } from "./faulty-store.mjs";

const never = () => new Promise(() => {});

/** A segment of which the first range is there and has 99 numbers left; its store hangs from then on. */
async function hanging(options = {}) {
  const store = new FaultySegments();
  const orders = new Segment(store, { tag: "orders", step: 100, maxAsyncWaitMs: 150, ...options });
  assert.equal(await orders.next(), 1n);
  store.before = never;
  return { store, orders };
}

test("a call that wants more than there is fails alone: those behind it get their numbers when its time is over", async () => {
  const { orders } = await hanging();
  const large = orders.nextMany(500).catch((error) => error);
  const behind = [orders.next(), orders.nextMany(3), orders.ready()];
  assert.equal((await large).code, "SEGMENT_EXHAUSTED");
  assert.deepEqual(await Promise.all(behind), [2n, [3n, 4n, 5n], undefined]);
  orders.close();
});

test("a call that wants more than there is and is aborted: those behind it get their numbers then", async () => {
  const { orders } = await hanging({ maxAsyncWaitMs: 20_000 });
  const controller = new AbortController();
  const large = orders.nextMany(500, { signal: controller.signal });
  const behind = orders.next();
  controller.abort(new Error("gone"));
  await assert.rejects(large, { message: "gone" });
  assert.equal(await behind, 2n);
  orders.close();
});

test("a refusal of the store fails only the calls whose numbers are not there", async () => {
  const { store, orders } = await hanging({ maxAsyncWaitMs: 20_000 });
  store.before = () => {
    throw new FrazilError("STORE_REFUSED", "a replica");
  };
  const large = orders.nextMany(500).catch((error) => error.code);
  const behind = [orders.nextMany(98), orders.next(), orders.next().catch((error) => error.code)];
  assert.equal(await large, "STORE_REFUSED");
  const [many, one, none] = await Promise.all(behind);
  assert.deepEqual([many[0], many.length, one, none], [2n, 98, 100n, "STORE_REFUSED"]);
});

test("calls are served in the order in which they came, and continue in that order", async () => {
  const store = new FaultySegments();
  const orders = new Segment(store, { tag: "orders", step: 4, maxStep: 4 });
  const order = [];
  const note = (number) => order.push(number);
  store.before = () => sleep(1);
  const calls = [];
  // Calls that are made while others, which were served, have not continued yet.
  store.before = async () => {
    await sleep(1);
    for (let turn = 0; turn < 8; turn++) queueMicrotask(() => calls.push(orders.next().then(note)));
    let later = Promise.resolve();
    for (let turn = 0; turn < 8; turn++) later = later.then(() => void calls.push(orders.next().then(note)));
  };
  for (let at = 0; at < 6; at++) calls.push(orders.next().then(note));
  await Promise.all(calls.slice(0, 6));
  await sleep(20);
  store.before = () => {};
  while (calls.length > 0) await calls.shift();
  assert.ok(order.length > 20, `${order.length} calls`);
  assert.deepEqual(
    order,
    order.map((_, at) => BigInt(at + 1)),
  );
});

test("a time-out that a call finds while it is served does not let others continue before it", async () => {
  const { orders } = await hanging({ maxAsyncWaitMs: 20_000 });
  // The next number is drawn with the next call, which asks for another range.
  await orders.nextMany(9);
  const controller = new AbortController();
  const large = orders.nextMany(500, { signal: controller.signal }).catch(() => {});
  const order = [];
  const calls = [orders.next(), orders.next()].map((call) => call.then((number) => order.push(number)));
  await sleep(5);
  const { now } = performance;
  performance.now = () => now.call(performance) + 4000;
  try {
    controller.abort();
    await Promise.all([large, ...calls]);
  } finally {
    performance.now = now;
  }
  assert.deepEqual(order, [11n, 12n]);
  orders.close();
});

test("calls with one signal share a listener, and leave none", async () => {
  const { orders } = await hanging({ maxAsyncWaitMs: 20_000 });
  await orders.nextMany(99);
  const { signal } = new AbortController();
  const another = new AbortController();
  const aborted = Array.from({ length: 20 }, () => orders.next({ signal: another.signal }));
  const waits = Array.from({ length: 20 }, () => orders.next({ signal }));
  assert.equal(getEventListeners(signal, "abort").length, 1);
  another.abort(new Error("gone"));
  for (const call of aborted) await assert.rejects(call, { message: "gone" });
  orders.close();
  for (const call of waits) await assert.rejects(call, { code: "CLOSED" });
  for (const each of [signal, another.signal]) assert.equal(getEventListeners(each, "abort").length, 0);
});

test("SEGMENT_EXHAUSTED says what is missing, and when to retry", async () => {
  const store = new FaultySegments();
  const first = new Segment(store, { tag: "orders", step: 100, maxAsyncWaitMs: 0 });
  store.before = () => sleep(30);
  const none = await first.next().catch((error) => error);
  assert.match(none.message, /^SEGMENT_EXHAUSTED: no number was allocated yet in the memory store, tag "orders": /);
  // The time-out of the try, which is 3000 ms, says nothing about when the store answers.
  assert.ok(none.retryAfterMs <= 50, `${none.retryAfterMs}`);
  first.close();

  const { orders } = await hanging({ maxAsyncWaitMs: 20 });
  const more = await orders.nextMany(500).catch((error) => error);
  assert.match(more.message, /numbers left: 99 of 500, in the/);
  assert.match(more.hint, /^Retry after \d+ ms\. Ask for fewer, or raise maxStep\.$/);
  await orders.nextMany(99);
  const used = await orders.next().catch((error) => error);
  assert.match(used.message, /^SEGMENT_EXHAUSTED: all numbers are used in the memory store, /);
  orders.close();
});

test("the stack of an error has the line of the caller", async () => {
  const { orders } = await hanging({ maxAsyncWaitMs: 10 });
  await orders.nextMany(99);
  const namedCaller = async () => {
    await orders.next();
  };
  const namedBulk = async () => {
    await orders.nextMany(5);
  };
  assert.match((await namedCaller().catch((error) => error)).stack, /namedCaller/);
  assert.match((await namedBulk().catch((error) => error)).stack, /namedBulk/);
  orders.close();
});

test("numbers as texts", async () => {
  const orders = new Segment(new FaultySegments({ orders: 2n ** 53n }), { tag: "orders" });
  assert.equal(await orders.nextString(), "9007199254740992");
  assert.deepEqual(await orders.nextManyStrings(2), ["9007199254740993", "9007199254740994"]);
  await assert.rejects(orders.nextManyStrings(-1), { code: "INVALID_ARGUMENT", field: "count" });
});
