// renew: "calls": the lease of a process that may be frozen between two calls. No timer runs between them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout } from "frazil";
import { lease } from "frazil/lease";
import { time } from "./faked.mjs";
import { never, open, storeWith, takeAway, thrownBy, verbs, W, watched } from "./harness.mjs";

const TIMEOUT = W / 10;
const CALLS = { renew: "calls" };
const ASYNC_CALLS = {
  ready: (ids, options) => ids.ready(options),
  nextAsync: (ids, options) => ids.nextAsync(options),
  nextStringAsync: (ids, options) => ids.nextStringAsync(options),
  nextManyAsync: (ids, options) => ids.nextManyAsync(3, options),
  fillAsync: (ids, options) => ids.fillAsync(new BigUint64Array(3), options),
};

/** The process is stopped: nothing runs, and answers wait. `monotonic`: whether monotonic time goes on. */
function freeze(ms, monotonic = true) {
  if (monotonic) time.ms += ms;
  else time.wallStartMs += ms;
}
const noTimers = () => assert.deepEqual(time.pending, { timers: 0, holding: 0 });

for (const monotonic of [true, false]) {
  const clocks = monotonic ? "" : ", while monotonic time stands still";

  test(`nothing runs between calls, and each call renews after half of the window${clocks}`, async () => {
    const aheadMs = () => time.wallStartMs + time.ms;
    const store = storeWith({ now: aheadMs });
    const { ids, names } = await open(store, CALLS);
    for (const [name, call] of Object.entries(ASYNC_CALLS)) {
      const { length } = store.calls;
      noTimers();
      freeze(W / 2 - 1000, monotonic);
      await time.until(call(ids));
      assert.equal(store.calls.length, length, `${name} before half of the window`);
      freeze(2000, monotonic);
      const { ms } = time;
      await time.until(call(ids));
      assert.deepEqual(verbs(store).slice(length), ["renew"], name);
      assert.ok(time.ms - ms <= 1, `${name} waited for ${time.ms - ms} ms`);
      noTimers();
    }
    assert.deepEqual(names(), Array(5).fill("renewed"));
    await time.until(ids.close());
    noTimers();
  });

  test(`stopped for longer than a window: the node id continues if nobody took it, and otherwise another one${clocks}`, async () => {
    for (const clock of ["wall", "store"]) {
      const store = storeWith({ now: () => time.wallStartMs + time.ms });
      const { ids, names } = await open(store, { ...CALLS, time: clock });
      const first = await time.until(ids.nextAsync());
      freeze(3 * W, monotonic);
      const second = await time.until(ids.nextAsync(), 10);
      assert.ok(second > first);
      assert.equal(ids.node, 0);
      takeAway(store, 0, 10 * W);
      freeze(3 * W, monotonic);
      await time.until(ids.ready(), 10);
      assert.equal(ids.node, 1);
      assert.equal(ids.decode(ids.next()).node, 1);
      assert.deepEqual(names(), ["renewed", "lost LEASE_LOST", "acquired"]);
      noTimers();
      await time.until(ids.close());
    }
  });

  test(`an attempt that was under way when the process was stopped fails no call${clocks}`, async () => {
    for (const forMs of [2 * TIMEOUT, W, 3 * W]) {
      let held = false;
      const waiting = [];
      const store = storeWith({
        now: () => time.wallStartMs + time.ms,
        fault: (_, execute) => (held ? new Promise((resolve) => waiting.push(() => resolve(execute()))) : execute()),
      });
      // Shorter than an attempt may take: no call may wait for the one that is lost.
      const { ids } = await open(store, { ...CALLS, maxAsyncWaitMs: 1000 });
      freeze(W / 2 + 1, monotonic);
      held = true;
      const controller = new AbortController();
      const aborted = watched(ids.ready({ signal: controller.signal }));
      await time.advance(1);
      controller.abort(new Error("the response was sent"));
      await time.advance(0);
      assert.equal(aborted.error.message, "the response was sent");
      assert.equal(waiting.length, 1);
      noTimers();
      freeze(forMs, monotonic);
      held = false;
      const { length } = store.calls;
      await time.until(ids.ready(), 5);
      ids.next();
      assert.equal(store.calls.length, length + 1);
      assert.equal(store.calls.at(-1).request.nonce, store.calls.at(-2).request.nonce, "a retry keeps its nonce");
      // What was sent before arrives at last, and changes nothing.
      waiting[0]();
      await time.advance(1);
      assert.equal(ids.node, 0);
      ids.next();
      noTimers();
      await time.until(ids.close());
    }
  });
}

