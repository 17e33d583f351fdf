// Waiting: blocking calls sleep up to maxWaitMs; asynchronous calls wait up to maxAsyncWaitMs without blocking the event loop,
// and can be aborted.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { Snowflake } from "frazil";
import { inNewProcess } from "../core/package-copy.mjs";
import { repeats } from "./broken-generators.mjs";
import { from, increasing, positions, scripted, start, times, tinyLayout } from "./scripted-clock.mjs";

// Waiting

test("calls beyond the rate limit sleep, within maxWaitMs", () => {
  const ids = new Snowflake({ node: 24, maxWaitMs: 1000 });
  ids.next();
  const { user, system } = process.cpuUsage();
  const began = performance.now();
  const target = ids.fill(new BigUint64Array(1_000_000));
  const wallMs = performance.now() - began;
  const used = process.cpuUsage({ user, system });
  assert.ok(increasing([...target.subarray(0, 20_000)]));
  assert.ok(ids.stats().waitedMs > 0);
  // A million IDs take 244 ms of ID time, and the lead is 10 ms.
  assert.ok(wallMs > 200, `${wallMs} ms`);
  const busyMs = (used.user + used.system) / 1000;
  assert.ok(busyMs < 0.7 * wallMs, `busy for ${busyMs} of ${wallMs} ms: it spins`);
});

test("on a clock that stands still, a call waits as often as maxWaitMs allows, and no more", () => {
  const { ids, clock } = scripted({ maxLeadMs: 0, maxWaitMs: 3 });
  ids.nextMany(4096);
  clock.reads = 0;
  assert.throws(ids.next, { code: "SEQUENCE_EXHAUSTED", retryAfterMs: 1 });
  // Each of the four attempts reads the clock twice before it trusts a stall.
  assert.equal(clock.reads, 8);
  const { stalls, rechecks, waitedMs } = ids.stats();
  assert.deepEqual({ stalls, rechecks, waitedMs }, { stalls: 4, rechecks: 4, waitedMs: 3 });
});

test("a wait that is longer than maxWaitMs does not begin", () => {
  const { ids, clock } = scripted({ maxWaitMs: 50 });
  ids.next();
  clock.ms -= 1000;
  clock.reads = 0;
  assert.throws(ids.next, { code: "CLOCK_BACKWARD", retryAfterMs: 990 });
  assert.deepEqual([clock.reads, ids.stats().waitedMs], [2, 0]);
});

test("a call waits until a short step back is over", () => {
  let back = 0;
  const now = () => start - (back > 0 ? back-- : 0);
  const ids = new Snowflake({ node: 7, maxLeadMs: 0, maxWaitMs: 20, now });
  const first = ids.next();
  back = 6;
  assert.deepEqual(positions([first, ids.next()]), [0, 1]);
  // Two readings per attempt: 6 and 5 ms behind, then 4 and 3, then 2 and 1.
  assert.equal(ids.stats().waitedMs, 5 + 3 + 1);
});

test("every call has its own maxWaitMs", () => {
  const { ids, clock } = scripted({ maxLeadMs: 0, maxWaitMs: 2 });
  ids.nextMany(4096);
  for (const _ of [1, 2]) {
    clock.reads = 0;
    assert.throws(ids.next, { code: "SEQUENCE_EXHAUSTED" });
    assert.equal(clock.reads, 6);
  }
  assert.equal(ids.stats().waitedMs, 4);
});

test("a count that can never be reached is refused with the largest possible one, before any ID is issued", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 2, maxWaitMs: 0, maxAsyncWaitMs: 1 });
  // True for every one of these calls.
  const hint = "The lead and the wait (maxWaitMs, or maxAsyncWaitMs with await) give no more at once.";
  const refused = { code: "SEQUENCE_EXHAUSTED", name: "ClockError", retryable: false, field: "count", hint };
  for (const call of [ids.nextMany, ids.nextManyStrings, (count) => ids.fill(new BigUint64Array(count))]) {
    assert.throws(() => call(3 * 4096 + 1), { ...refused, value: 3 * 4096 + 1, maxCount: 3 * 4096 });
  }
  for (const call of [
    ids.nextManyAsync,
    ids.nextManyStringsAsync,
    (count) => ids.fillAsync(new BigUint64Array(count)),
  ]) {
    await assert.rejects(call(4 * 4096 + 1), { ...refused, value: 4 * 4096 + 1, maxCount: 4 * 4096 });
  }
  assert.deepEqual([ids.stats().issued, clock.reads], [0, 0]);
  assert.deepEqual(positions(ids.nextMany(3 * 4096)), from(0, 3 * 4096));
});

