// The steps of the shipped driver, which draws the rest of a range before handing it out. The vectors have only the rule.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Segment } from "frazil/segment";
import { FaultySegments } from "./faulty-store.mjs";

/**
 * Uses so many numbers a second, by a clock that the test moves, until the store was asked so often. Returns the counts, and how many
 * numbers were handed out at each request. The store takes `fetchMs`.
 */
async function requestsAt(numbersASecond, requests, fetchMs = 0) {
  let now = 1000;
  const real = performance.now;
  performance.now = () => now;
  const store = new FaultySegments();
  let used = 0;
  const counts = [];
  const usedAt = [];
  store.before = ({ count }) => {
    counts.push(count);
    usedAt.push(used);
    now += fetchMs;
  };
  const orders = new Segment(store, { tag: "orders", step: 1000 });
  try {
    await orders.ready();
    while (counts.length < requests) {
      await orders.next();
      used++;
      now += 1000 / numbersASecond;
      // The answer of the store is taken.
      if (usedAt.at(-1) === used - 1) await new Promise(setImmediate);
    }
  } finally {
    orders.close();
    performance.now = real;
  }
  return { counts, usedAt };
}

test("a steady rate is asked for as in the table of docs/guides/segments.md, and settles at every rate", async () => {
  const { segments } = JSON.parse(
    readFileSync(new URL("../../crates/core/vectors/segments.json", import.meta.url), "utf8"),
  );
  const table = segments.find(({ name }) => name.includes("docs/guides/segments.md"));
  const { counts } = await requestsAt(10, table.counts.length);
  assert.deepEqual(counts, table.counts);
  for (const rate of [2, 3, 7, 12, 25]) {
    const { counts } = await requestsAt(rate, 14);
    const settled = counts.slice(-5);
    assert.ok(new Set(settled).size === 1, `${rate} a second: ${counts}`);
    const lastsS = settled[0] / rate;
    assert.ok(lastsS >= 15 * 60 && lastsS <= 30 * 60, `${rate} a second: a range lasts ${lastsS} s`);
  }
});

test("a store that is fast enough is asked after a tenth of each range, also after ranges that were used faster", async () => {
  const { counts, usedAt } = await requestsAt(10, 8, 400);
  let begun = 0;
  for (let at = 2; at < counts.length; at++) {
    begun += counts[at - 2];
    const part = (usedAt[at] - begun) / counts[at - 1];
    assert.ok(part >= 0.09 && part <= 0.11, `request ${at} comes after ${part} of its range`);
  }
});
