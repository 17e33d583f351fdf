// A segment with a store in memory: order, prefetching, waiting, refusals, and late, lost or false answers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { FrazilError } from "frazil";
import { Segment } from "frazil/segment";
import { FaultySegments } from "./faulty-store.mjs";

const unavailable = () => new FrazilError("STORE_UNAVAILABLE", "the store is away", { retryable: true });

/** A segment of a store in memory, and the store. */
function opened(options = {}, first = 1n) {
  const store = new FaultySegments({ orders: first });
  return { store, orders: new Segment(store, { tag: "orders", step: 100, ...options }) };
}

test("numbers increase by one, over ranges, and no call asks the store by itself", async () => {
  const { store, orders } = opened({ maxStep: 100 });
  assert.equal(store.requests.length, 0, "the constructor asks nothing");
  for (let number = 1n; number <= 1000n; number++) assert.equal(await orders.next(), number);
  assert.equal(store.requests.length, 11, "ten ranges were used, and the next one is there");
  assert.deepEqual(orders.stats().left, 100);
});

test("tryNext is undefined until a number is there, and asks for it", async () => {
  const { orders } = opened();
  assert.equal(orders.tryNext(), undefined);
  await orders.ready();
  assert.equal(orders.tryNext(), 1n);
  await orders.ready();
  assert.equal(orders.stats().waits, 1);
});

test("the next range is asked for when a tenth of the current one is used, so that nobody waits", async () => {
  const { store, orders } = opened({ maxStep: 100 });
  store.before = () => sleep(20);
  for (let at = 0; at < 10; at++) await orders.next();
  assert.equal(store.requests.length, 1);
  await orders.next();
  assert.equal(store.requests.length, 2);
  for (let range = 0; range < 5; range++) {
    await sleep(60);
    for (let at = 0; at < 100; at++) assert.notEqual(orders.tryNext(), undefined, "a caller had to wait");
  }
  assert.equal(orders.stats().waits, 1);
});

test("a store that answers slowly is asked as soon as a range begins", async () => {
  const { store, orders } = opened({ maxStep: 100 });
  store.before = () => sleep(50);
  // The first range is used in less time than an answer takes.
  await orders.nextMany(100);
  await orders.ready();
  const before = store.requests.length;
  orders.tryNext();
  await undefined;
  assert.equal(store.requests.length, before + 1, "the next range was asked for with the first number");
});

test("steps grow under load up to the maximum, and shrink to the configured step", async () => {
  const { store, orders } = opened({ maxStep: 400, growBelowMs: 10_000, shrinkAboveMs: 10_000 });
  for (let at = 0; at < 1500; at++) await orders.next();
  assert.deepEqual(
    store.requests.slice(0, 5).map(({ count }) => count),
    [100, 100, 200, 400, 400],
  );

  // Under load at first, and then so rarely that each range lasts too long.
  const idle = opened({ maxStep: 400, growBelowMs: 100, shrinkAboveMs: 100 });
  const asked = () => idle.store.requests.map(({ count }) => count);
  while (asked().at(-1) !== 400) await idle.orders.next();
  for (let pauses = 0; asked().at(-1) !== 100 && pauses < 20; pauses++) {
    const before = asked().length;
    await sleep(500);
    while (asked().length === before) await idle.orders.next();
  }
  assert.deepEqual(
    asked()
      .slice(asked().indexOf(400))
      .filter((count, at, all) => count !== all[at - 1]),
    [400, 200, 100],
  );
});

test("bulk calls of more than the ranges have: in order, without a gap, and served before later calls", async () => {
  const { store, orders } = opened({ maxStep: 100 });
  store.before = () => sleep(5);
  const results = await Promise.all([orders.nextMany(250), orders.next(), orders.nextMany(0), orders.nextMany(3)]);
  const numbers = results.flat();
  assert.deepEqual(
    numbers,
    Array.from({ length: 254 }, (_, at) => BigInt(at + 1)),
  );
  const target = new BigUint64Array(2000);
  assert.equal(await orders.fill(target), target);
  for (let at = 1; at < target.length; at++) assert.ok(target[at] > target[at - 1]);
});

