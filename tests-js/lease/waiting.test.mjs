// Calls that wait for a lease, and answers that come late.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inNewProcess } from "../core/package-copy.mjs";
import { time } from "./faked.mjs";
import { never, open, storeWith, takeAway, thrownBy, W, watched } from "./harness.mjs";

test("a call that waits for the store ends in its time if performance is taken away meanwhile, as at the end of a test", async () => {
  const script = `
    import { lease } from "frazil/lease";
    import { FaultyStore } from ${JSON.stringify(new URL("faulty-store.mjs", import.meta.url).href)};
    let isAway = false;
    const fault = (verb, execute) => (isAway && verb === "renew" ? new Promise(() => {}) : execute());
    const ids = await lease(FaultyStore.with({ fault }), { windowMs: 1000, maxAsyncWaitMs: 1000 });
    isAway = true;
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const beganMs = Date.now();
    const call = ids.nextAsync().catch((error) => error.code);
    await new Promise((resolve) => setTimeout(resolve, 20));
    delete globalThis.performance;
    setTimeout(() => process.exit(1), 60_000);
    process.stdout.write(JSON.stringify([await call, Date.now() - beganMs > 900]));
    process.exit();
  `;
  assert.deepEqual(await inNewProcess(script), ["LEASE_EXPIRED", true]);
});

test("a wall clock that stands in for performance may show no number, or be set back, and is right again afterwards", async () => {
  const script = `
    import { lease } from "frazil/lease";
    import { FaultyStore } from ${JSON.stringify(new URL("faulty-store.mjs", import.meta.url).href)};
    const ids = await lease(FaultyStore.with({}), { windowMs: 1000 });
    const outcome = () => {
      try {
        return typeof ids.next();
      } catch (error) {
        return error.code;
      }
    };
    const [wall, { performance }] = [Date.now, globalThis];
    delete globalThis.performance;
    const outcomes = [];
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    /** Mints again, after more than a window. */
    const later = async () => {
      await pause(1500);
      while (outcome() !== "bigint") await pause(20);
      outcomes.push("mints");
    };
    setTimeout(() => process.exit(1), 240_000);
    // Set back by more than any clock of the process has shown; too far for milliseconds to count; and no number that the core takes.
    const back = () => wall() - 100_000_000;
    for (const wrong of [() => NaN, back, () => Infinity, () => 1e20, () => -1e20, () => BigInt(wall())]) {
      Date.now = wrong;
      outcomes.push(outcome());
      Date.now = wall;
      await later();
    }
    globalThis.performance = performance;
    await later();
    while (ids.stats().lease.renewed <= 2) await pause(20);
    process.stdout.write(JSON.stringify(outcomes));
    process.exit();
  `;
  const wrong = [
    "INVALID_CLOCK",
    "CLOCK_BACKWARD",
    "INVALID_CLOCK",
    "TIME_EXHAUSTED",
    "CLOCK_BEFORE_EPOCH",
    "INVALID_CLOCK",
  ];
  assert.deepEqual(await inNewProcess(script), [...wrong.flatMap((code) => [code, "mints"]), "mints"]);
});

test("asynchronous calls wait for a lease, and are woken by the answer", async () => {
  let held = false;
  const waiting = [];
  const store = storeWith({
    fault: (_, execute) => (held ? new Promise((resolve) => waiting.push(() => resolve(execute()))) : execute()),
  });
  const { ids } = await open(store, { maxAsyncWaitMs: 400 });
  held = true;
  await time.advance(W / 3 + 1);
  assert.equal(waiting.length, 1);
  // The attempt has 3000 ms, and the calls only 400: the answer may come sooner.
  time.ms += 2000;
  takeAway(store, 0);
  waiting.pop()();
  await time.advance(1);
  assert.equal(thrownBy(ids.next).code, "LEASE_LOST");
  const target = new BigUint64Array(10);
  const calls = [ids.nextAsync(), ids.nextStringAsync(), ids.nextManyAsync(3), ids.fillAsync(target)].map(watched);
  await time.advance(300);
  assert.deepEqual(
    calls.map(({ state }) => state),
    Array(4).fill("pending"),
  );
  const { ms } = time;
  held = false;
  waiting.pop()();
  await time.advance(0);
  for (const call of calls) assert.deepEqual([call.state, call.atMs], ["resolved", ms], call.error?.stack);
  assert.equal(ids.decode(await calls[0].promise).node, 1);
  assert.ok(target.every((id) => ids.decode(id).node === 1));
  await time.until(ids.close());
});

