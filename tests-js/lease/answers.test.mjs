// A lease with late answers, refusals, and impossible answers of its store.
import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeText } from "../base/rule-texts.mjs";
import { time } from "./faked.mjs";
import { never, open, storeWith, thrownBy, verbs, W } from "./harness.mjs";

test("an answer that comes late and says nothing new does not count as that of the attempt under way", async () => {
  for (const earlierMs of [0, 1]) {
    const store = storeWith();
    const { ids } = await open(store);
    const { grant, node, fromMs, untilMs } = store.grants[0];
    const old = { granted: true, grant, node, fromMs, untilMs: untilMs - earlierMs, storeNowMs: store.now() };
    const began = [];
    store.fault = () => {
      began.push(time.ms);
      return began.length === 1 ? new Promise((resolve) => setTimeout(() => resolve(old), 3500)) : never();
    };
    await time.advance(W / 3 + 3600);
    assert.equal(began.length, 2);
    // Past the window for this machine's clock, while the second attempt is under way.
    time.wallStartMs += W;
    const { retryAfterMs } = thrownBy(ids.next);
    time.wallStartMs -= W;
    const leftMs = began[1] + 3000 - time.ms;
    assert.ok(Math.abs(retryAfterMs - leftMs) <= 1, `${retryAfterMs} and not ${leftMs} ms`);
    store.fault = (_, execute) => execute();
    await time.advance(W);
    await time.until(ids.close());
  }
});

test("a fence that is confirmed late does not count as the answer to the attempt under way", async () => {
  const store = storeWith();
  const { ids } = await open(store);
  store.failOver();
  const began = [];
  store.fault = (verb, execute) => {
    began.push([verb, time.ms]);
    if (verb === "ensure" && began.length < 3) {
      execute();
      return new Promise((resolve) => setTimeout(resolve, 3500));
    }
    return began.length > 3 ? never() : execute();
  };
  await time.advance(W / 3 + 3600);
  assert.deepEqual(
    began.map(([verb]) => verb),
    ["renew", "ensure", "ensure", "renew"],
  );
  time.wallStartMs += 2 * W;
  const { retryAfterMs } = thrownBy(ids.next);
  time.wallStartMs -= 2 * W;
  const leftMs = began[3][1] + 3000 - time.ms;
  assert.ok(Math.abs(retryAfterMs - leftMs) <= 1, `${retryAfterMs} and not ${leftMs} ms`);
  store.fault = (_, execute) => execute();
  await time.advance(100_000);
  await time.until(ids.close());
});

test("a renewal that is fenced: LEASE_LOST, and the message names the fence", async () => {
  const store = storeWith({ windowMaxMs: 30_000 });
  const { ids } = await open(store);
  const errors = [];
  ids.on("lost", (error) => errors.push(error));
  await store.fence();
  store.now = () => Math.floor(time.wallStartMs + time.ms) + 40_000;
  await store.fence();
  await time.advance(W / 3 + 10);
  assert.equal(errors.length, 1);
  assert.equal(errors[0].code, "LEASE_LOST");
  assert.match(errors[0].message, /fence/);
  assert.doesNotMatch(wholeText(errors[0]), /in 1 ms/);
  await time.until(ids.close());
});

test("a refusal that comes after its time-out does not end a lease that a later attempt was granted", async () => {
  let first = true;
  const store = storeWith();
  // The first attempt is answered "fenced", which arrives after the second one was granted.
  store.fault = (verb, execute) => {
    if (verb !== "acquire" || !first) return execute();
    first = false;
    const refused = { granted: false, reason: "fenced", storeNowMs: store.now(), freeAtMs: store.now() + 1000 };
    return new Promise((resolve) => setTimeout(() => resolve(refused), 4000));
  };
  const { ids, names } = await open(store);
  await time.advance(5000);
  assert.deepEqual(names(), []);
  assert.equal(ids.node, 0);
  assert.equal(typeof ids.next(), "bigint");
  await time.until(ids.close());
});

test("a store that lost its last writes is fenced, and the lease goes on", async () => {
  const store = storeWith();
  const saved = store.save();
  const { ids } = await open(store);
  store.restore(saved);
  store.failOver();
  await time.advance(W / 3 + 10);
  assert.deepEqual(verbs(store).slice(0, 3), ["acquire", "renew", "ensure"]);
  assert.ok(store.fenceMs() >= store.now() + 60_000);
  // The row is gone, so the node id cannot be renewed; the others are fenced.
  assert.equal(ids.health().lease.node, undefined);
  assert.equal(thrownBy(ids.next).code, "LEASE_LOST");
  await time.advance(70_000);
  assert.equal(typeof ids.next(), "bigint");
  await time.until(ids.close());
});

test("a store that answers a renewal with what cannot be true is asked at a bounded rate, until the window ends", async () => {
  const answers = {
    undefined: () => undefined,
    exhausted: (_, store) => ({ granted: false, reason: "exhausted", freeAtMs: store.now(), storeNowMs: store.now() }),
    "another grant": (answer) => ({ ...answer, grant: "a".repeat(32) }),
    "an earlier end": (answer) => ({ ...answer, untilMs: answer.untilMs - 25_000 }),
    "the same end": (answer) => ({ ...answer, untilMs: answer.untilMs - 10_000 }),
    "no node id of the layout": (answer) => ({ ...answer, node: 5000 }),
    "a fence that never ends": () => ({ granted: false, reason: "incarnation" }),
    behind: () => ({ granted: false, reason: "behind" }),
    missing: () => ({ granted: false, reason: "missing" }),
    layout: () => ({ granted: false, reason: "layout", layout: "another" }),
  };
  for (const [name, change] of Object.entries(answers)) {
    const store = storeWith();
    const { ids } = await open(store);
    store.fault = async (verb, execute) => (verb === "renew" ? change(await execute(), store) : execute());
    const { length } = store.calls;
    await time.advance(W - 10);
    assert.ok(ids.health().ok, name);
    const asked = store.calls.length - length;
    assert.ok(asked >= 2 && asked <= 24, `${name}: ${asked} requests in a window`);
    await time.advance(3 * W);
    assert.ok(store.calls.length - length <= 90, `${name}: ${store.calls.length - length} requests in four windows`);
    store.fault = (_, execute) => execute();
    await time.advance(80_000);
    assert.equal(typeof ids.next(), "bigint", name);
    await time.until(ids.close());
    assert.deepEqual(time.pending, { timers: 0, holding: 0 });
  }
});
