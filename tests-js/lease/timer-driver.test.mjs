// The timer driver: a lease is renewed, expires, is lost, and is taken again, as callers and listeners see it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, LeaseError, Snowflake } from "frazil";
import { lease } from "frazil/lease";
import { time } from "./faked.mjs";
import { never, open, storeWith, takeAway, thrownBy, verbs, W, watched } from "./harness.mjs";

test("it is renewed after a third of the window, and events have the window", async () => {
  const store = storeWith();
  const { ids, events } = await open(store);
  const beganMs = store.now();
  await time.advance(W);
  assert.deepEqual(verbs(store), ["acquire", "renew", "renew", "renew"]);
  assert.deepEqual(
    events.map(([name, { node, untilMs }]) => [name, node, untilMs - beganMs]),
    [
      ["renewed", 0, 40_000],
      ["renewed", 0, 50_000],
      ["renewed", 0, 60_000],
    ],
  );
  const nonces = new Set(store.calls.map(({ request }) => request.nonce));
  assert.equal(nonces.size, 4, "each attempt has a nonce of its own");
  const { attempts, acquired, renewed, lost, refused } = ids.stats().lease;
  assert.deepEqual([attempts, acquired, renewed, lost, refused], [4, 1, 3, 0, 0]);
  await time.until(ids.close());
  assert.deepEqual(time.pending, { timers: 0, holding: 0 });
});

test("retries of an attempt keep its nonce", async () => {
  let away = false;
  const store = storeWith({ fault: (_, execute) => (away ? Promise.reject(new Error("away")) : execute()) });
  const { ids, names } = await open(store);
  away = true;
  await time.advance(W / 3 + 2000);
  const renewals = store.calls.filter(({ verb }) => verb === "renew").map(({ request }) => request.nonce);
  assert.ok(renewals.length >= 4, `${renewals.length} renewals`);
  assert.equal(new Set(renewals).size, 1);
  away = false;
  await time.advance(2 * W);
  assert.ok(names().includes("renewed") && names().includes("refused STORE_UNAVAILABLE"));
  await time.until(ids.close());
});

test("expired but not taken: LEASE_EXPIRED with the true time to wait and the cause, and the same object resumes", async () => {
  let away = false;
  const cause = new Error("away");
  const store = storeWith({ fault: (_, execute) => (away ? Promise.reject(cause) : execute()) });
  const { ids, names } = await open(store);
  const first = ids.next();
  away = true;
  await time.advance(W - 5);
  assert.equal(ids.health().ok, true);
  await time.advance(20);
  const error = thrownBy(ids.next);
  assert.ok(error instanceof LeaseError);
  assert.deepEqual([error.code, error.retryable], ["LEASE_EXPIRED", true]);
  assert.equal(ids.tryNext(), undefined);
  assert.deepEqual([error.cause.code, error.cause.cause], ["STORE_UNAVAILABLE", cause]);
  const { length } = store.calls;
  await time.advance(error.retryAfterMs - 1);
  assert.equal(store.calls.length, length, "an attempt came before the time that the error says");
  away = false;
  await time.advance(2);
  assert.equal(store.calls.length, length + 1, "no attempt came at the time that the error says");
  assert.equal(ids.node, 0);
  const last = ids.tryNext();
  assert.ok(last > first && ids.next() > last);
  assert.ok(!names().some((name) => name.startsWith("lost")));
  await time.until(ids.close());
  assert.equal(thrownBy(ids.tryNext).code, "CLOSED");
});

test("lost: LEASE_LOST, no ID of the old node id, and another one is taken", async () => {
  const store = storeWith();
  const { ids, events, names } = await open(store);
  // A block of reserved IDs, of which most are not used.
  const layout = Layout.named("default");
  for (let count = 0; count < 40; count++) ids.next();
  takeAway(store, 0);
  let seen;
  ids.on("lost", (error) => {
    seen = { error, node: ids.node, refusal: thrownBy(ids.next).code };
  });
  await time.advance(W / 3 + 5);
  assert.equal(seen.error.code, "LEASE_LOST");
  assert.match(seen.error.message, /another holder/);
  assert.deepEqual([seen.node, seen.refusal], [undefined, "LEASE_LOST"]);
  assert.deepEqual(names(), ["lost LEASE_LOST", "acquired"]);
  assert.equal(events[1][1].node, 1);
  assert.equal(ids.node, 1);
  assert.equal(layout.decode(ids.next()).node, 1);
  assert.notEqual(store.calls.at(-1).request.grant, store.calls[0].request.grant);
  await time.until(ids.close());
});

