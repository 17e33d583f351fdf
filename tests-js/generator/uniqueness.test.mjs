// No ID is repeated, and no call hangs: between generators and threads, at the rate limit, on a clock that steps back.
// `millions.test.mjs` has the tests with millions of calls.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { Layout, Snowflake } from "frazil";
import { repeats, resetting } from "./broken-generators.mjs";
import { increasing, positions, scripted, start, times } from "./scripted-clock.mjs";
import { wideLayout } from "./wide-layout.mjs";

const native = new Snowflake({ node: 0 }).backend === "native";

test("300,000 IDs of the default layout reach its rate limit, wait, and do not repeat", () => {
  const ids = new Snowflake({ node: 2, maxWaitMs: 1000 });
  // On a slow machine a loop of `next` can be slower than the limit; `fill` is a hundred times faster.
  const filled = [...ids.fill(new BigUint64Array(200_000))];
  assert.ok(ids.stats().waitedMs > 0, "200,000 IDs take 48 ms of ID time and the lead is 10 ms, so calls must wait");
  const issued = [...filled, ...Array.from({ length: 100_000 }, () => ids.next())];
  assert.equal(repeats(issued), 0);
  assert.ok(increasing(issued));
});

// docs/internals/claims.md: 3
test("generators with one node id share one state, whatever their layout is called", () => {
  const pair = [
    new Snowflake({ node: 113, layout: "leaf" }),
    new Snowflake({ node: { datacenter: 3, worker: 17 }, layout: "twitter" }),
  ];
  const take = (generators) => Array.from({ length: 10_000 }, (_, at) => generators[at % 2]());
  assert.equal(repeats(take(pair.map(({ next }) => next))), 0);
  // Private states with a scripted clock behave like two processes with one node id.
  const apart = [0, 1].map(() => new Snowflake({ node: 113, layout: "leaf", now: () => start }).next);
  assert.ok(repeats(take(apart)) > 0, "the checker must catch the mutant");
});

test("a new generator for each call leaks no memory and repeats no ID", () => {
  const issued = Array.from({ length: 20_000 }, () => new Snowflake({ node: 3, maxWaitMs: 1000 }).next());
  assert.equal(repeats(issued), 0);
});

for (const [name, stepMs] of Object.entries({ "1 ms": 1, "1 s": 1000, "1 h": 3_600_000, "1 year": 31_536_000_000 })) {
  test(`with a clock that steps back by ${name}, calls neither hang nor repeat an ID`, () => {
    // During 2000 calls the clock advances by two steps; then it goes back by one step, and runs on from there.
    const calls = 2000;
    const passed = (call) => Math.floor((call * stepMs) / (calls / 2));
    const last = start + passed(calls - 1);
    const clock = (call) => (call < calls ? start + passed(call) : last - stepMs + passed(call - calls));
    const mint = (make) => {
      let call = 0;
      const next = make(() => clock(call));
      const issued = [];
      const codes = new Set();
      for (; call < 2 * calls; call++) {
        try {
          issued.push(next());
        } catch (error) {
          codes.add(error.code);
          assert.ok(error.retryAfterMs > 0 && error.retryAfterMs <= stepMs, `${error.retryAfterMs}`);
        }
      }
      return { issued, codes: [...codes] };
    };
    const { issued, codes } = mint((now) => new Snowflake({ node: 7, maxWaitMs: 0, now }).next);
    assert.equal(repeats(issued), 0);
    assert.ok(increasing(issued));
    assert.deepEqual(codes, stepMs <= 10 ? [] : ["CLOCK_BACKWARD"]);
    assert.ok(
      Layout.named("default").timestampOf(issued.at(-1)) >= last,
      "minting must go on once the clock has caught up",
    );
    assert.ok(repeats(mint(resetting).issued) > 0, "the checker must catch the mutant");
  });
}

for (const [name, later] of Object.entries({
  "one ID": (ids) => [ids.next()],
  several: (ids) => [...ids.nextMany(3)],
  "an array that is filled": (ids) => [...ids.fill(new BigUint64Array(3))],
})) {
  // docs/internals/claims.md: 5
  test(`the rest of a block is dropped once a larger ID is issued (${name}), and is not used when the clock is back`, () => {
    const { ids, clock } = scripted();
    const issued = times(10, ids.next);
    const { dropped } = ids.stats();
    clock.ms += 1;
    issued.push(...later(ids));
    clock.ms -= 1;
    issued.push(...times(10, ids.next));
    assert.ok(increasing(issued), `${positions(issued)}`);
    assert.ok(ids.stats().dropped > dropped, "the block must have had a rest");
  });
}

/** The IDs that worker threads mint at the same time, each with the options that `options` gives it. */
async function inThreads(threads, count, options) {
  const script = `
    const { parentPort, workerData } = require("node:worker_threads");
    const { Snowflake } = require("frazil");
    const ids = new Snowflake(workerData.options);
    const issued = new BigUint64Array(workerData.count);
    for (let at = 0; at < issued.length; at++) issued[at] = ids.next();
    parentPort.postMessage(issued);
  `;
  const lists = Array.from({ length: threads }, (_, thread) => {
    const worker = new Worker(script, { eval: true, workerData: { options: options(thread), count } });
    return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  });
  return (await Promise.all(lists)).flatMap((ids) => [...ids]);
}

// docs/internals/claims.md: 3
test("two worker threads with one node id do not repeat each other", {
  skip: !native && "does not apply: threads share a state only with the addon",
}, async () => {
  const issued = await inThreads(2, 500_000, () => ({
    node: 1,
    layout: { ...wideLayout.toJSON(), epochMs: 1704067200001 },
  }));
  assert.equal(repeats(issued), 0);
});

test("the checker catches worker threads that share no state", async () => {
  // Every other library has a separate state in each thread.
  const script = `
    const { parentPort } = require("node:worker_threads");
    const { Snowflake } = require("frazil");
    const ids = new Snowflake({ node: 7, now: () => ${start}, maxWaitMs: 0 });
    parentPort.postMessage(ids.nextMany(1000));
  `;
  const lists = await Promise.all(
    [0, 1].map(
      () =>
        new Promise((resolve, reject) =>
          new Worker(script, { eval: true }).once("message", resolve).once("error", reject),
        ),
    ),
  );
  assert.equal(repeats(lists.flat()), 1000);
});

test("WebAssembly in a worker thread refuses a static node id", {
  skip: native && "does not apply: the addon shares its state",
}, async () => {
  await assert.rejects(
    inThreads(1, 1, () => ({ node: 1 })),
    /NATIVE_REQUIRED/,
  );
  assert.equal((await inThreads(1, 5, () => ({ node: 1, unshared: true }))).length, 5);
});
