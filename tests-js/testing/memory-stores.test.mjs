// The stores in memory of `frazil/testing`: they keep the contracts, and a test can take a node id away, lose writes, or fail over.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lease } from "frazil/lease";
import { Segment } from "frazil/segment";
import { MemoryLeaseStore, MemorySegmentStore, manualClock } from "frazil/testing";
import { leaseContract } from "frazil/testing/lease-contract";
import { segmentContract } from "frazil/testing/segment-contract";
import { attempt, checkSecondInit } from "../stores/kit/attempts.mjs";

const NOW_MS = Date.UTC(2026, 0, 1);
const turn = () => new Promise((resolve) => setImmediate(resolve));

leaseContract({
  name: "MemoryLeaseStore",
  open: async () => {
    const clock = manualClock(NOW_MS);
    const store = new MemoryLeaseStore({ now: clock.now });
    return {
      store,
      init: (scope) => store.init({ ...scope, layout: "default" }),
      pass: async (ms) => {
        clock.advance(ms);
        await turn();
      },
      jumpClock: async (ms) => {
        clock.nowMs += ms;
      },
      changeIncarnation: async () => store.failOver(),
      stop: async () => {},
      start: async () => {},
    };
  },
});

segmentContract({
  name: "MemorySegmentStore",
  open: async () => {
    const store = new MemorySegmentStore();
    return {
      store,
      init: (tag, first) => store.initSegment({ tag, first }),
      changeIncarnation: async () => store.failOver(),
      saveRecord: async (tag) => {
        const record = store.save().get(tag);
        return async () => store.restore(new Map(store.save()).set(tag, record));
      },
    };
  },
});

test("init: once for each scope; a scope that is missing is refused", async () => {
  const store = new MemoryLeaseStore();
  await assert.rejects(lease(store, { scope: "orders" }), {
    code: "STORE_NOT_INITIALISED",
    message: /the memory store has no record of the scope "orders" in the memory of this process$/,
  });
  for (const call of [() => store.fence({ scope: "orders" }), async () => store.rows("orders")])
    await assert.rejects(call, { code: "STORE_NOT_INITIALISED" });
  assert.equal(await store.init({ scope: "orders", layout: "default" }), true);
  await checkSecondInit(store, "orders");
});

test("a row that a test replaces is that of somebody else, and the lease is lost at the next renewal", async () => {
  const clock = manualClock(NOW_MS);
  const store = new MemoryLeaseStore({ now: clock.now });
  await store.init({ layout: "default" });
  const request = attempt({ scope: "default" });
  const { node, untilMs } = await store.acquire(request);
  store.rows().set(node, { ...store.rows().get(node), grant: "0".repeat(32) });
  const { reason } = await store.renew({ ...request, node, untilMs });
  assert.equal(reason, "taken");
});

test("writes that are lost are found out, and a copy is not what is kept", async () => {
  const store = new MemoryLeaseStore();
  await store.init({ layout: "default" });
  const saved = store.save();
  const request = attempt({ scope: "default" });
  const { node, untilMs } = await store.acquire(request);
  assert.equal(saved.get("default").rows.size, 0);
  store.restore(saved);
  assert.equal((await store.renew({ ...request, node, untilMs })).reason, "behind");
  store.failOver();
  assert.equal((await store.renew({ ...request, node, untilMs })).reason, "incarnation");
  await store.ensure({ scope: "default", behind: false });
  assert.ok(store.save().get("default").fenceMs >= untilMs);
});

test("docs/guides/testing.md: the time of the store passes, and another server takes over", async () => {
  const clock = manualClock(Date.now());
  const store = new MemoryLeaseStore({ now: clock.now });
  await store.init({ layout: "default", nodes: { from: 7, to: 7 }, windowMaxMs: 30_000 });
  const leased = () => lease(store, { time: "store", maxAsyncWaitMs: 200 });
  const holders = [await leased()];
  await assert.rejects(leased(), { code: "NODE_IDS_EXHAUSTED", retryAfterMs: 30_000 });
  clock.advance(30_000);
  holders.push(await leased());
  store.failOver();
  await assert.rejects(leased(), { code: "NODE_IDS_EXHAUSTED", retryAfterMs: 35_000 });
  clock.advance(35_000);
  holders.push(await leased());
  const issued = holders.slice(1).map((ids) => ids.next());
  assert.equal(new Set(issued).size, 2);
  await Promise.all(holders.map((ids) => ids.close()));
});

test("a counter that goes back repeats no number", async () => {
  const store = new MemorySegmentStore();
  const early = new Segment(store, { tag: "orders" });
  await assert.rejects(early.next(), { code: "STORE_NOT_INITIALISED" });
  early.close();
  assert.equal(await store.initSegment({ tag: "orders", first: 5 }), true);
  const saved = store.save();
  const orders = new Segment(store, { tag: "orders", step: 10 });
  const before = await orders.nextMany(10);
  store.restore(saved);
  const after = await orders.nextMany(20);
  assert.equal(new Set([...before, ...after]).size, 30);
});

test("the clock of a store must be a function that returns a number", async () => {
  assert.throws(() => new MemoryLeaseStore({ now: manualClock() }), { code: "INVALID_OPTION", field: "now" });
  assert.throws(() => new MemoryLeaseStore({ clock: Date.now }), { code: "INVALID_OPTION", field: "clock" });
  const store = new MemoryLeaseStore({ now: () => NaN });
  await assert.rejects(store.init({ layout: "default" }), {
    code: "STORE_REFUSED",
    message: /now\(\) must be an integer .*, got NaN$/,
  });
});