test("a request for the largest possible count succeeds", () => {
  const ids = new Snowflake({ node: 25, maxWaitMs: 1000 });
  assert.equal(repeats([...ids.fill(new BigUint64Array(2 ** 20))]), 0);
});

test("the error of a stall in mid-call says how many IDs were issued; these are valid and never repeated", () => {
  const { ids, clock } = scripted({ maxLeadMs: 2 });
  const before = times(4, ids.next);
  const target = new BigUint64Array(3 * 4096);
  let error;
  try {
    ids.fill(target);
  } catch (caught) {
    error = caught;
  }
  assert.equal(error?.code, "SEQUENCE_EXHAUSTED");
  assert.equal(error.issued, 3 * 4096 - 4);
  assert.equal(error.retryAfterMs, 1);
  const got = [...target.subarray(0, error.issued)];
  assert.deepEqual(positions([...before, ...got]), from(0, 3 * 4096));
  assert.deepEqual([...target.subarray(error.issued)], [0n, 0n, 0n, 0n]);
  assert.equal(ids.stats().issued, 3 * 4096);
  clock.ms += 1;
  const after = ids.nextMany(100);
  assert.deepEqual(positions(after), from(3 * 4096, 100));
});

test("the error of a stall at the first ID says that none was issued", () => {
  const { ids } = scripted({ maxLeadMs: 0 });
  ids.nextMany(4096);
  assert.throws(() => ids.fill(new BigUint64Array(1)), { code: "SEQUENCE_EXHAUSTED", issued: 0 });
});

// Waiting without blocking the event loop

test("nextAsync waits until the clock advances, and other code runs meanwhile, whatever maxWaitMs is", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 0, maxWaitMs: 1000 });
  ids.nextMany(4096);
  clock.reads = 0;
  const waiting = [ids.nextAsync(), ids.nextManyAsync(2), ids.fillAsync(new BigUint64Array(2))];
  // One attempt each, with two readings of the clock; a blocking wait would read it many times.
  assert.equal(clock.reads, 6);
  let others = 0;
  const ticking = setInterval(() => {
    if (++others === 5) clock.ms += 1;
  }, 1);
  const [id, many, filled] = await Promise.all(waiting);
  clearInterval(ticking);
  const issued = positions([id, ...many, ...filled]).sort((a, b) => a - b);
  assert.deepEqual(issued, from(4096, 5));
  assert.ok(others >= 5);
  assert.ok(ids.stats().waitedMs > 0);
});

test("nextAsync, nextManyAsync and fillAsync give up after maxAsyncWaitMs in total", async (t) => {
  // A clock that stands still: each timer counts as what was asked of it.
  t.mock.method(performance, "now", () => 0);
  for (const call of ["nextAsync", "nextStringAsync", "nextManyAsync", "nextManyStringsAsync", "fillAsync"]) {
    const { ids, clock } = scripted({ maxLeadMs: 0, maxAsyncWaitMs: 3 });
    ids.nextMany(4096);
    clock.reads = 0;
    const argument = { nextManyAsync: 1, nextManyStringsAsync: 1, fillAsync: new BigUint64Array(1) }[call];
    await assert.rejects(ids[call](argument), { code: "SEQUENCE_EXHAUSTED", retryAfterMs: 1 }, call);
    assert.deepEqual([clock.reads, ids.stats().waitedMs], [8, 3], call);
  }
});

test("a timer that ends late counts in full: the time that passes is limited, and not what was asked for", async (t) => {
  const { ids, clock } = scripted({ maxLeadMs: 0, maxAsyncWaitMs: 100 });
  ids.nextMany(4096);
  let passedMs = 0;
  t.mock.method(performance, "now", () => {
    passedMs += 20;
    return passedMs;
  });
  clock.reads = 0;
  await assert.rejects(ids.nextAsync(), { code: "SEQUENCE_EXHAUSTED" });
  // Five waits of 20 ms, and two readings for each attempt.
  assert.deepEqual([clock.reads, ids.stats().waitedMs], [12, 100]);
});

test("with maxAsyncWaitMs 0 an asynchronous call does not wait", async () => {
  const { ids } = scripted({ maxLeadMs: 0, maxAsyncWaitMs: 0 });
  ids.nextMany(4096);
  await assert.rejects(ids.nextAsync(), { code: "SEQUENCE_EXHAUSTED" });
  assert.equal(ids.stats().waitedMs, 0);
});