test("a lease that ends, or is closed, in the middle of a call: the error says how many IDs the array has", async () => {
  for (const [code, act] of [
    ["LEASE_EXPIRED", () => {}],
    ["CLOSED", (ids) => ids.close()],
  ]) {
    let held = false;
    const store = storeWith({ fault: (_, execute) => (held ? never() : execute()) });
    const { ids } = await open(store, { maxLeadMs: 0, windowMs: 3000, maxAsyncWaitMs: 5000 });
    held = true;
    const target = new BigUint64Array(5000);
    const call = watched(ids.fillAsync(target));
    await time.advance(0);
    time.ms += 3001;
    const closed = act(ids);
    await time.advance(6000);
    assert.deepEqual([call.error?.code, call.error?.issued], [code, 4096]);
    assert.equal(target.indexOf(0n), 4096);
    await time.until(closed ?? ids.close());
  }
});

test("an asynchronous call waits as long as maxAsyncWaitMs, and no longer", async () => {
  let held = false;
  const store = storeWith({ fault: (_, execute) => (held ? never() : execute()) });
  const { ids } = await open(store, { maxAsyncWaitMs: 700 });
  held = true;
  await time.advance(W + 1);
  const { ms } = time;
  const call = watched(ids.nextAsync());
  await time.advance(5000);
  assert.equal(call.state, "rejected");
  assert.equal(call.error.code, "LEASE_EXPIRED");
  assert.ok(call.atMs - ms >= 699 && call.atMs - ms <= 702, `${call.atMs - ms} ms`);
  // An abort ends the wait at once.
  const controller = new AbortController();
  const aborted = watched(ids.nextAsync({ signal: controller.signal }));
  await time.advance(100);
  controller.abort(new Error("stop"));
  await time.advance(0);
  assert.equal(aborted.error.message, "stop");
  held = false;
  await time.until(ids.close());
  assert.deepEqual(time.pending, { timers: 0, holding: 0 });
});

test("the time in which the event loop is blocked counts for a call that waits", async () => {
  const { ids } = await open(storeWith(), { maxLeadMs: 0, maxAsyncWaitMs: 700 });
  // A tick after the other, each a wait of its own.
  const call = watched(ids.nextManyAsync(20 * 4096));
  for (let round = 0; round < 10; round++) {
    time.ms += 300; // blocked
    await time.advance(1);
  }
  assert.equal(call.state, "rejected");
  assert.equal(call.error.code, "SEQUENCE_EXHAUSTED");
  await time.until(ids.close());
});

test("a call that waits holds the process, and an open lease does not", async () => {
  let held = false;
  const store = storeWith({ fault: (_, execute) => (held ? never() : execute()) });
  const { ids } = await open(store);
  assert.deepEqual(time.pending, { timers: 1, holding: 0 });
  held = true;
  await time.advance(W + 1);
  assert.equal(time.pending.holding, 0);
  const call = watched(ids.nextAsync());
  await time.advance(1);
  assert.equal(time.pending.holding, 1);
  await time.advance(6000);
  assert.equal(call.state, "rejected");
  assert.equal(time.pending.holding, 0);
  held = false;
  await time.until(ids.close());
});

test("a blocked event loop: the answer is late, and is used when it comes", async () => {
  const store = storeWith();
  const { ids, names } = await open(store);
  const first = ids.next();
  time.ms += 3 * W;
  // Still in the same turn: no timer could run.
  assert.equal(thrownBy(ids.next).code, "LEASE_EXPIRED");
  await time.advance(1);
  assert.ok(ids.next() > first);
  assert.deepEqual(names(), ["renewed"]);
  await time.until(ids.close());
});

test("many refused calls in one turn bring one attempt forward", async () => {
  const store = storeWith();
  const { ids } = await open(store);
  time.ms += 3 * W;
  const { length } = store.calls;
  for (let count = 0; count < 1000; count++) thrownBy(ids.next);
  await time.advance(1);
  assert.equal(store.calls.length, length + 1);
  await time.until(ids.close());
});

test("a late answer is used, and the attempt after it is not brought forward", async () => {
  let slowMs = 0;
  const store = storeWith({
    fault: (_, execute) =>
      slowMs ? new Promise((resolve) => setTimeout(() => resolve(execute()), slowMs)) : execute(),
  });
  const { ids, names } = await open(store);
  slowMs = 3010; // longer than the time-out, a tenth of the window
  await time.advance(W / 3 + 3020);
  assert.deepEqual(names(), ["refused STORE_UNAVAILABLE", "renewed"]);
  slowMs = 0;
  await time.advance(10_000);
  assert.ok(ids.health().ok);
  assert.equal(ids.health().lease.problem, undefined);
  await time.until(ids.close());
});
