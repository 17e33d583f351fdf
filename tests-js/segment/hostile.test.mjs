// User code around a segment: stores that throw, take numbers and close it inside a call; unreadable rejections and answers; replaced
// clocks and timers. Each call ends with a number or a code.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { Segment } from "frazil/segment";
import { FaultySegments } from "./faulty-store.mjs";

const never = () => new Promise(() => {});

/** A segment of a store in memory, and the store. */
function opened(options = {}) {
  const store = new FaultySegments();
  return { store, orders: new Segment(store, { tag: "orders", step: 10, ...options }) };
}

/** What calls come to: numbers, or the codes of errors. */
const settled = (calls) => Promise.all(calls.map((call) => call.catch((error) => error.code ?? error)));
const called = (orders, count) => Array.from({ length: count }, () => orders.next());
/** Numbers from one to another. */
const upTo = (last, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => BigInt(first + at));

/** Runs work while a property of an object is replaced. */
async function replaced(object, name, value, work) {
  const before = Object.getOwnPropertyDescriptor(object, name);
  Object.defineProperty(object, name, { value, configurable: true, writable: true });
  try {
    return await work();
  } finally {
    if (before) Object.defineProperty(object, name, before);
    else delete object[name];
  }
}

// docs/internals/claims.md: 28
test("a store that throws before it returns a promise: every call gets its number, in order", async () => {
  const { store, orders } = opened({ step: 1, maxStep: 1 });
  let requests = 0;
  store.allocate = (request) => {
    if (requests++ % 2 === 1) throw new Error("not connected");
    return sleep(2, store.carryOut(request));
  };
  assert.deepEqual(await settled(called(orders, 6)), upTo(6));
});

// docs/internals/claims.md: 28
test("a process that loses its file descriptors again and again: every call gets its number, in order", async () => {
  const fs = process.getBuiltinModule("node:fs");
  const { openSync } = fs;
  const { orders } = opened({ step: 1, maxStep: 1 });
  let opens = 0;
  const failing = (...given) => {
    if (opens++ % 3 === 1) throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
    return openSync(...given);
  };
  assert.deepEqual(await replaced(fs, "openSync", failing, () => settled(called(orders, 6))), upTo(6));
});

// docs/internals/claims.md: 28
test("a store that takes a number inside allocate(): it gets others than the calls", async () => {
  const { store, orders } = opened({ step: 1, maxStep: 1 });
  const inside = [];
  store.allocate = (request) => {
    inside.push(orders.tryNext());
    return Promise.resolve(store.carryOut(request));
  };
  const numbers = await settled(called(orders, 4));
  const all = [...numbers, ...inside.filter((number) => number !== undefined)];
  assert.ok(
    numbers.every((number) => typeof number === "bigint"),
    `${numbers}`,
  );
  assert.equal(new Set(all).size, all.length, `${all}`);
});

test("a store that closes the segment inside allocate(): calls get a number or CLOSED", async () => {
  const { store, orders } = opened({ step: 1, maxStep: 1 });
  store.allocate = async (request) => {
    if (store.requests.push(request) === 2) orders.close();
    return store.carryOut(request);
  };
  const results = await settled(called(orders, 3));
  assert.deepEqual(results.slice(-2), ["CLOSED", "CLOSED"]);
  assert.ok([1n, "CLOSED"].includes(results[0]));
});

test("a signal that aborts inside allocate() ends the call", async () => {
  const { store, orders } = opened();
  const controller = new AbortController();
  store.allocate = () => {
    controller.abort(new Error("enough"));
    return never();
  };
  await assert.rejects(orders.next({ signal: controller.signal }), { message: "enough" });
  orders.close();
});

test("whatever the store rejects with, the call is repeated, and the problem says what is known", async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const unreadable = Object.defineProperty(new Error("x"), "message", {
    get() {
      throw new Error("this one throws");
    },
  });
  for (const [reason, said] of [
    [unreadable, /: the error cannot be read$/],
    [proxy, /: the error cannot be read$/],
    [runInNewContext('new Error("of another realm")'), /: of another realm$/],
    [{ message: "a plain object" }, /: a plain object$/],
    [undefined, /tag "orders"$/],
  ]) {
    const { store, orders } = opened();
    let problem;
    store.before = (_, at) => {
      if (at === 1) return Promise.reject(reason);
      problem = orders.stats().problem;
      return undefined;
    };
    assert.equal(await orders.next(), 1n);
    assert.equal(problem.code, "STORE_UNAVAILABLE");
    assert.match(problem.message, said);
  }
});

test("a store whose waitsFor() throws: the time-out counts, and the problem says so", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { store, orders } = opened({ maxAsyncWaitMs: 20_000 });
    store.waitsFor = () => {
      throw new Error("the pool is closed");
    };
    store.before = never;
    const call = orders.next().catch((error) => error);
    await undefined;
    mock.timers.tick(3000);
    const { failures, problem } = orders.stats();
    assert.equal(failures, 1);
    assert.match(
      problem.message,
      /allocate had no answer within 3000 ms, and waitsFor\(\) failed in .*: the pool is closed$/,
    );
    orders.close();
    assert.equal((await call).code, "CLOSED");
  } finally {
    mock.timers.reset();
  }
});