test("an answer that came while the process was stopped is used, though its time is over", async () => {
  let held = false;
  let settle;
  const store = storeWith({
    fault: (_, execute) => (held ? new Promise((resolve) => (settle = () => resolve(execute()))) : execute()),
  });
  const { ids, names } = await open(store, CALLS);
  freeze(W / 2 + 1);
  held = true;
  const controller = new AbortController();
  watched(ids.ready({ signal: controller.signal }));
  await time.advance(1);
  controller.abort();
  settle();
  freeze(2 * TIMEOUT);
  const { length } = store.calls;
  await time.until(ids.ready(), 1);
  assert.ok(names().includes("renewed"));
  assert.ok(store.calls.length <= length + 1);
  held = false;
  await time.until(ids.close());
});

test("a store that does not answer: ready() resolves after the time of an attempt while the window lasts", async () => {
  let held = false;
  const store = storeWith({ fault: (_, execute) => (held ? never() : execute()) });
  const { ids, names } = await open(store, CALLS);
  freeze(W / 2 + 1);
  held = true;
  for (const call of [ids.ready, ids.nextAsync]) {
    const { ms } = time;
    const ready = watched(call());
    await time.advance(TIMEOUT - 1);
    assert.equal(ready.state, "pending");
    await time.advance(2);
    assert.equal(ready.state, "resolved");
    assert.ok(Math.abs(ready.atMs - ms - TIMEOUT) <= 1, `${ready.atMs - ms} ms`);
    ids.next();
    noTimers();
    if (call === ids.ready) assert.match(ids.health().warnings[0], /was not renewed at the last attempt: /);
    // Not asked again at once: the next attempt has its pause.
    const { length } = store.calls;
    const soon = watched(ids.ready());
    await time.advance(0);
    assert.equal(soon.state, "resolved");
    assert.equal(store.calls.length, length);
    freeze(2000);
  }
  assert.deepEqual(names(), ["refused STORE_UNAVAILABLE", "refused STORE_UNAVAILABLE"]);
  assert.match(ids.health().warnings[0], /was not renewed at the last 2 attempts/);
  held = false;
  await time.until(ids.ready(), 5);
  assert.equal(ids.health().lease.failures, 0);
  await time.until(ids.close());
});

test("a store that fails at once costs a call no time while the window lasts", async () => {
  let away = false;
  const store = storeWith({ fault: (_, execute) => (away ? Promise.reject(new Error("away")) : execute()) });
  const { ids } = await open(store, CALLS);
  freeze(W / 2 + 1);
  away = true;
  await time.until(ids.ready(), 1);
  ids.next();
  noTimers();
  await time.until(ids.close());
});

test("the window is over and the store is away: calls reject with the cause within maxAsyncWaitMs, and resume", async () => {
  for (const hangs of [true, false]) {
    let away = false;
    const cause = new Error("away");
    const fault = (_, execute) => (!away ? execute() : hangs ? never() : Promise.reject(cause));
    const store = storeWith({ fault });
    const { ids } = await open(store, { ...CALLS, maxAsyncWaitMs: 4000 });
    freeze(2 * W);
    away = true;
    for (const [name, code] of [
      ["ready", "STORE_UNAVAILABLE"],
      ["nextAsync", "LEASE_EXPIRED"],
    ]) {
      const { ms } = time;
      const call = watched(ids[name]());
      await time.advance(4002);
      assert.equal(call.state, "rejected");
      assert.ok(call.atMs - ms <= 4001, `${name}: ${call.atMs - ms} ms`);
      assert.equal(call.error.code, code);
      const unavailable = name === "ready" ? call.error : call.error.cause;
      assert.equal(unavailable.code, "STORE_UNAVAILABLE");
      if (!hangs) assert.equal(unavailable.cause, cause);
      noTimers();
      freeze(10_000);
    }
    away = false;
    await time.until(ids.nextAsync(), 5);
    await time.until(ids.close());
  }
});