test("maxWaitMs 0 does not limit asynchronous calls", async () => {
  const ids = new Snowflake({ node: 26, maxWaitMs: 0 });
  const issued = await ids.nextManyAsync(300_000);
  assert.equal(repeats(issued), 0);
  assert.ok(increasing(issued));
});

const reasons = {
  "its own reason": undefined,
  "a reason of the caller's": new TypeError("enough"),
  "no error at all": "enough",
};
for (const [name, reason] of Object.entries(reasons)) {
  test(`a signal that was aborted before the call, with ${name}, rejects and issues nothing`, async () => {
    const { ids } = scripted();
    const [last] = ids.nextMany(1);
    const signal = AbortSignal.abort(reason);
    const isReason = (error) => error === signal.reason;
    await assert.rejects(ids.nextAsync({ signal }), isReason);
    await assert.rejects(ids.nextStringAsync({ signal }), isReason);
    await assert.rejects(ids.nextManyAsync(5, { signal }), isReason);
    await assert.rejects(ids.nextManyStringsAsync(5, { signal }), isReason);
    await assert.rejects(ids.fillAsync(new BigUint64Array(5), { signal }), isReason);
    assert.equal(ids.stats().issued, 1);
    assert.equal(ids.next(), last + 1n);
  });

  test(`a signal that is aborted during the wait, with ${name}, rejects and loses no ID`, async () => {
    const { ids, clock } = scripted({ maxLeadMs: 0 });
    ids.nextMany(4096);
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = [ids.nextAsync({ signal }), ids.nextStringAsync({ signal }), ids.nextManyAsync(5, { signal })];
    waiting.push(ids.fillAsync(new BigUint64Array(5), { signal }));
    setTimeout(() => controller.abort(reason), 5);
    for (const result of await Promise.allSettled(waiting)) {
      assert.equal(result.status, "rejected");
      assert.equal(result.reason, signal.reason);
    }
    clock.ms += 1;
    assert.deepEqual(positions(ids.nextMany(10)), from(4096, 10));
  });
}

test("an aborted wait removes its timer and its listener", async () => {
  const script = `
    import { getEventListeners } from "node:events";
    import { Snowflake } from "frazil";
    const ids = new Snowflake({ node: 7, maxLeadMs: 0, maxAsyncWaitMs: 2 ** 31 - 1, now: () => ids === undefined ? 0 : time });
    let time = ${start};
    ids.next();
    time -= 1e9;
    const controller = new AbortController();
    const waiting = ids.nextAsync({ signal: controller.signal });
    setTimeout(() => controller.abort(), 5);
    await waiting.catch(() => {});
    time = ${start};
    await ids.nextAsync({ signal: controller.signal }).catch(() => {});
    process.stdout.write(JSON.stringify(getEventListeners(controller.signal, "abort").length));
  `;
  // The aborted wait is eleven days long: if its timer were left, the process would not end.
  assert.equal(await inNewProcess(script), 0);
});

test("an abort between two waits ends the call", async (t) => {
  // A clock that stands still: each timer counts as what was asked of it.
  t.mock.method(performance, "now", () => 0);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const controller = new AbortController();
  const { signal } = controller;
  let reads = 0;
  const now = () => {
    // The last reading of the second attempt, when no listener is registered.
    if (++reads === 4) controller.abort();
    return start;
  };
  const ids = new Snowflake({ node: 7, layout: tinyLayout, maxWaitMs: 0, maxLeadMs: 0, maxAsyncWaitMs: 1000, now });
  ids.nextMany(4);
  assert.ok(!signal.aborted);
  reads = 0;
  const call = ids.nextAsync({ signal });
  await new Promise(setImmediate);
  // Ends the first wait. Nothing would end a second one.
  t.mock.timers.tick(1);
  await assert.rejects(call, { name: "AbortError" });
  assert.deepEqual([reads, ids.stats().waitedMs], [4, 1]);
});

