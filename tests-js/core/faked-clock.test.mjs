// A process whose clock was faked for a test, and the words of the refusals that follow.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snowflake } from "frazil";
import { wholeText } from "../base/rule-texts.mjs";
import { scripted, start } from "../generator/scripted-clock.mjs";

const thrownBy = (call) => {
  try {
    call();
  } catch (error) {
    return error;
  }
};
/** The times in a message. */
const timesIn = (message) => (message.match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g) ?? []).map(Date.parse);

test("after a test that set the clock to 2030, the refusal says so, when it ends, and what to do", (t) => {
  const ahead = Date.parse("2030-01-01T00:00:00Z");
  const ids = new Snowflake({ node: 931 });
  t.mock.timers.enable({ apis: ["Date"], now: ahead });
  ids.next();
  t.mock.timers.reset();
  for (const call of [
    ids.next,
    ids.nextString,
    () => ids.fill(new BigUint64Array(2)),
    () => new Snowflake({ node: 931 }).next(),
  ]) {
    assert.throws(call, ({ code, retryable, retryAfterMs, message, hint }) => {
      assert.deepEqual([code, retryable], ["CLOCK_BACKWARD", true]);
      const [shown, due] = timesIn(message);
      assert.ok(Math.abs(shown - Date.now()) < 5000, message);
      assert.ok(Math.abs(due - ahead) <= 10, message);
      assert.ok(Math.abs(Date.now() + retryAfterMs - ahead) < 5000);
      assert.match(
        hint,
        /^Retry after \d+ days\. Was the clock ahead, or faked by a test\? In tests, use the option now .*another node id: a restart with this one can repeat IDs\.$/,
      );
      return true;
    });
  }
  assert.equal(timesIn(ids.health().refusal.message).length, 2);
  assert.match(ids.health().refusal.hint, /a restart with this one can repeat IDs\.$/);
  assert.equal(ids.tryNext(), undefined);
});

test("nextAsync rejects with it at once", async (t) => {
  const ids = new Snowflake({ node: 932 });
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2040-01-01T00:00:00Z") });
  ids.next();
  t.mock.timers.reset();
  await assert.rejects(ids.nextAsync(), { hint: /Was the clock ahead/ });
});

test("a clock that a test set to the past says the same", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2025-01-01T00:00:00Z") });
  assert.throws(
    () => new Snowflake({ node: 933 }).next(),
    /shows 2025-01-01T00:00:00\.000Z, and the next ID is due at 20/,
  );
  t.mock.timers.setTime(0);
  assert.throws(
    () => new Snowflake({ node: 933 }).next(),
    /the clock shows 1970-01-01T00:00:00\.000Z, before the epoch of the layout, 2024-01-01T/,
  );
});

test("a clock that stands still while a call waits is told, with the time that it shows, and what to do", (t) => {
  const stands = /^\w+: the clock still shows 2030-01-01T00:00:00\.000Z after a wait of [1-9]\d* ms$/;
  const cure = /^Retry after 1 ms\. Is the clock frozen or faked\? .*frazil\/testing, or advance the clock\.$/;
  const frozen = Date.parse("2030-01-01T00:00:00Z");
  t.mock.timers.enable({ apis: ["Date"], now: frozen });
  for (const ids of [new Snowflake({ node: 934 }), new Snowflake({ node: 934, now: () => frozen })]) {
    ids.fill(new BigUint64Array(45_056));
    for (const call of [ids.next, ids.nextString, () => ids.fill(new BigUint64Array(1))])
      assert.throws(call, ({ code, retryable, retryAfterMs, message, hint }) => {
        assert.deepEqual([code, retryable, retryAfterMs], ["SEQUENCE_EXHAUSTED", true, 1]);
        assert.match(message, stands);
        assert.match(hint, cure);
        return true;
      });
    assert.equal(ids.tryNext(), undefined);
  }
});

test("a call that does not wait, or whose clock moves meanwhile, says no more than when to retry", () => {
  for (const [maxWaitMs, stepMs] of [
    [0, 0],
    [1, 1 / 8],
  ]) {
    const clock = { ms: start, stepMs: 0 };
    const ids = new Snowflake({
      node: 7,
      maxWaitMs,
      now: () => {
        clock.ms += clock.stepMs;
        return clock.ms;
      },
    });
    ids.fill(new BigUint64Array(45_056));
    clock.stepMs = stepMs;
    assert.throws(ids.next, {
      name: "ClockError",
      code: "SEQUENCE_EXHAUSTED",
      message: /^SEQUENCE_EXHAUSTED: all sequence numbers [^:]*$/,
      hint: /^Retry after [\d.]+ ms\.$/,
    });
    assert.equal(ids.stats().waitedMs > 0, maxWaitMs > 0);
  }
});

test("up to 2 seconds it says no more than how long the wait is; from there on it has both times, and warns of a restart", () => {
  for (const [backMs, wait, hasTimes] of [
    [1000, "990 ms", false],
    [2009, "1999 ms", false],
    [2010, "2000 ms", true],
    [2011, "2001 ms", true],
    [120_009, "119999 ms", true],
    [120_010, "2 minutes", true],
    [61 * 60_000, "61 minutes", true],
    [47 * 3_600_000, "2820 minutes", true],
    [8_640_000_010, "100 days", true],
  ]) {
    const { clock, ids } = scripted();
    ids.next();
    clock.ms = start - backMs;
    for (const { code, message, hint, retryAfterMs } of [thrownBy(ids.next), ids.health().refusal]) {
      assert.deepEqual([code, retryAfterMs], ["CLOCK_BACKWARD", backMs - 10]);
      assert.deepEqual(timesIn(message), hasTimes ? [clock.ms, start - 10] : [], message);
      assert.ok(hint.startsWith(`Retry after ${wait}.`), hint);
      assert.equal(hint.endsWith(" a restart with this one can repeat IDs."), hasTimes, hint);
    }
  }
});

test("a clock that shows no date is shown as the number that it is", () => {
  const { clock, ids } = scripted();
  clock.ms = -1e300;
  assert.throws(ids.next, {
    message: /the clock shows -1e\+300, before the epoch of the layout, 2024-01-01T00:00:00\.000Z$/,
    hint: /^Set the clock\. /,
  });
});

test("a clock that moved after a wait is not said to stand", () => {
  const times = [start, start, start, start, start, start - 5000];
  const fields = [
    { kind: "time", bits: 41 },
    { kind: "sequence", bits: 1 },
  ];
  const layout = { epochMs: start - 1e6, tickMs: 1, fields };
  const now = () => (times.length > 1 ? times.shift() : times[0]);
  const ids = new Snowflake({ layout, node: "none", maxLeadMs: 0, maxWaitMs: 10, now });
  ids.next();
  ids.next();
  assert.throws(
    () => ids.next(),
    (error) => error.code === "CLOCK_BACKWARD" && !/still shows|frozen/.test(wholeText(error)),
  );
});