test("numbers across 32 bits, and up to the largest", async () => {
  const { orders } = opened({}, 2n ** 32n - 3n);
  assert.deepEqual(
    await orders.nextMany(6),
    [-3n, -2n, -1n, 0n, 1n, 2n].map((at) => 2n ** 32n + at),
  );
  assert.equal(await orders.next(), 2n ** 32n + 3n);
  const last = opened({ step: 1 }, 2n ** 63n - 3n);
  assert.deepEqual(await last.orders.nextMany(2), [2n ** 63n - 3n, 2n ** 63n - 2n]);
  const { code } = await last.orders.next().catch((error) => error);
  assert.equal(code, "STORE_REFUSED", "a range beyond 2^63 - 2");
});

test("a range with a stride is handed out by its distance", async () => {
  const { store, orders } = opened({ step: 5 });
  let first = 1n;
  store.before = ({ attempt, count }) => {
    const answer = { attempt, first, count, stride: 2 };
    first += 2n * BigInt(count);
    return answer;
  };
  assert.deepEqual(await orders.nextMany(12), [1n, 3n, 5n, 7n, 9n, 11n, 13n, 15n, 17n, 19n, 21n, 23n]);
});

test("without a step the store decides, and its step is the shortest", async () => {
  const { store, orders } = opened({ step: undefined });
  await orders.next();
  assert.equal(store.requests[0].count, undefined);
  assert.equal(orders.stats().step, 1000);
});

test("a store that is away: what is buffered is handed out, then SEGMENT_EXHAUSTED with the cause and the time", async () => {
  const { store, orders } = opened({ maxStep: 100, maxAsyncWaitMs: 120 });
  await orders.nextMany(10);
  store.before = () => {
    throw unavailable();
  };
  await orders.nextMany(90);
  const error = await orders.next().catch((error) => error);
  assert.deepEqual([error.code, error.retryable, error.cause?.code], ["SEGMENT_EXHAUSTED", true, "STORE_UNAVAILABLE"]);
  assert.match(error.message, /in the memory store, tag "orders": STORE_UNAVAILABLE: the store is away/);
  assert.ok(error.retryAfterMs >= 1 && error.retryAfterMs <= 5000);
  assert.equal(orders.tryNext(), undefined);
  assert.equal(orders.stats().problem.code, "STORE_UNAVAILABLE");
  assert.equal(new Set(store.requests.slice(1).map(({ attempt }) => attempt)).size, 1);
  store.before = () => {};
  await sleep(error.retryAfterMs);
  assert.equal(await orders.next(), 101n);
  assert.equal(orders.stats().problem, undefined);
});

// docs/internals/claims.md: 28
test("an answer that is lost: the retry has the same attempt, and no number is lost", async () => {
  const { store, orders } = opened({ maxStep: 100 });
  store.before = (request, at) => {
    if (at !== 1) return undefined;
    void store.carryOut(request);
    throw unavailable();
  };
  assert.equal(await orders.next(), 1n);
  const [first, second] = store.requests;
  assert.deepEqual([first.attempt, first.holder], [second.attempt, second.holder]);
});

// docs/internals/claims.md: 28
test("an answer that comes after its time-out is taken, and once only", async () => {
  const { store, orders } = opened({ maxStep: 100, maxAsyncWaitMs: 10_000 });
  let answer;
  store.before = (request, at) => {
    if (at === 1) return new Promise((resolve) => (answer = () => resolve(store.carryOut(request))));
    // The retry is on its way when the late answer comes, and answers the same.
    answer();
    return sleep(20).then(() => store.carryOut(request));
  };
  assert.equal(await orders.next(), 1n);
  await sleep(50);
  assert.deepEqual(
    await orders.nextMany(100),
    Array.from({ length: 100 }, (_, at) => BigInt(at + 2)),
  );
  assert.equal(orders.stats().ranges, 2);
});