test("a lease that is lost while an aborted call has IDs: they are not issued under the next one", async () => {
  const store = storeWith();
  // The wait goes on over the time in which the event loop is blocked.
  const { ids } = await open(store, { maxLeadMs: 0, maxAsyncWaitMs: W });
  const controller = new AbortController();
  // More than a tick has, so that the call waits with IDs of the old node id.
  const call = watched(ids.nextManyAsync(3 * 4096, { signal: controller.signal }));
  await time.advance(0);
  takeAway(store, 0);
  // The event loop is blocked past the renewal, so that the call does not go on.
  const { ms } = time;
  time.ms = ms + W / 3 + 1;
  const layout = Layout.named("default");
  ids.on("acquired", () => controller.abort(new Error("stop")));
  await time.advance(10);
  if (call.state === "rejected") {
    assert.equal(call.error.message, "stop");
    for (let count = 0; count < 5000; count++) {
      assert.equal(layout.decode(ids.next()).node, 1);
      if (count % 4000 === 0) await time.advance(1);
    }
  }
  await time.until(ids.close());
});

test("an aborted call gives its IDs back under the same lease, and drops them under another", async () => {
  for (const isLost of [false, true]) {
    const store = storeWith();
    const { ids } = await open(store, { maxLeadMs: 0, windowMs: 3000, maxAsyncWaitMs: 60_000 });
    const controller = new AbortController();
    const { ms } = time;
    const count = 2 * 4096;
    // Past the window, so that the rest of the call waits for the store.
    const call = watched(ids.nextManyAsync(count, { signal: controller.signal }));
    await time.advance(0);
    let held = true;
    store.fault = (_, execute) => (held ? never() : execute());
    time.ms = ms + 3001;
    await time.advance(100);
    assert.equal(call.state, "pending");
    const layout = Layout.named("default");
    if (isLost) {
      takeAway(store, 0);
      const others = new Set([1]);
      store.fault = (verb, execute) => (verb === "acquire" && held ? never() : execute());
      for (let step = 0; step < 200 && ids.node !== undefined; step++) await time.advance(50);
      assert.equal(ids.node, undefined);
      controller.abort(new Error("stop"));
      await time.advance(0);
      assert.equal(call.state, "rejected");
      assert.equal(thrownBy(ids.next).code, "LEASE_LOST");
      held = false;
      await time.advance(6000);
      assert.ok(others.has(layout.decode(ids.next()).node));
    } else {
      controller.abort(new Error("stop"));
      await time.advance(0);
      assert.equal(call.state, "rejected");
      assert.equal(layout.decode(ids.next()).node, 0);
      assert.ok(ids.stats().dropped < count);
    }
    held = false;
    await time.until(ids.close());
  }
});

test("a node id that this process uses otherwise is given back, and another one is taken", async () => {
  const staticIds = new Snowflake({ node: 500, unshared: true });
  staticIds.next();
  const store = storeWith({ nodes: { from: 500, to: 600 } });
  const { ids } = await open(store);
  assert.equal(ids.node, 501);
  assert.deepEqual(verbs(store), ["acquire", "release", "acquire"]);
  // It stays taken to the end of its window: a store that found it free would grant it again.
  const row = store.rows().get(500);
  assert.deepEqual([row.grant, row.untilMs], [null, store.grants[0].untilMs]);
  const { acquired, refused } = ids.stats().lease;
  assert.deepEqual([acquired, refused], [1, 1]);
  // The other way round: a static generator of a leased node id.
  assert.throws(() => new Snowflake({ node: 501, unshared: true }), { code: "STATE_CONFLICT", field: "node" });
  await time.until(ids.close());
  // What was leased stays leased.
  assert.throws(() => new Snowflake({ node: 501, unshared: true }), { code: "STATE_CONFLICT" });
});

