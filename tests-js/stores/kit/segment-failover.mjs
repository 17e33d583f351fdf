// A failover to a server that lacks the last allocations, for stores whose servers replicate without waiting.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Segment } from "frazil/segment";

const STEP = 100;

/** How many numbers of a list are there more than once. */
export const repeatsOf = (numbers) => numbers.length - new Set(numbers).size;

/** Draws that many numbers. */
async function draw(segment, count, numbers) {
  for (let drawn = 0; drawn < count; drawn++) numbers.push(await segment.next());
}

/**
 * Two processes draw numbers, the replica stops following, and they draw more. Then the primary crashes, and the replica, which
 * lacks their last allocations, is promoted. A new process, which knows of nothing, draws there first, and then the two go on. Returns
 * all numbers, and how many ranges the primary allocated that the replica lacks.
 */
async function failover({ startPair, connect, nextNumber }, { failoverSkip, ...options }, context) {
  const { primary, replica, cutOff, promote } = await startPair(context);
  context.after(() => Promise.all([primary.crash(), replica.crash()]));
  const open = async (server) => {
    const connection = await connect(server, options);
    context.after(() => connection.close());
    return connection;
  };
  const [first, second] = [await open(primary), await open(primary)];
  await first.store.migrate?.();
  await first.store.initSegment({ tag: "orders" });
  const numbers = [];
  /** A process whose store is another one after the failover. */
  const processOn = (store) => {
    const moving = { name: "moving", store, allocate: (request) => moving.store.allocate(request) };
    const terms = { tag: "orders", step: STEP, maxStep: STEP, maxAsyncWaitMs: 20_000 };
    return { moving, segment: new Segment(moving, { ...terms, failoverSkip }) };
  };
  const old = [processOn(first.store), processOn(second.store)];
  for (const { segment } of old) await draw(segment, 50, numbers);
  // No process allocates when none draws.
  let followed;
  for (let tries = 0; followed === undefined; tries++) {
    assert.ok(tries < 400, "the replica does not follow");
    await sleep(50);
    const [there, here] = [await nextNumber(primary), await nextNumber(replica).catch(() => undefined)];
    if (there === here && old.every(({ segment }) => segment.stats().left > STEP)) followed = BigInt(there);
  }
  await cutOff();
  for (const { segment } of old) await draw(segment, 250, numbers);
  const lost = BigInt(await nextNumber(primary)) - followed;
  await primary.crash();
  await promote();
  const third = await open(replica);
  const terms = { tag: "orders", step: STEP, maxStep: STEP, maxAsyncWaitMs: 20_000 };
  const young = new Segment(third.store, { ...terms, failoverSkip });
  await draw(young, 250, numbers);
  for (const process of old) {
    process.moving.store = third.store;
    await draw(process.segment, 250, numbers);
  }
  for (const segment of [young, ...old.map(({ segment }) => segment)]) segment.close();
  return { numbers, lost };
}

/**
 * Tests that a replica which lacks allocations is promoted. `startPair(context)` starts a primary and a replica that follows it, with
 * the calls `cutOff` and `promote` of the replica; `connect(server, options)` makes a store on a server, with its `close`;
 * `nextNumber(server)` reads the counter.
 */
export function segmentFailoverTests(servers) {
  const run = async (options, context) => {
    const { numbers, lost } = await failover(servers, options, context);
    assert.equal(numbers.length, 1350);
    assert.ok(lost >= 2 * STEP && lost < 10 * STEP, `${lost} allocated numbers were lost`);
    return repeatsOf(numbers);
  };

  test("no number comes twice", async (context) => {
    assert.equal(await run({}, context), 0);
  });

  test("with failoverSkip: 0 numbers come twice", async (context) => {
    assert.ok((await run({ failoverSkip: 0 }, context)) > 0, "the mutant shows nothing");
  });

  test("without an incarnation numbers come twice", async (context) => {
    const incarnation = "none-accepting-repeats-after-failover";
    assert.ok((await run({ incarnation }, context)) > 0, "the mutant shows nothing");
  });
}