test("the IDs that an aborted nextManyAsync had reserved are issued by later calls, in order", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 0 });
  const first = times(4, ids.next);
  const controller = new AbortController();
  const waiting = ids.nextManyAsync(5000, { signal: controller.signal });
  await sleep(3);
  assert.equal(ids.stats().issued, 4096);
  controller.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  assert.equal(ids.stats().issued, 4);
  assert.deepEqual(positions([...first, ids.next(), ...ids.nextMany(3)]), from(0, 8));
  // Time passes, and the kept IDs are still issued first.
  clock.ms += 5;
  const rest = [...ids.fill(new BigUint64Array(4088)), ids.next()];
  assert.deepEqual(positions(rest), [...from(8, 4088), 5 * 4096]);
  assert.equal(ids.stats().dropped, 0);
});

test("the IDs that an aborted call had reserved are not issued after larger ones, so IDs stay in order", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 0 });
  const controller = new AbortController();
  const waiting = ids.nextManyAsync(5000, { signal: controller.signal });
  await sleep(0);
  clock.ms += 1;
  const [meanwhile] = ids.nextMany(1);
  controller.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  const after = ids.nextMany(10);
  assert.ok(increasing([meanwhile, ...after]));
  const { issued, dropped } = ids.stats();
  assert.deepEqual({ issued, dropped }, { issued: 11, dropped: 4096 });
});

test("if a generator is closed meanwhile, an aborted nextManyAsync restores no IDs", async () => {
  const { ids } = scripted({ maxLeadMs: 0 });
  const controller = new AbortController();
  const waiting = ids.nextManyAsync(5000, { signal: controller.signal });
  await sleep(0);
  ids.close();
  controller.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  assert.throws(ids.next, { code: "CLOSED" });
  assert.throws(() => ids.nextMany(1), { code: "CLOSED" });
});

test("close() ends the waits of the generator", async () => {
  const { ids } = scripted({ maxLeadMs: 0 });
  ids.nextMany(4096);
  const waiting = [ids.nextAsync(), ids.nextManyAsync(3), ids.fillAsync(new BigUint64Array(3))];
  ids.close();
  for (const result of await Promise.allSettled(waiting)) assert.equal(result.reason?.code, "CLOSED");
});

test("concurrent asynchronous calls never repeat each other's IDs", async () => {
  const ids = new Snowflake({ node: 27 });
  const calls = times(2000, (at) => {
    if (at % 20 === 0) return ids.nextManyAsync(1000);
    if (at % 20 === 10) return ids.fillAsync(new BigUint64Array(500)).then((target) => [...target]);
    return ids.nextAsync().then((id) => [id]);
  });
  const lists = await Promise.all(calls);
  const issued = lists.flat();
  assert.equal(issued.length, 100 * 1000 + 100 * 500 + 1800);
  assert.equal(repeats(issued), 0);
  assert.ok(lists.every(increasing));
  assert.equal(ids.stats().issued, issued.length);
});

test("concurrent asynchronous calls that stall, and of which half are aborted, never repeat each other's IDs", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 1 });
  const ticking = setInterval(() => clock.ms++, 2);
  const issued = [];
  const calls = times(60, async (at) => {
    const controller = new AbortController();
    if (at % 2 === 1) setTimeout(() => controller.abort(), at / 3);
    await ids.nextManyAsync(1000, { signal: controller.signal }).then(
      (got) => issued.push(...got),
      (error) => assert.equal(error.name, "AbortError"),
    );
    issued.push(await ids.nextAsync());
  });
  await Promise.all(calls);
  clearInterval(ticking);
  assert.ok(issued.length > 30_000);
  assert.equal(repeats(issued), 0);
  assert.equal(ids.stats().issued, issued.length);
});

test("many calls that wait with one signal share a listener, which is gone afterwards, so Node warns of no leak", async () => {
  const warnings = [];
  const note = ({ name }) => warnings.push(name);
  process.on("warning", note);
  const { ids } = scripted({ maxLeadMs: 0, maxAsyncWaitMs: 60_000 });
  ids.nextMany(4096);
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = () => getEventListeners(signal, "abort").length;
  const waiting = Array.from({ length: 50 }, () => ids.nextAsync({ signal }));
  await turn();
  assert.equal(listeners(), 1);
  controller.abort("enough");
  const outcomes = await Promise.allSettled(waiting);
  assert.ok(outcomes.every(({ reason }) => reason === "enough"));
  assert.equal(listeners(), 0);

  // The checker must see a listener for each wait.
  const other = new AbortController();
  for (let at = 0; at < 11; at++) other.signal.addEventListener("abort", () => {});
  await turn();
  process.off("warning", note);
  assert.deepEqual(warnings, ["MaxListenersExceededWarning"]);
});