test("every node id was taken meanwhile: NODE_IDS_EXHAUSTED says when the next one is free", async () => {
  const store = storeWith({ nodes: { from: 0, to: 0 } });
  const { ids } = await open(store, { ...CALLS, maxAsyncWaitMs: 1000 });
  freeze(2 * W);
  takeAway(store, 0, 20_000);
  const call = watched(ids.ready());
  await time.advance(2000);
  assert.equal(call.error.code, "NODE_IDS_EXHAUSTED");
  assert.ok(call.error.retryAfterMs > 18_000 && call.error.retryAfterMs <= 20_000, `${call.error.retryAfterMs}`);
  noTimers();
  freeze(call.error.retryAfterMs);
  await time.until(ids.ready(), 200);
  assert.equal(ids.next() > 0n, true);
  await time.until(ids.close());
});

test("a synchronous call asks nothing while the window lasts, and begins an attempt after it", async () => {
  const store = storeWith();
  const { ids, names } = await open(store, CALLS);
  freeze(W - 1000);
  ids.next();
  await time.advance(500);
  assert.deepEqual(verbs(store), ["acquire"]);
  freeze(W);
  const { length } = store.calls;
  for (let count = 0; count < 100; count++) assert.equal(thrownBy(ids.next).code, "LEASE_EXPIRED");
  await time.advance(0);
  assert.equal(store.calls.length, length + 1);
  ids.next();
  assert.deepEqual(names(), ["renewed"]);
  noTimers();
  // The same after a loss.
  takeAway(store, 0, 10 * W);
  freeze(2 * W);
  assert.equal(thrownBy(ids.next).code, "LEASE_EXPIRED");
  await time.advance(0);
  assert.equal(ids.decode(ids.next()).node, 1);
  noTimers();
  await time.until(ids.close());
});

