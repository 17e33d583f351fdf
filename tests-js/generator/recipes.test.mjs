// Every row of docs/guides/recipes.md: its settings must behave as it says, on the backend of the suite.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Layout, Snowflake } from "frazil";
import { scripted as onClock, start } from "./scripted-clock.mjs";

/** A generator on a clock that the test sets, and the offset of an ID's time from the start. */
function scripted(options) {
  const { ids, clock } = onClock(options);
  return { ids, clock, at: (id) => ids.decode(id).timestampMs - start };
}

/** A clock that stands still until `stepBack`; from the next reading on, `sinceMs` ago, it runs in real time. */
function settable() {
  let stepMs = 0;
  let began;
  const sinceMs = () => performance.now() - began;
  const now = () => {
    if (stepMs === 0) return start;
    began ??= performance.now();
    return start - stepMs + Math.floor(sinceMs());
  };
  const stepBack = (ms) => {
    stepMs = ms;
  };
  return { now, sinceMs, stepBack };
}

const refusal = (code, retryAfterMs) => ({ code, retryAfterMs });

const RECIPES = {
  "Twitter: refuse"() {
    const { ids, clock } = scripted({ layout: "twitter", node: { datacenter: 3, worker: 17 }, maxLeadMs: 0 });
    const first = ids.next();
    clock.ms -= 1;
    assert.throws(ids.next, refusal("CLOCK_BACKWARD", 1));
    clock.ms += 1;
    assert.equal(ids.next(), first + 1n);
    ids.nextMany(4094);
    assert.throws(ids.next, refusal("SEQUENCE_EXHAUSTED", 1));
  },

  "Leaf: wait for a small step, refuse a large one"() {
    const options = { layout: "leaf", node: 7, maxLeadMs: 0, maxWaitMs: 10, sequenceStart: "random" };
    const clock = settable();
    const ids = new Snowflake({ ...options, now: clock.now });
    const first = ids.next();
    clock.stepBack(5);
    assert.ok(first < ids.next());
    assert.ok(clock.sinceMs() >= 5, "the second ID must come when the clock has caught up");

    const { now, stepBack } = settable();
    const late = new Snowflake({ ...options, now });
    late.next();
    stepBack(60_000);
    assert.throws(late.next, { code: "CLOCK_BACKWARD" });
    assert.equal(late.stats().waitedMs, 0, "a wait that cannot suffice must not begin");
  },

  async "Wait for the clock"() {
    const clock = settable();
    const ids = new Snowflake({ node: 7, maxLeadMs: 0, maxAsyncWaitMs: 5000, now: clock.now });
    const first = ids.next();
    clock.stepBack(40);
    assert.ok(first < (await ids.nextAsync()));
    assert.ok(clock.sinceMs() >= 40);
  },

  "Historical time"() {
    const { ids, clock, at } = scripted({ maxLeadMs: 1000 });
    const first = ids.next();
    clock.ms -= 1000;
    assert.equal(ids.next(), first + 1n);
    assert.equal(at(first + 1n), 0, "the ID must be in the tick before the step");
    clock.ms -= 1;
    assert.throws(ids.next, refusal("CLOCK_BACKWARD", 1));
  },

  "Catch up"() {
    const { ids, clock, at } = scripted({ maxLeadMs: 1000 });
    ids.fill(new BigUint64Array(100 * 4096));
    assert.equal(ids.health().leadMs, 99);
    clock.ms += 60;
    assert.equal(at(ids.next()), 100, "the sequence must continue where it was");
    clock.ms += 60;
    assert.equal(at(ids.next()), 120, "the ID must have the time of the clock again");
    assert.equal(ids.health().leadMs, 0);
  },

  "UidGenerator: borrow the future"() {
    const layout = Layout.named("baidu").with({ epochMs: 1_767_225_600_000 });
    const { ids, clock, at } = scripted({ layout, node: 7, maxLeadMs: 1000 });
    const issued = ids.nextMany(2 * 8192);
    assert.equal(at(issued.at(-1)), 1000, "two seconds of IDs must be issued in one");
    assert.throws(ids.next, refusal("SEQUENCE_EXHAUSTED", 1000));
    clock.ms += 1000;
    assert.equal(at(ids.next()), 2000);
  },

  "Multi-clock: another clock id at each step back"() {
    const { ids, clock } = scripted({ layout: "multi-clock", maxLeadMs: 0 });
    const clocks = Array.from({ length: 16 }, (_, step) => {
      clock.ms = start - step;
      return ids.decode(ids.next()).clock;
    });
    assert.deepEqual(clocks, [...clocks.keys()]);
    clock.ms = start - 16;
    assert.throws(ids.next, refusal("CLOCK_BACKWARD", 1), "all sixteen clock ids are used for later ticks");
    assert.equal(ids.stats().switches, 15);
  },

  "Multi-clock: reuse clock ids under load"() {
    const { ids } = scripted({ layout: "multi-clock", maxLeadMs: 0 });
    const issued = [...ids.fill(new BigUint64Array(16_384))];
    assert.ok(issued.every((id, at) => at === 0 || issued[at - 1] < id));
    assert.equal(new Set(issued.map((id) => ids.decode(id).timestampMs)).size, 1, "2^14 IDs in one millisecond");
    assert.throws(ids.next, refusal("SEQUENCE_EXHAUSTED", 1));
  },

  "Sonyflake: keep the tick, and wait when it is full"() {
    const { ids, clock, at } = scripted({ layout: "sonyflake", maxLeadMs: 1000 });
    const first = ids.next();
    clock.ms -= 1000;
    assert.equal(ids.next(), first + 0x10000n, "the sequence lies above the machine");
    assert.equal(at(ids.nextMany(254).at(-1)), 0);
    assert.throws(ids.next, refusal("SEQUENCE_EXHAUSTED", 10));
  },

  "yitter: drift ahead, reserved numbers for steps back"() {
    // yitter reserves four sequence numbers of each tick; two bits of clock id do the same, and a fifth step repeats no ID.
    const fields = [
      { kind: "time", bits: 45 },
      { kind: "node", bits: 6 },
      { kind: "clock", bits: 2 },
      { kind: "sequence", bits: 6 },
    ];
    const options = { layout: { epochMs: 1_582_136_402_000, fields }, maxLeadMs: 1000 };
    const drifting = scripted(options);
    const last = drifting.ids.fill(new BigUint64Array(1001 * 256)).at(-1);
    assert.equal(drifting.at(last), 1000, "a drift of 1000 ticks, with 256 IDs each");

    const { ids, clock, at } = scripted(options);
    ids.next();
    for (let step = 1; step <= 3; step++) {
      clock.ms -= 3000;
      assert.equal(at(ids.next()), -3000 * step);
    }
    clock.ms -= 3000;
    assert.throws(
      ids.next,
      refusal("CLOCK_BACKWARD", 2000),
      "the fourth step over one period must be refused, and repeat no ID",
    );
    for (let step = 1; step <= 20; step++) {
      clock.ms += 7000;
      ids.next();
      clock.ms -= 3000;
      assert.equal(at(ids.next()), clock.ms - start, "any number of steps over different periods must work");
    }
  },

  "Seata: one counter that runs ahead"() {
    const { ids, clock } = scripted({ layout: "seata", maxLeadMs: 1000 });
    const issued = ids.nextMany(10_000);
    assert.equal(issued.at(-1) - issued[0], 9999n, "time and sequence count as one number");
    clock.ms -= 500;
    assert.equal(ids.next(), issued.at(-1) + 1n);
  },

  "TSID: a random start, and the sequence carries into the time"() {
    const { ids, at } = scripted({ layout: "tsid", maxLeadMs: 1000, sequenceStart: "random" });
    const issued = ids.nextMany(8192);
    assert.ok(issued.every((id, index) => index === 0 || id > issued[index - 1]));
    assert.ok(ids.decode(issued[0]).sequence < 1024);
    assert.deepEqual([...new Set(issued.map(at))], [0, 1, 2].slice(0, at(issued.at(-1)) + 1));
    assert.ok(at(issued.at(-1)) >= 1);
  },

  "Random start, and round"() {
    const { ids, clock } = scripted({ maxLeadMs: 0, sequenceStart: "wrap" });
    const sequences = () => ids.nextMany(4096).map((id) => ids.decode(id).sequence);
    const first = sequences();
    assert.equal(new Set(first).size, 4096, "every sequence number of the tick must occur");
    assert.ok(first.every((sequence, at) => at === 0 || sequence === (first[at - 1] + 1) % 4096));
    assert.throws(ids.next, refusal("SEQUENCE_EXHAUSTED", 1));
    const starts = new Set([first[0]]);
    for (; starts.size < 3; starts.add(sequences()[0])) clock.ms += 1;
  },

  Retry() {
    const { ids, clock } = scripted({ maxLeadMs: 0 });
    const first = ids.next();
    clock.ms -= 250;
    for (;;) {
      try {
        assert.equal(ids.next(), first + 1n);
        break;
      } catch (error) {
        assert.ok(error.retryable);
        clock.ms += error.retryAfterMs;
      }
    }
    assert.equal(clock.ms, start, "one wait of exactly the step must suffice");
  },

  "Raise an alarm, take the node out"() {
    const { ids, clock } = scripted({});
    ids.next();
    assert.deepEqual([ids.health().ok, ids.health().warnings], [true, []]);
    clock.ms -= 3_600_000;
    assert.throws(ids.next, { code: "CLOCK_BACKWARD" });
    const health = ids.health();
    assert.equal(health.ok, false);
    assert.equal(health.refusal.code, "CLOCK_BACKWARD");
    assert.equal(health.refusal.retryAfterMs, 3_600_000 - 10);
    assert.deepEqual([ids.stats().stepsBack, ids.stats().largestStepBackMs], [1, 3_600_000]);
  },
};

test("docs/guides/recipes.md has a row for every recipe, and no other", () => {
  const text = readFileSync(new URL("../../docs/guides/recipes.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| \*\*(.+?)\*\* \|/gm)].map(([, name]) => name);
  assert.deepEqual(rows, Object.keys(RECIPES));
});

for (const [name, recipe] of Object.entries(RECIPES)) test(name, recipe);