// docs/internals/claims.md: 28
test("a counter that went back is refused, and no number of the range is handed out", async () => {
  const { store, orders } = opened({ maxStep: 100, maxAsyncWaitMs: 1000 });
  const had = new Set(await orders.nextMany(10));
  store.before = ({ attempt, count }) => ({ attempt, first: 50n, count });
  for (const number of await orders.nextMany(90)) had.add(number);
  const error = await orders.next().catch((error) => error);
  assert.equal(error.code, "STORE_REFUSED");
  assert.match(error.hint, /^The counter of the store went back/);
  store.before = () => {};
  let number;
  while (number === undefined) number = await orders.next().catch(() => sleep(50));
  assert.ok(!had.has(number));
  assert.ok(store.requests.slice(1).every(({ above }) => above >= 101n));
});

test("answers that cannot be true are refused", async () => {
  for (const wrong of [
    { first: 1 },
    { first: -1n },
    { first: 2n ** 63n },
    { first: 2n ** 63n - 5n },
    { count: 0 },
    { count: 1.5 },
    { count: "5" },
    { stride: 0 },
    { stride: 2 ** 31 },
    { step: -1 },
    { attempt: "another" },
  ]) {
    const { store, orders } = opened();
    store.before = ({ attempt }) => ({ attempt, first: 1n, count: 100, ...wrong });
    await assert.rejects(
      orders.next(),
      { code: "STORE_REFUSED" },
      JSON.stringify(wrong, (_, value) => `${value}`),
    );
  }
  for (const answer of [null, 5, "text"]) {
    const { store, orders } = opened();
    store.before = () => answer ?? false;
    await assert.rejects(orders.next(), { code: "STORE_REFUSED" });
  }
});

test("an answer that cannot be true is reported with the store and the tag, in words of segments", async () => {
  for (const [wrong, said] of [
    [
      { attempt: "another" },
      /^STORE_REFUSED: an answer cannot be true in the memory store, tag "orders": attempt must be .*, got "another"$/,
    ],
    [{ count: 0 }, /^STORE_REFUSED: an answer cannot be true in the memory store, tag "orders": /],
  ]) {
    const { store, orders } = opened();
    store.before = ({ attempt }) => ({ attempt, first: 1n, count: 100, ...wrong });
    const error = await orders.next().catch((error) => error);
    assert.match(error.message, said);
    assert.ok(error.rule && error.field, error.message);
  }
});

test("an answer whose values cannot be read is a failure, and the store is asked again", async () => {
  for (const field of ["attempt", "first", "count", "stride", "step"]) {
    const { store, orders } = opened({ maxAsyncWaitMs: 20_000 });
    let reads = 0;
    store.before = async (request, at) => {
      const answer = await store.carryOut(request);
      if (at > 1) return undefined;
      const get = () => {
        reads++;
        throw new Error("this one throws");
      };
      return Object.defineProperty({ ...answer }, field, { get });
    };
    assert.equal(await orders.next(), 1n, field);
    assert.deepEqual([reads, store.requests.length, store.requests[1].attempt], [1, 2, store.requests[0].attempt]);
    orders.close();
  }
});

test("errors that asking again does not mend reject at once, and the store is asked again later", async () => {
  const { store, orders } = opened();
  store.before = () => {
    throw new FrazilError("STORE_NOT_INITIALISED", "no record");
  };
  await assert.rejects(Promise.all([orders.next(), orders.nextMany(5)]), { code: "STORE_NOT_INITIALISED" });
  store.before = () => {
    throw "text";
  };
  const { stats } = orders;
  await assert.rejects(new Segment(store, { tag: "text", maxAsyncWaitMs: 10 }).next(), {
    code: "SEGMENT_EXHAUSTED",
    message: /allocate failed in the memory store, tag "text": text/,
  });
  store.before = () => {};
  assert.equal(await orders.next(), 1n);
  assert.equal(stats().failures, 0);
});

test("signals: a call that aborts takes no number", async () => {
  const { store, orders } = opened();
  store.before = () => sleep(30);
  const aborted = AbortSignal.abort(new Error("enough"));
  for (const call of [orders.next, orders.ready, (options) => orders.nextMany(3, options)])
    await assert.rejects(call({ signal: aborted }), { message: "enough" });
  const controller = new AbortController();
  const waits = [orders.next({ signal: controller.signal }), orders.next()];
  controller.abort(new Error("gone"));
  await assert.rejects(waits[0], { message: "gone" });
  assert.equal(await waits[1], 1n);
  await assert.rejects(orders.next({ signal: 5 }), { code: "INVALID_OPTION", field: "signal" });
});