test("a wall clock that is ahead by more than a window: LEASE_EXPIRED names it, and the store is asked at a bounded rate", async () => {
  const store = storeWith();
  const { ids } = await open(store, CALLS);
  time.wallStartMs += 2 * W;
  const clock = store.now;
  store.now = () => clock() - 2 * W;
  const { length } = store.calls;
  for (let count = 0; count < 200; count++) {
    thrownBy(ids.next);
    await time.advance(100);
  }
  const asked = store.calls.length - length;
  assert.ok(asked <= 5, `${asked} requests in 20 s`);
  const error = await time.until(ids.ready().catch((error) => error));
  assert.equal(error.code, "LEASE_EXPIRED");
  assert.match(error.message, /ahead of the store's/);
  time.wallStartMs -= 2 * W;
  store.now = clock;
  await time.until(ids.close());
});

test("a store that must be fenced first is fenced and asked again by one call", async () => {
  const store = storeWith();
  const { ids } = await open(store, CALLS);
  store.failOver();
  freeze(W / 2 + 1);
  await time.until(ids.ready(), 5);
  assert.deepEqual(verbs(store).slice(1), ["renew", "ensure", "renew"]);
  ids.next();
  await time.until(ids.close());
});

test("calls at one time share an attempt, and an aborted one does not stop the others", async () => {
  const waiting = [];
  let held = false;
  const store = storeWith({
    fault: (_, execute) => (held ? new Promise((resolve) => waiting.push(() => resolve(execute()))) : execute()),
  });
  const { ids } = await open(store, CALLS);
  freeze(W / 2 + 1);
  held = true;
  const controller = new AbortController();
  const calls = [ids.ready(), ids.nextAsync(), ids.ready({ signal: controller.signal })].map(watched);
  await time.advance(1);
  controller.abort(new Error("stop"));
  await time.advance(0);
  assert.deepEqual(
    calls.map(({ state }) => state),
    ["pending", "pending", "rejected"],
  );
  assert.equal(waiting.length, 1);
  held = false;
  waiting[0]();
  await time.advance(0);
  assert.deepEqual(
    calls.map(({ state }) => state),
    ["resolved", "resolved", "rejected"],
  );
  noTimers();
  await time.until(ids.close());
});

test("close() is bounded while an attempt without a timer is under way, and calls that wait hear of it", async () => {
  let held = false;
  const store = storeWith({ fault: (verb, execute) => (held && verb === "renew" ? never() : execute()) });
  const { ids } = await open(store, CALLS);
  freeze(W / 2 + 1);
  held = true;
  const ready = watched(ids.ready());
  await time.advance(10);
  const { ms } = time;
  const closed = watched(ids.close());
  await time.advance(1);
  assert.equal(ready.error?.code, "CLOSED");
  await time.advance(TIMEOUT + 1);
  assert.equal(closed.state, "resolved");
  assert.ok(closed.atMs - ms <= TIMEOUT + 1);
  assert.equal(verbs(store).at(-1), "release");
  noTimers();
  await assert.rejects(ids.ready(), { code: "CLOSED" });
});

test("a node id that this process uses otherwise is given back, without a timer", async () => {
  const store = storeWith({ nodes: { from: 900, to: 901 } });
  const { Snowflake } = await import("frazil");
  const own = new Snowflake({ node: 900 });
  const ids = await time.until(lease(store, CALLS));
  assert.equal(ids.node, 901);
  noTimers();
  await time.until(ids.close());
  own.close();
});

test('ready() under renew: "timer": the same meaning, and nothing is asked that the timer would not ask', async () => {
  let away = false;
  const store = storeWith({ fault: (_, execute) => (away ? Promise.reject(new Error("away")) : execute()) });
  const { ids } = await open(store, { maxAsyncWaitMs: 1000 });
  await time.advance(W / 3 - 5);
  await time.until(ids.ready(), 1);
  assert.deepEqual(verbs(store), ["acquire"]);
  away = true;
  await time.advance(2 * W);
  const error = await time.until(ids.ready().catch((error) => error));
  assert.equal(error.code, "STORE_UNAVAILABLE");
  away = false;
  await time.advance(5000);
  await time.until(ids.ready(), 1);
  ids.next();
  const controller = new AbortController();
  controller.abort(new Error("stop"));
  await assert.rejects(ids.ready({ signal: controller.signal }), /stop/);
  await assert.rejects(ids.ready({ sginal: undefined }), { code: "INVALID_OPTION" });
  await time.until(ids.close());
});

test("layouts without a node field, of long ticks and with the store's time", async () => {
  const layouts = [
    [
      {
        epochMs: 1_704_067_200_000,
        fields: [
          { kind: "time", bits: 41 },
          { kind: "sequence", bits: 10 },
        ],
      },
      {},
    ],
    ["sonyflake", { windowMs: 10_000 }],
    ["default", { time: "store", windowMs: 300_000 }],
  ];
  for (const [layout, options] of layouts) {
    const store = storeWith({ layout, windowMaxMs: 600_000 });
    const { ids } = await open(store, { ...CALLS, layout, ...options });
    freeze(200_000);
    const id = await time.until(ids.nextAsync(), 100);
    assert.ok(Math.abs(Layout.from(layout).timestampOf(id) - store.now()) <= 1001);
    await time.until(ids.close());
    noTimers();
  }
});

/** A lease of which one attempt is given up, and its answer waits: `arrive()` lets it come. What is asked after that hangs. */
async function withLateAnswer(options, windowMs = W, monotonic = true) {
  const waiting = [];
  let away = false;
  const store = storeWith({
    now: () => time.wallStartMs + time.ms,
    windowMaxMs: windowMs,
    fault: (_, execute) => {
      if (!away) return execute();
      const answer = execute();
      return new Promise((resolve) => waiting.push(() => resolve(answer)));
    },
  });
  const { ids, names } = await open(store, { ...CALLS, windowMs, ...options });
  freeze(windowMs / 2 + 1, monotonic);
  away = true;
  const controller = new AbortController();
  watched(ids.ready({ signal: controller.signal }));
  await time.advance(1);
  controller.abort();
  const heal = () => {
    away = false;
  };
  return { ids, names, store, heal, arrive: () => waiting[0]() };
}

test("an answer that comes late renews: no call waits for the attempt that is under way, which hangs", async () => {
  const { ids, names, store, heal, arrive } = await withLateAnswer({}, 3_600_000);
  freeze(11_000); // longer than an attempt may take
  const waiting = watched(ids.ready());
  await time.advance(1);
  assert.deepEqual(verbs(store), ["acquire", "renew", "renew"]);
  arrive();
  await time.advance(1);
  assert.equal(waiting.state, "resolved");
  assert.deepEqual(names(), ["refused STORE_UNAVAILABLE", "renewed"]);
  for (const call of [ids.ready, ids.nextAsync]) {
    freeze(60_000);
    await time.until(call(), 1);
    noTimers();
  }
  // The attempt that hangs is given up when the lease is to be renewed again.
  heal();
  freeze(1_800_000);
  await time.until(ids.ready(), 1);
  freeze(1000);
  await time.until(ids.ready(), 1);
  assert.deepEqual(names().slice(2), ["refused STORE_UNAVAILABLE", "renewed"]);
  await time.until(ids.close());
});

for (const monotonic of [true, false]) {
  const clocks = monotonic ? "" : ", while monotonic time stood still";
  test(`an answer that is read an hour late does not make the clock of this machine wrong${clocks}`, async () => {
    const { ids, heal, arrive } = await withLateAnswer({}, W, monotonic);
    freeze(3_600_000, monotonic);
    const waiting = watched(ids.ready());
    await time.advance(1);
    arrive();
    await time.advance(10_000);
    assert.equal(waiting.error.code, "STORE_UNAVAILABLE");
    // What monotonic time does not show cannot be told from a wall clock that was set.
    if (monotonic) assert.ok(ids.health().lease.skewMs < 10_000, `${ids.health().lease.skewMs}`);
    heal();
    freeze(5000);
    await time.until(ids.ready(), 5);
    assert.ok(ids.health().lease.skewMs < 10);
    await time.until(ids.close());
  });
}

for (const renew of ["calls", "timer"]) {
  test(`time: "store": an answer on its way during a suspension is not taken for the present; renew: "${renew}"`, async () => {
    let away = false;
    let arrive;
    const now = () => time.wallStartMs + time.ms;
    const fault = (_, execute) => {
      if (!away) return execute();
      const answer = execute();
      return new Promise((resolve) => (arrive = () => resolve(answer)));
    };
    const store = storeWith({ now, fault });
    const { ids } = await open(store, { renew, time: "store" });
    away = true;
    const controller = new AbortController();
    if (renew === "calls") freeze(W / 2 + 1);
    else await time.advance(W / 3 + 1);
    watched(ids.ready({ signal: controller.signal }));
    await time.advance(1);
    controller.abort();
    await time.advance(0);
    freeze(3_600_000, false);
    arrive();
    for (let turn = 0; turn < 20; turn++) await null;
    // The lease may be asked for again already. But nothing has the time of an hour ago.
    try {
      assert.ok(Math.abs(ids.decode(ids.next()).timestampMs - now()) < 2000);
    } catch (error) {
      assert.equal(error.code, "LEASE_EXPIRED");
    }
    away = false;
    arrive();
    await time.advance(5001);
    assert.ok(Math.abs(ids.decode(ids.next()).timestampMs - now()) < 2000);
    await time.until(ids.close());
  });
}
