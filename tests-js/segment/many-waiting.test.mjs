// Two hundred thousand waiting calls cost no more per call than a few.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Segment } from "frazil/segment";
import { FaultySegments } from "./faulty-store.mjs";

const never = () => new Promise(() => {});

/** How many milliseconds of the processor something takes. */
async function processorMs(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const served = async (count) => {
  const store = new FaultySegments();
  const orders = new Segment(store, { tag: "orders", step: 1000, maxStep: 1000, maxAsyncWaitMs: 600_000 });
  store.before = () => sleep(1);
  const numbers = await Promise.all(Array.from({ length: count }, () => orders.next()));
  assert.deepEqual([numbers[0], numbers.at(-1)], [1n, BigInt(count)]);
  orders.close();
};
const timedOut = async (count) => {
  const orders = new Segment({ name: "hanging", allocate: never }, { tag: "orders", maxAsyncWaitMs: 50 });
  const calls = Array.from({ length: count }, () => orders.next().catch(({ code }) => code));
  assert.deepEqual(new Set(await Promise.all(calls)), new Set(["SEGMENT_EXHAUSTED"]));
  orders.close();
};
// Forty times as many calls take about forty times as long, and not sixteen hundred times.
for (const [name, work] of Object.entries({ served, timedOut })) {
  test(`the time of a call does not depend on how many wait: ${name}`, async (context) => {
    await work(5000);
    const few = await processorMs(() => work(5000));
    const many = await processorMs(() => work(200_000));
    context.diagnostic(`5,000 calls: ${few.toFixed(0)} ms, 200,000: ${many.toFixed(0)} ms`);
    assert.ok(many < 120 * few, `${many} ms for forty times the calls of ${few} ms`);
  });
}
