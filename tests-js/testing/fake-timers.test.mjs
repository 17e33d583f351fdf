// Generators under the fake timers of `node:test`: each row of the table in docs/guides/testing.md, and its remedy.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snowflake } from "frazil";
import { manualClock, seededIds } from "frazil/testing";
import { repeats } from "../generator/broken-generators.mjs";

const APIS = ["Date", "setTimeout", "setInterval", "setImmediate"];
const year = (number) => Date.UTC(number, 0, 1);
const timeOf = (ids, id) => ids.decode(id).timestampMs;

/** Lets promises settle, without a timer. */
async function settled() {
  for (let turn = 0; turn < 50; turn++) await null;
}

/** Mints until the generator refuses: how many IDs there were, and the refusal. */
function exhaust(ids) {
  for (let count = 0; ; count++) {
    try {
      ids.next();
    } catch ({ code }) {
      return { count, code };
    }
  }
}

test("a faked time before the epoch, or before the start of the process, is refused, and leaves nothing behind", (t) => {
  const ids = new Snowflake({ node: 901, maxWaitMs: 1000 });
  for (const [now, code] of [
    [undefined, "CLOCK_BEFORE_EPOCH"],
    [year(2020), "CLOCK_BEFORE_EPOCH"],
    [year(2025), "CLOCK_BACKWARD"],
  ]) {
    t.mock.timers.enable({ apis: APIS, now });
    assert.throws(ids.next, { code });
    assert.throws(new Snowflake({ node: 902 }).next, { code });
    t.mock.timers.reset();
  }
  assert.ok(timeOf(ids, ids.next()) > year(2026));
});

test("the time of now, faked, stands still until the test moves it", async (t) => {
  const before = Date.now() + 1000;
  const ids = new Snowflake({ node: 903, maxWaitMs: 0 });
  t.mock.timers.enable({ apis: APIS, now: before });
  assert.deepEqual(exhaust(ids), { count: 45_056, code: "SEQUENCE_EXHAUSTED" });
  let waited;
  const waiting = ids.nextAsync().then((id) => {
    waited = id;
  });
  await settled();
  assert.equal(waited, undefined, "it waits for a timer of the test");
  t.mock.timers.tick(1);
  await waiting;
  assert.equal(timeOf(ids, waited), before + 11);
});

test("a later faked time stays with the node id for the process, and other node ids mint", (t) => {
  const mint = (node) => new Snowflake({ node, maxWaitMs: 1000 }).next();
  t.mock.timers.enable({ apis: APIS, now: year(2030) });
  const ids = new Snowflake({ node: 904 });
  assert.equal(timeOf(ids, ids.next()), year(2030));
  t.mock.timers.reset();
  for (const next of [ids.next, () => mint(904)])
    assert.throws(next, ({ code, retryable, retryAfterMs }) => {
      assert.deepEqual([code, retryable], ["CLOCK_BACKWARD", true]);
      assert.ok(Math.abs(retryAfterMs - (year(2030) - Date.now())) < 60_000, `${retryAfterMs}`);
      return true;
    });
  assert.ok(timeOf(ids, mint(905)) < year(2030));
  // Why: with a state of its own, as a generator with `now` has it, one that follows the time back issues the same IDs again.
  const issued = [year(2030), year(2026), year(2030)].map((nowMs) =>
    new Snowflake({ node: 904, now: () => nowMs }).next(),
  );
  assert.equal(repeats(issued), 1);
});

test("timers that are faked without Date leave the time as it is", async (t) => {
  const ids = new Snowflake({ node: 906, maxWaitMs: 1000 });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  assert.ok(Math.abs(timeOf(ids, ids.next()) - Date.now()) < 1000);
});

test("seeded IDs and a manual clock are not concerned by a faked time", (t) => {
  t.mock.timers.enable({ apis: APIS, now: year(2030) });
  const seeded = seededIds();
  const clock = manualClock();
  const ids = new Snowflake({ node: 907, now: clock.now });
  for (const each of [seeded, ids]) assert.equal(timeOf(each, each.next()), year(2025));
  t.mock.timers.tick(5000);
  assert.equal(timeOf(seeded, seeded.next()), year(2025) + 1000);
  assert.equal(timeOf(ids, ids.next()), year(2025));
});

test("fake timers whose time stands before the first tick of a generator are named, and so is what to do", (t) => {
  t.mock.timers.enable({ apis: APIS, now: Math.ceil(performance.timeOrigin) });
  assert.throws(() => new Snowflake({ node: 908, maxWaitMs: 0 }).next(), {
    message: /^CLOCK_BACKWARD: the clock shows 20\S+, and was replaced, as by fake timers$/,
    hint: /^Retry after \d+ ms\. .*frazil\/testing/,
  });
});

test("a clock in seconds is asked about", () => {
  const ids = new Snowflake({ node: 7, now: () => Math.floor(Date.now() / 1000) });
  assert.throws(ids.next, { code: "CLOCK_BEFORE_EPOCH", hint: /^Is it in seconds\?/ });
});