test("a store whose name is no text is refused", () => {
  for (const name of [Symbol("x"), undefined, 5]) {
    const store = Object.assign(new FaultySegments(), { name });
    assert.throws(() => new Segment(store, { tag: "orders" }), { code: "INVALID_ARGUMENT", field: "store.name" });
  }
});

test("options of any type are refused with their own names", () => {
  const throwing = {
    valueOf() {
      throw new Error("this one throws");
    },
  };
  for (const maxStep of [Symbol("x"), Object.create(null), throwing, 5n, "7", null, Number.NaN, -1, [5]])
    assert.throws(() => opened({ step: undefined, maxStep }), { code: "INVALID_OPTION", field: "maxStep" });
  for (const failoverSkip of [Symbol("x"), Object.create(null), throwing, 5n, "7", null, -1])
    assert.throws(() => opened({ failoverSkip }), { code: "INVALID_OPTION", field: "failoverSkip" });
});

test("an answer that cannot be true is reported with what it said", async () => {
  const { store, orders } = opened();
  store.before = ({ attempt }) => ({ attempt, first: 5, count: 0, stride: {} });
  const error = await orders.next().catch((error) => error);
  assert.match(
    error.message,
    /segment must have a range of at least one number, .*, got "first 5, count 0, stride an object, step 0"$/,
  );
});

// docs/internals/claims.md: 28
test("a clock that takes numbers: none is lost, and none repeats", async () => {
  const { orders } = opened({ step: 100 });
  await orders.ready();
  const { now } = performance;
  const seen = [];
  const taking = () => {
    performance.now = now;
    seen.push(orders.tryNext());
    performance.now = taking;
    return now.call(performance);
  };
  await replaced(performance, "now", taking, async () => {
    for (let at = 0; at < 5; at++) seen.push(orders.tryNext(), await orders.next());
    seen.push(...(await orders.nextMany(20)));
  });
  const { allocated, left } = orders.stats();
  assert.equal(new Set(seen).size, seen.length);
  assert.equal(allocated, seen.length + left);
});

test("clocks that show no number: bulk calls lose no number, and counters are shown", async () => {
  const { store, orders } = opened({ step: 100, maxStep: 100 });
  assert.equal(await orders.next(), 1n);
  const noNumber = () => Number.NaN;
  await replaced(performance, "now", noNumber, () =>
    replaced(Date, "now", noNumber, async () => {
      await assert.rejects(orders.nextMany(50), { code: "INVALID_CLOCK" });
      assert.equal(orders.stats().left, 99);
    }),
  );
  assert.deepEqual(await orders.nextMany(50), upTo(51, 2));
  assert.equal(store.requests.length, 2);
});

test("timers that a test takes back while the store is asked: calls get numbers later", async () => {
  const { store, orders } = opened({ maxAsyncWaitMs: 20_000 });
  store.before = never;
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    orders.tryNext();
    await undefined;
  } finally {
    mock.timers.reset();
  }
  assert.equal(store.requests.length, 1);
  store.before = () => {};
  assert.equal(await orders.next(), 1n, "after the time of the first try");
});

// docs/internals/claims.md: 28
test("an answer to an attempt that was answered before changes nothing, whatever it is", async () => {
  const { store, orders } = opened({ maxAsyncWaitMs: 20_000 });
  let late;
  store.before = (_, at) => (at === 1 ? new Promise((resolve) => (late = resolve)) : undefined);
  assert.equal(await orders.next(), 1n, "the second try was answered");
  store.before = () => sleep(100);
  const large = orders.nextMany(100);
  await sleep(20);
  late({ attempt: "0".repeat(32), first: 5n, count: 1 });
  assert.equal((await large).length, 100);
  assert.deepEqual([orders.stats().failures, orders.stats().problem], [0, undefined]);
});

test("methods work detached, also the one for `using`", async () => {
  const { orders } = opened();
  const { next, stats, [Symbol.dispose]: dispose } = orders;
  assert.equal(await next(), 1n);
  dispose();
  assert.equal(stats().closed, true);
});

test("two ranges are counted as two, also when the first was drawn whole", async () => {
  const { orders } = opened({ step: 100, maxStep: 100 });
  await orders.nextMany(50);
  await sleep(5);
  assert.deepEqual([orders.stats().buffers, orders.stats().left], [2, 150]);
  await orders.nextMany(50);
  assert.deepEqual([orders.stats().buffers, orders.stats().left], [1, 100]);
});

test("microtasks that fake timers have taken: the store is asked again", async () => {
  const { orders } = opened();
  // As @sinonjs/fake-timers and Jest do: what is queued is gone with the clock.
  await replaced(
    globalThis,
    "queueMicrotask",
    () => {},
    () => assert.equal(orders.tryNext(), undefined),
  );
  assert.equal(await orders.next(), 1n);
  orders.close();
});