test("close: calls that wait and later ones reject, the attempt is aborted, and its answer changes nothing", async () => {
  const { store, orders } = opened();
  let signal;
  store.before = (request) => {
    signal = request.signal;
    return sleep(20);
  };
  const waits = orders.next();
  await undefined;
  orders.close();
  orders.close();
  await assert.rejects(waits, { code: "CLOSED" });
  assert.ok(signal.aborted);
  for (const call of [orders.next, orders.ready, () => orders.nextMany(1), () => orders.fill(new BigUint64Array(1))])
    await assert.rejects(call(), { code: "CLOSED" });
  assert.throws(orders.tryNext, { code: "CLOSED" });
  await sleep(40);
  assert.equal(orders.stats().closed, true);
  const again = new Segment(store, { tag: "orders", step: 5 });
  const { fetchMs, ...stats } = orders.stats();
  const counted = { ranges: 0, allocated: 0, tries: 1, failures: 0, waits: 1 };
  assert.deepEqual(stats, { left: 0, buffers: 0, step: 100, ...counted, closed: true });
  assert.equal(await again.next(), 101n);
  again[Symbol.dispose]();
  const { left, buffers, ranges, allocated } = again.stats();
  assert.deepEqual([left, buffers, ranges, allocated], [0, 0, 1, 5], "what it was allocated is forgotten");
  assert.doesNotThrow(() => new Segment(store, { tag: "orders" }).close());
});

test("a second open segment of a tag on one store object is refused", () => {
  const { store, orders } = opened();
  assert.throws(() => new Segment(store, { tag: "orders" }), { code: "STATE_CONFLICT", field: "tag" });
  orders.close();
  new Segment(store, { tag: "orders" }).close();
});

test("options and arguments are refused with the field, the value and the rule", async () => {
  const store = new FaultySegments();
  for (const [field, value] of [
    ["tag", undefined],
    ["tag", ""],
    ["tag", "x".repeat(129)],
    ["tag", "\ud800"],
    ["tag", "x\0"],
    ["tag", 5],
    ["step", 0],
    ["step", 1.5],
    ["step", "100"],
    ["step", 1e10],
    ["maxStep", 0],
    ["maxStep", 1e10],
    ["growBelowMs", -1],
    ["growBelowMs", Number.NaN],
    ["shrinkAboveMs", 1],
    ["failoverSkip", -1],
    ["failoverSkip", 1.5],
    ["failoverSkip", 2 ** 53],
    ["maxAsyncWaitMs", -1],
    ["maxAsyncWaitMs", 2 ** 31],
  ])
    assert.throws(
      () => new Segment(store, { tag: "orders", [field]: value }),
      { code: "INVALID_OPTION", field },
      `${field}: ${value}`,
    );
  assert.throws(() => new Segment(store, { tag: "orders", step: 10, maxStep: 9 }), { field: "maxStep", value: 9 });
  assert.throws(() => new Segment(store, { tag: "orders", stp: 10 }), {
    message: /unknown option "stp"$/,
    hint: 'Did you mean "step"?',
  });
  assert.throws(() => new Segment(store), { code: "INVALID_OPTION", field: "options" });
  for (const wrong of [undefined, null, {}, "postgres://", class {}])
    assert.throws(() => new Segment(wrong, { tag: "orders" }), { code: "INVALID_ARGUMENT", field: "store" });
  const orders = new Segment(store, { tag: "orders", step: 2_000_000 });
  for (const count of [-1, 1.5, "5", 1_048_577, undefined])
    await assert.rejects(orders.nextMany(count), { code: "INVALID_ARGUMENT", field: "count" });
  for (const target of [[], new Uint8Array(8), undefined])
    await assert.rejects(orders.fill(target), { code: "INVALID_ARGUMENT", field: "target" });
  await assert.rejects(orders.fill(new BigUint64Array(1_048_577)), { field: "count" });
  assert.equal(store.requests.length, 0);
});

