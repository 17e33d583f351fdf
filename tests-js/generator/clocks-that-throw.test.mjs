// Errors of a clock are passed on; their fields (`issued`, `retryAfterMs`) never count as the generator's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClockError, ConfigError, Snowflake } from "frazil";
import { repeats } from "./broken-generators.mjs";
import { scripted, start } from "./scripted-clock.mjs";

/** Errors of a clock that look like errors of this package, with `issued` and `retryAfterMs`. */
const thrown = {
  "an error of this package": () =>
    new ClockError("SEQUENCE_EXHAUSTED", "mine", { issued: 10, retryAfterMs: 1, retryable: true }),
  "an error of another kind of this package": () => new ConfigError("CLOSED", "mine", { issued: 10, retryAfterMs: 1 }),
  "an object with the mark of FrazilError": () => ({
    [Symbol.for("frazil.error")]: "ClockError",
    code: "CLOCK_BACKWARD",
    issued: 10,
    retryAfterMs: 1,
  }),
  nothing: () => undefined,
};
for (const [name, make] of Object.entries(thrown)) {
  test(`if the clock throws ${name}, no ID is issued, and the error is passed on at once`, async () => {
    for (const reading of [1, 2]) {
      for (const call of [
        "nextAsync",
        "nextManyAsync",
        "nextManyStringsAsync",
        "fillAsync",
        "nextMany",
        "fill",
        "next",
      ]) {
        const error = make();
        let armed = false;
        let reads = 0;
        const now = () => {
          if (armed && ++reads >= reading) throw error;
          return start;
        };
        const ids = new Snowflake({ node: 7, maxLeadMs: 0, maxWaitMs: 5, now });
        ids.nextMany(4096 - 4);
        const target = new BigUint64Array(10);
        armed = true;
        const attempt = async () =>
          ids[call](
            call.startsWith("fill")
              ? target
              : call.endsWith("Async") && call.startsWith("next") && !call.includes("Many")
                ? undefined
                : 10,
          );
        // A call for a single ID reads the clock only once.
        const single = !call.includes("Many") && !call.startsWith("fill");
        if (single && reading === 2) continue;
        const outcome = await attempt().then(
          (value) => ({ value }),
          (error) => ({ error }),
        );
        assert.ok("error" in outcome, `${call} gave ${outcome.value}`);
        assert.equal(outcome.error, error, call);
        assert.equal(reads, reading, call);
        assert.equal(ids.stats().waitedMs, 0, call);
      }
    }
  });
}

test("if a replaced Date.now throws an error of this package, no ID is issued", async (context) => {
  const ids = new Snowflake({ node: 61 });
  await ids.nextAsync();
  const error = new ClockError("SEQUENCE_EXHAUSTED", "mine", { issued: 10, retryAfterMs: 1 });
  context.mock.method(Date, "now", () => {
    throw error;
  });
  const outcome = await ids.nextManyAsync(10).catch((error) => error);
  context.mock.restoreAll();
  assert.equal(outcome, error);
});

test("the `issued` of an error counts the IDs of its call only, although the clock makes calls that are refused", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 0, maxAsyncWaitMs: 50, now: () => read() });
  let depth = 0;
  const read = () => {
    if (depth++ === 3) {
      try {
        ids.nextMany(4096);
      } catch {}
    }
    return clock.ms;
  };
  depth = -1000;
  const got = [ids.next(), ids.next()];
  depth = 0;
  const more = ids.nextManyAsync(5000).catch((error) => error);
  setTimeout(() => clock.ms++, 5);
  setTimeout(() => clock.ms++, 15);
  setTimeout(() => clock.ms++, 25);
  const outcome = await more;
  if (Array.isArray(outcome)) {
    assert.ok(outcome.every((id) => id > 0n));
    got.push(...outcome);
  }
  assert.equal(repeats(got), 0);
});

test("calls that a clock makes do not extend the wait of the call that reads the clock", () => {
  let within = false;
  const now = () => {
    if (!within && ids !== undefined) {
      within = true;
      try {
        ids.next();
      } catch {}
      within = false;
    }
    return start;
  };
  let ids;
  ids = new Snowflake({ node: 7, maxLeadMs: 0, maxWaitMs: 3, now });
  const target = new BigUint64Array(8192);
  assert.throws(() => ids.fill(target), { code: "SEQUENCE_EXHAUSTED" });
  const before = ids.stats().stalls;
  assert.throws(() => ids.next(), { code: "SEQUENCE_EXHAUSTED" });
  // Four attempts of the call itself, and four of each call that the clock made at each of eight readings.
  const { stalls } = ids.stats();
  assert.ok(stalls - before <= 4 + 4 * 8, `${stalls - before}`);
});