test("a listener that uses leases hears of a declined one, and the right node id is given back", async () => {
  new Snowflake({ node: 707, unshared: true }).next();
  const store = storeWith({ nodes: { from: 20, to: 30 } });
  const other = await open(storeWith({ nodes: { from: 40, to: 45 } }));
  const { ids, events } = await open(store);
  ids.on("refused", () => other.ids.health());
  // Now the store has only what this process uses.
  takeAway(store, 20);
  const given = storeWith({ nodes: { from: 707, to: 707 } });
  store.acquire = (request) => given.acquire(request);
  store.release = (request) => given.release(request);
  await time.advance(W / 3 + 10);
  assert.deepEqual(
    events.slice(0, 2).map(([name, code]) => [name, code]),
    [
      ["lost", "LEASE_LOST"],
      ["refused", "STATE_CONFLICT"],
    ],
  );
  const [released] = given.calls.filter(({ verb }) => verb === "release");
  assert.deepEqual([released.request.node, released.answer], [707, true]);
  assert.equal(released.request.grant, given.calls[0].request.grant);
  await time.until(ids.close());
  await time.until(other.ids.close());
});

test("one node id only, and it is in use: NODE_IDS_EXHAUSTED with the cause after maxAsyncWaitMs, at a bounded rate", async () => {
  new Snowflake({ node: 709, unshared: true }).next();
  const store = storeWith({ nodes: { from: 709, to: 709 } });
  const { ms } = time;
  const error = await time.until(lease(store)).catch((error) => error);
  assert.equal(error.code, "NODE_IDS_EXHAUSTED");
  assert.deepEqual([error.cause.code, error.cause.field, error.cause.value], ["STATE_CONFLICT", "node", 709]);
  assert.ok(time.ms - ms >= 4990, `${time.ms - ms} ms`);
  const asked = verbs(store).filter((verb) => verb === "acquire").length;
  assert.ok(asked >= 2 && asked <= 10, `${asked} requests`);
  await time.advance(10_000);
  assert.deepEqual(time.pending, { timers: 0, holding: 0 });
});

test("another scope does not conflict", async () => {
  new Snowflake({ node: 711, unshared: true }).next();
  const store = storeWith({ scope: "shop", nodes: { from: 711, to: 711 } });
  const { ids } = await open(store, { scope: "shop" });
  assert.equal(ids.decode(ids.next()).node, 711);
  await time.until(ids.close());
});

test("health() degrades before the lease expires, and names the problem", async () => {
  let away = false;
  const store = storeWith({ fault: (_, execute) => (away ? Promise.reject(new Error("away")) : execute()) });
  const { ids } = await open(store);
  const { warnings, lease: before } = ids.health();
  assert.deepEqual(warnings, []);
  assert.deepEqual(
    { ...before, untilMs: 0, nextMs: 0 },
    { scope: "default", store: "memory", node: 0, fromMs: 0, untilMs: 0, failures: 0, nextMs: 0, skewMs: 0 },
  );
  assert.ok(before.nextMs > 9000 && before.nextMs <= 10_000);
  away = true;
  await time.advance(W / 3 + 200);
  const health = ids.health();
  assert.equal(health.ok, true);
  assert.match(health.warnings.join(), /was not renewed at the last \d attempts: STORE_UNAVAILABLE: renew failed/);
  assert.ok(health.lease.failures > 0 && health.lease.problem.code === "STORE_UNAVAILABLE");
  away = false;
  await time.advance(10_000);
  assert.deepEqual([ids.health().warnings, ids.health().lease.problem], [[], undefined]);
  await time.until(ids.close());
  const closed = ids.health();
  assert.deepEqual([closed.ok, closed.refusal.code], [false, "CLOSED"]);
  // Not the numbers of another lease, which the last call left.
  assert.deepEqual(closed.lease, { scope: "default", store: "memory", failures: 0, nextMs: 0, skewMs: 0 });
  await assert.rejects(ids.ready(), { code: "CLOSED" });
  assert.equal(typeof ids.stats().lease.attempts, "number");
});