test("a target that was transferred while the call waited is refused, and takes no number", async () => {
  const { store, orders } = opened();
  store.before = () => sleep(20);
  const target = new BigUint64Array(5);
  const filled = orders.fill(target);
  structuredClone(target, { transfer: [target.buffer] });
  await assert.rejects(filled, { code: "INVALID_ARGUMENT", field: "target" });
  assert.equal(await orders.next(), 1n);
});

// docs/internals/claims.md: 28
test("a store that mints from the segment inside allocate(), and a clock that does, repeat nothing", async () => {
  const { store, orders } = opened({ maxStep: 100 });
  const seen = [];
  store.before = () => {
    const number = orders.tryNext();
    if (number !== undefined) seen.push(number);
  };
  for (let at = 0; at < 500; at++) seen.push(...(await orders.nextMany(3)));
  const { now } = performance;
  performance.now = () => {
    performance.now = () => now.call(performance);
    const number = orders.tryNext();
    if (number !== undefined) seen.push(number);
    return now.call(performance);
  };
  try {
    seen.push(...(await orders.nextMany(50)));
  } finally {
    performance.now = now;
  }
  assert.equal(new Set(seen).size, seen.length);
});

/** Runs work while a property of an object is replaced. */
async function replaced(object, name, value, work) {
  const before = object[name];
  object[name] = value;
  try {
    return await work();
  } finally {
    object[name] = before;
  }
}

test("a process without file descriptors: calls reject with the cause, and go on when there are some", async () => {
  const { orders } = opened({ maxAsyncWaitMs: 200 });
  const fs = process.getBuiltinModule("node:fs");
  const failing = () => {
    throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
  };
  const error = await replaced(fs, "openSync", failing, () => orders.next().catch((error) => error));
  assert.equal(error.code, "SEGMENT_EXHAUSTED");
  assert.match(error.cause.message, /EMFILE/);
  assert.ok(orders.stats().failures < 5, "one failure for each pause");
  await sleep(error.retryAfterMs);
  assert.equal(await orders.next(), 1n);
});

test("a process without file descriptors whose store refuses: the refusal counts, since a pause needs no numbers of the kernel", async () => {
  const { store, orders } = opened();
  const fs = process.getBuiltinModule("node:fs");
  const failing = () => {
    throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
  };
  let refuse;
  store.before = () =>
    new Promise((_, reject) => {
      refuse = () => reject(new FrazilError("STORE_REFUSED", "no"));
    });
  const refused = orders.next();
  while (refuse === undefined) await sleep(1);
  await replaced(fs, "openSync", failing, async () => {
    refuse();
    await assert.rejects(refused, { code: "STORE_REFUSED" });
  });
  assert.equal(orders.stats().failures, 1);
});

const noNumber = () => Number.NaN;

test("clocks that show no number: calls reject, timers throw nothing, and numbers come when it shows one", async () => {
  const { store, orders } = opened({ maxStep: 100, maxAsyncWaitMs: 100 });
  store.before = () => sleep(20);
  const waits = orders.next();
  // They break while the store is asked.
  await replaced(performance, "now", noNumber, () =>
    replaced(Date, "now", noNumber, async () => {
      assert.ok(["SEGMENT_EXHAUSTED", "INVALID_CLOCK"].includes((await waits.catch((error) => error)).code));
      await assert.rejects(orders.next(), { code: "INVALID_CLOCK" });
    }),
  );
  let number;
  for (let tries = 0; number === undefined && tries < 60; tries++) {
    number = orders.tryNext();
    await sleep(100);
  }
  assert.equal(number, 1n);
});

test("performance.now shows no number from the middle of a wait on: the wall clock goes on from there", async () => {
  const { store, orders } = opened({ maxStep: 100, maxAsyncWaitMs: 1000 });
  store.before = () => sleep(50);
  const waits = orders.next();
  await replaced(performance, "now", noNumber, async () => {
    assert.equal(await waits, 1n);
    assert.deepEqual(await orders.nextMany(3), [2n, 3n, 4n]);
  });
});
