// If a bulk call fails with an error of this package, the error has the number of IDs in the array.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ConfigError, FrazilError, Snowflake } from "frazil";
import { scripted, start } from "./scripted-clock.mjs";

/** What a clock does in the middle of a call, and the code of the error that the call ends with. */
const clocks = {
  "closes the generator": ["CLOSED", (ids) => ids.close()],
  "shows no number": ["INVALID_CLOCK", () => "today"],
  "shows NaN": ["INVALID_CLOCK", () => Number.NaN],
  "shows a time before the epoch": ["CLOCK_BEFORE_EPOCH", () => 1],
  "shows a time beyond the layout": ["TIME_EXHAUSTED", () => 1e15],
  "stands still": ["SEQUENCE_EXHAUSTED", () => start],
  "throws an error of this package": ["STATE_CONFLICT", () => assert.fail(new ConfigError("STATE_CONFLICT", "mine"))],
  "throws the error of another call": [
    "NODE_REQUIRED",
    () => assert.fail(new ConfigError("NODE_REQUIRED", "mine", { issued: 7 })),
  ],
};

async function errorOf(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

const CALLS = {
  fill: (ids, target) => ids.fill(target),
  fillAsync: (ids, target) => ids.fillAsync(target),
  nextMany: (ids) => ids.nextMany(5000),
  nextManyStrings: (ids) => ids.nextManyStrings(5000),
  nextManyAsync: (ids) => ids.nextManyAsync(5000),
  nextManyStringsAsync: (ids) => ids.nextManyStringsAsync(5000),
};

for (const [what, [code, act]] of Object.entries(clocks)) {
  describe(`the clock ${what} in mid-call`, () => {
    for (const [name, call] of Object.entries(CALLS)) {
      test(name, async () => {
        const target = new BigUint64Array(5000);
        let reads = -Infinity;
        const now = () => (++reads > 1 ? (act(ids) ?? start) : start);
        const { ids } = scripted({ maxLeadMs: 1, maxWaitMs: 0, maxAsyncWaitMs: 0, now });
        // Of two ticks: that of the clock, and the lead.
        ids.nextMany(4096);
        reads = 0;
        const error = await errorOf(() => call(ids, target));
        assert.deepEqual([error.code, error.issued], [code, 4096], error.stack);
        if (name.startsWith("fill")) assert.equal(target.indexOf(0n), 4096);
      });
    }
  });
}

test("close() while the call waits", async () => {
  const { ids } = scripted({ maxLeadMs: 0, maxAsyncWaitMs: 1000 });
  const target = new BigUint64Array(5000);
  const calls = [ids.fillAsync(target), ids.nextManyAsync(10)];
  ids.close();
  const outcomes = await Promise.allSettled(calls);
  assert.deepEqual(
    outcomes.map(({ reason }) => [reason.code, reason.issued]),
    [
      ["CLOSED", 4096],
      ["CLOSED", 0],
    ],
  );
  assert.equal(target.indexOf(0n), 4096);
});

test("the time of the call is over", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 0, maxAsyncWaitMs: 20 });
  const target = new BigUint64Array(3 * 4096);
  const call = ids.fillAsync(target);
  clock.ms++;
  const { code, issued } = await errorOf(() => call);
  assert.deepEqual([code, issued], ["SEQUENCE_EXHAUSTED", 2 * 4096]);
  assert.equal(target.indexOf(0n), issued);
});

test("a replaced Date.now throws an error of this package, which is passed on with the count of this call", (context) => {
  const ids = new Snowflake({ node: 62 });
  const error = new FrazilError("CLOSED", "mine", { issued: 7 });
  const frozen = Object.freeze(new FrazilError("CLOSED", "mine"));
  for (const thrown of [error, frozen]) {
    const target = new BigUint64Array(5000);
    let reads = 0;
    const { now } = Date;
    context.mock.method(Date, "now", () => {
      if (reads++ === 0) return now();
      throw thrown;
    });
    const fill = () => ids.fill(target);
    assert.throws(fill, (caught) => caught === thrown);
    context.mock.restoreAll();
    assert.equal(thrown.issued, thrown === error ? target.indexOf(0n) : undefined);
  }
  assert.ok(error.issued > 7);
});

test("what is no error of this package is passed on as it is: the reason of a signal, and what a clock throws", async () => {
  const { ids } = scripted({ maxLeadMs: 0 });
  const target = new BigUint64Array(5000);
  const controller = new AbortController();
  const call = ids.fillAsync(target, { signal: controller.signal });
  const reason = new Error("stop");
  controller.abort(reason);
  assert.equal(await errorOf(() => call), reason);
  assert.deepEqual(Object.keys(reason), []);
  assert.equal(target.indexOf(0n), 4096);
});