test("health() warns from a skew of half the window", async () => {
  for (const [aheadMs, isWarning] of [
    [0, false],
    [-14_999, false],
    [-15_000, true],
    [-20_000, true],
    [14_999, false],
    [15_000, true],
    [20_000, true],
  ]) {
    const store = storeWith({ aheadMs });
    // The window of the last holder ended long ago: the length of a window is not that of this one.
    const { ids } = await open(store);
    const { warnings, lease } = ids.health();
    assert.equal(lease.skewMs, 0 - aheadMs);
    assert.equal(warnings.length, Number(isWarning), `${aheadMs}: ${warnings}`);
    if (isWarning)
      assert.match(
        warnings[0],
        new RegExp(`${Math.abs(aheadMs)} ms ${aheadMs < 0 ? "ahead of" : "behind"} the store's`),
      );
    await time.until(ids.close());
  }
});

test("with store time IDs follow the store's clock while the wall clock steps", async () => {
  const store = storeWith();
  const { ids } = await open(store, { time: "store" });
  const layout = Layout.named("default");
  const seen = new Set();
  const { wallStartMs } = time;
  const truth = () => Math.floor(wallStartMs + time.ms);
  store.now = truth;
  let last = 0n;
  for (const stepMs of [20_000, -20_000, -20_000, 20_000, 900, -900]) {
    time.wallStartMs += stepMs;
    // Drift of more than a second asks the store first.
    if (Math.abs(stepMs) > 1000) {
      const { length } = store.calls;
      assert.equal(thrownBy(ids.next).code, "LEASE_EXPIRED");
      // At most one attempt in five seconds is brought forward.
      await time.advance(5001);
      assert.ok(store.calls.length > length);
    }
    for (let count = 0; count < 100; count++) {
      const id = ids.next();
      assert.ok(id > last && !seen.has(id));
      last = id;
      seen.add(id);
    }
    assert.ok(Math.abs(layout.timestampOf(last) - truth()) <= 1001);
    await time.advance(7);
  }
  time.wallStartMs = wallStartMs;
  await time.until(ids.close());
});

test("sequence starts, and layouts with a clock field, without a node field, and of long ticks", async () => {
  const clocked = {
    epochMs: 1_704_067_200_000,
    fields: [
      { kind: "time", bits: 41 },
      { kind: "clock", bits: 2 },
      { kind: "node", bits: 8 },
      { kind: "sequence", bits: 12 },
    ],
  };
  const seconds = {
    epochMs: 1_704_067_200_000,
    tickMs: 1000,
    fields: [
      { kind: "time", bits: 33 },
      { kind: "node", bits: 10 },
      { kind: "sequence", bits: 20 },
    ],
  };
  for (const [options, nodes] of [
    [{ sequenceStart: "random" }, { from: 100, to: 110 }],
    [{ sequenceStart: "wrap" }, { from: 120, to: 130 }],
    [{ layout: clocked }, { from: 0, to: 255 }],
    [{ layout: "mastodon" }, undefined],
    [{ layout: "sonyflake" }, undefined],
    [{ layout: seconds }, undefined],
  ]) {
    const store = storeWith({ layout: options.layout ?? "default", ...(nodes && { nodes }) });
    const { ids } = await open(store, options);
    const all = new Set();
    for (let turn = 0; turn < 5; turn++) {
      for (const id of ids.nextMany(50)) all.add(id);
      if (turn === 2) takeAway(store, ids.node ?? 0, options.layout === "mastodon" ? 1000 : W);
      await time.advance(W / 3 + 1500);
      for (let waits = 0; waits < 20 && !ids.health().ok; waits++) await time.advance(1000);
    }
    assert.equal(all.size, 250, JSON.stringify(options));
    for (const id of all) {
      const { timestampMs, node = 0 } = ids.decode(id);
      const tickMs = ids.layout.tickMs;
      const inside = store.grants.some(
        (grant) => grant.node === node && timestampMs >= grant.fromMs && timestampMs + tickMs <= grant.untilMs,
      );
      assert.ok(inside, `${JSON.stringify(options)}: ${timestampMs} of node ${node} is in no window`);
    }
    if (options.layout === "mastodon") assert.equal(ids.health().lease.node, 0);
    await time.until(ids.close());
    // From the end of the largest tick that was used.
    const last = [...all].reduce((a, b) => (a > b ? a : b));
    const release = store.calls.findLast(({ verb }) => verb === "release");
    assert.equal(release.answer, true);
    assert.ok(release.request.untilMs >= ids.decode(last).timestampMs + ids.layout.tickMs);
  }
});
