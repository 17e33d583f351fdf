// `frazil/testing`: a generator whose IDs are the same in each run, a clock that only the test moves, and the refusal in production.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError, Layout, Snowflake } from "frazil";
import { manualClock, seededIds } from "frazil/testing";
import { inNewProcess } from "../core/package-copy.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { increasing, times } from "../generator/scripted-clock.mjs";

const NEW_YEAR_MS = Date.UTC(2025, 0, 1);
const DAY_MS = 86_400_000;

/** What an ID says, as a line. */
const lineOf = (ids) => (id) => {
  const { id: number, date, node, sequence } = ids.decode(id);
  return `${number} ${date.toISOString()} ${node}/${sequence}`;
};

/** Checks that a call is refused with the code, the field and a rule. */
const refused = (call, code, field, rule) =>
  assert.throws(call, (error) => {
    assert.ok(error instanceof ConfigError, `${error?.stack}`);
    assert.deepEqual([error.code, error.field], [code, field]);
    assert.match(`${error.message}\n${error.hint}`, rule);
    return true;
  });

// The clock

test("a step beyond all numbers is refused, and the clock stays", () => {
  const clock = manualClock(1e308);
  refused(() => clock.advance(1e308), "INVALID_ARGUMENT", "nowMs", /finite/);
  assert.equal(clock.nowMs, 1e308);
  assert.equal(clock.advance(5), 1e308);
});

// Seeded IDs

test("the epoch of seeded IDs may be a Date", () => {
  const date = new Date(NEW_YEAR_MS);
  assert.equal(seededIds({ epochMs: date }).next(), seededIds({ epochMs: NEW_YEAR_MS }).next());
});

test("two seeds have no ID of a day in common, whatever the tick of the layout", () => {
  const fields = [
    { kind: "time", bits: 20 },
    { kind: "node", bits: 10 },
    { kind: "sequence", bits: 12 },
  ];
  for (const [tickMs, epochMs] of [
    [7 * DAY_MS, Date.UTC(2020, 0, 1)],
    [36_000_000, NEW_YEAR_MS],
    [36_000_000, NEW_YEAR_MS - 32_400_000],
    [10_007, NEW_YEAR_MS - 9000],
  ]) {
    const layout = new Layout({ epochMs, tickMs, fields });
    const ofDay = (seed) => {
      const ids = seededIds({ layout, seed, stepMs: 60_000 });
      return Array.from({ length: 1440 }, () => ids.next());
    };
    assert.equal(repeats([...ofDay(0), ...ofDay(1), ...ofDay(2)]), 0, `ticks of ${tickMs} ms`);
  }
});

test("seeded IDs are these, in each run and on each backend", async () => {
  const ids = seededIds();
  const issued = [ids.next(), ids.nextString(), ...ids.nextMany(3), await ids.nextAsync(), ids.next()];
  assert.deepEqual(issued.map(lineOf(ids)), [
    "132633958809604096 2025-01-01T00:00:00.000Z 1/0",
    "132633963003908096 2025-01-01T00:00:01.000Z 1/0",
    "132633967198212096 2025-01-01T00:00:02.000Z 1/0",
    "132633967198212097 2025-01-01T00:00:02.000Z 1/1",
    "132633967198212098 2025-01-01T00:00:02.000Z 1/2",
    "132633971392516096 2025-01-01T00:00:03.000Z 1/0",
    "132633975586820096 2025-01-01T00:00:04.000Z 1/0",
  ]);
  const script = `
    import { seededIds } from "frazil/testing";
    console.log(JSON.stringify(seededIds({ seed: 3, layout: "twitter", node: 38 }).nextManyStrings(100)));`;
  const again = () => inNewProcess(script);
  const here = seededIds({ seed: 3, layout: "twitter", node: 38 }).nextManyStrings(100);
  assert.deepEqual([await again(), await again()], [here, here]);
});

test("seeded IDs of every call increase, and calls at the same time have IDs of their own", async () => {
  const ids = seededIds();
  const issued = [
    ...ids.nextMany(10_000),
    ...ids.fill(new BigUint64Array(5000)),
    ids.next(),
    ...(await Promise.all(times(50, () => ids.nextAsync()))),
    ...(await ids.nextManyAsync(5000)),
    ...(await ids.fillAsync(new BigUint64Array(10))),
    BigInt(ids.nextString()),
  ];
  assert.ok(increasing(issued));
  assert.equal(repeats(issued), 0);
});

test("seeds have no ID in common within a day of their time, and a seed that is used twice has all of them", () => {
  const issued = (seed) => times(2000, seededIds({ seed, stepMs: 43_000 }).next);
  assert.equal(repeats([0, 1, 2, 7].flatMap(issued)), 0);
  assert.equal(repeats([0, 1, 2, 1].flatMap(issued)), 2000, "the checker must catch the mutant");
  assert.equal(seededIds({ seed: 2 }).decode(seededIds({ seed: 2 }).next()).timestampMs, NEW_YEAR_MS + 2 * DAY_MS);
});

test("seeded IDs of every layout start in 2025, or at the epoch of a layout that does not have that time", () => {
  for (const name of Layout.names) {
    const ids = seededIds({ layout: name });
    const { timestampMs, node, sequence } = ids.decode(ids.next());
    const { epochMs } = ids.layout;
    assert.equal(timestampMs, name === "baidu" ? epochMs : NEW_YEAR_MS, name);
    assert.deepEqual([node, sequence], [name === "mastodon" ? undefined : 1, 0], name);
    assert.equal(ids.decode(ids.next()).timestampMs, timestampMs + 1000, name);
  }
  const epochMs = Date.UTC(2031, 5, 15, 12);
  const later = seededIds({ epochMs, node: { node: 1023 } });
  assert.deepEqual(later.decode(later.next()).toJSON(), {
    ...later.decode(later.layout.compose({ timestampMs: epochMs, node: 1023, sequence: 0 })).toJSON(),
  });
  const short = {
    epochMs: 0,
    fields: [
      { kind: "time", bits: 10 },
      { kind: "sequence", bits: 4 },
    ],
  };
  const few = seededIds({ layout: short, stepMs: 1 });
  assert.equal(times(1024, few.next).at(-1), 1023n << 4n);
  assert.throws(few.next, { code: "TIME_EXHAUSTED" });
});

test("the time moves by the step, and one that stands still gives the IDs of a second at once", async () => {
  const hourly = seededIds({ stepMs: 3_600_000 });
  assert.deepEqual(
    times(3, () => hourly.decode(hourly.next()).timestampMs),
    [0, 1, 2].map((hours) => NEW_YEAR_MS + 3_600_000 * hours),
  );
  const still = seededIds({ stepMs: 0 });
  const first = still.next();
  assert.deepEqual(times(3, still.next), [first + 1n, first + 2n, first + 3n]);
  // A lead of a second beyond the tick: 4096 IDs in each of 1001 ms.
  const left = 1001 * 4096 - 4;
  for (let taken = 0; taken < left; taken += 4096) still.fill(new BigUint64Array(Math.min(4096, left - taken)));
  const before = performance.now();
  assert.throws(still.next, { code: "SEQUENCE_EXHAUSTED" });
  await assert.rejects(still.nextAsync(), { code: "SEQUENCE_EXHAUSTED" });
  assert.ok(performance.now() - before < 1000, "it must not wait for a time that does not move");
});

test("a seeded generator is a Snowflake, of which every call works detached, and has nothing to do with others", () => {
  const ids = seededIds({ node: 0 });
  assert.ok(ids instanceof Snowflake);
  const { next, nextString, decode, stats, health, close } = ids;
  next();
  assert.equal(decode(nextString()).node, 0);
  const [third] = ids;
  assert.equal(decode(third).timestampMs, NEW_YEAR_MS + 2000);
  assert.deepEqual([stats().issued, health().ok, health().warnings], [3, true, []]);
  // Each has a state of its own, whatever its node id is.
  assert.equal(seededIds({ node: 0 }).decode(seededIds({ node: 0 }).next()).timestampMs, NEW_YEAR_MS);
  close();
  assert.throws(next, { code: "CLOSED" });
  seededIds({ node: 0 }).next();
});

test("what fakes the time, the timers and random numbers changes no seeded ID", async (t) => {
  const issued = async () => {
    const ids = seededIds();
    return [ids.next(), ...ids.nextMany(5000), await ids.nextAsync(), ...(await ids.nextManyAsync(5000))];
  };
  const expected = await issued();
  t.mock.timers.enable({ apis: ["Date", "setTimeout", "setInterval", "setImmediate"], now: Date.UTC(2031, 0, 1) });
  t.mock.method(Math, "random", () => 0.5);
  t.mock.method(performance, "now", () => 0);
  assert.deepEqual(await issued(), expected);
});

test("options of seeded IDs that cannot be are refused, each with its field and rule", () => {
  for (const [options, field, rule, code = "INVALID_OPTION"] of [
    [{ seed: -1 }, "seed", /seed must be an integer from 0 to 25085, got -1/],
    [{ seed: 25_086 }, "seed", /from 0 to 25085/],
    [{ seed: "7" }, "seed", /seed must be an integer from 0 to 25085, got "7"/],
    [{ seed: 0.5 }, "seed", /integer/],
    [{ stepMs: -1 }, "stepMs", /stepMs must be an integer from 0 .*, got -1/],
    [{ stepMs: "1" }, "stepMs", /integer/],
    [{ sed: 7 }, "sed", /unknown option "sed"\nDid you mean "seed"\?/],
    [{ now: () => 0 }, "now", /unknown option "now"/],
    [{ layout: "tweeter" }, "layout", /twitter/, "INVALID_LAYOUT"],
    [{ node: 1024 }, "node", /0 to 1023/, "INVALID_NODE"],
    [{ layout: "mastodon", node: 1 }, "node", /none/, "INVALID_NODE"],
    [null, "options", /options must be a plain object, got null/],
  ])
    refused(() => seededIds(options), code, field, rule);
  seededIds({ seed: 25_085 }).next();
});

// A clock that only the test moves

test("a manual clock shows 2025 or the time it is given, moves when it is told to, and its calls work detached", () => {
  assert.equal(manualClock().nowMs, NEW_YEAR_MS);
  const clock = manualClock(5.5);
  const { now, advance } = clock;
  assert.deepEqual([clock.nowMs, now()], [5.5, 5.5]);
  assert.deepEqual([advance(60_000), now(), clock.nowMs], [60_005.5, 60_005.5, 60_005.5]);
  assert.equal(advance(0), 60_005.5);
  clock.nowMs = 7;
  assert.deepEqual([clock.nowMs, now()], [7, 7]);
});

test("a generator follows a manual clock, forward and back", () => {
  const clock = manualClock();
  const ids = new Snowflake({ node: 7, now: clock.now, maxWaitMs: 0 });
  const timeOf = (id) => ids.decode(id).timestampMs - NEW_YEAR_MS;
  assert.deepEqual(times(2, ids.next).map(timeOf), [0, 0]);
  clock.advance(60_000);
  assert.equal(timeOf(ids.next()), 60_000);
  clock.nowMs -= 1000;
  assert.throws(ids.next, { code: "CLOCK_BACKWARD", retryAfterMs: 990 });
  clock.advance(990);
  assert.equal(timeOf(ids.next()), 60_000, "within the lead");
});

test("a manual clock starts at a Date, as layouts take them", () =>
  assert.equal(manualClock(new Date("2026-05-01T12:00:00Z")).now(), Date.UTC(2026, 4, 1, 12)));

test("a manual clock refuses a time that is none, and stays as it is", () => {
  for (const ms of [NaN, Infinity, "5", 5n, null, new Date(NaN)]) {
    refused(
      () => manualClock(ms),
      "INVALID_ARGUMENT",
      "startMs",
      /startMs must be a finite number of Unix milli.*, got /,
    );
    const clock = manualClock(5);
    const set = () => {
      clock.nowMs = ms;
    };
    refused(set, "INVALID_ARGUMENT", "nowMs", /nowMs must be a finite number of Unix milliseconds.*, got /);
    refused(() => clock.advance(ms), "INVALID_ARGUMENT", "ms", /ms must be a finite number of milliseconds.*, got /);
    refused(() => clock.advance(-1), "INVALID_ARGUMENT", "ms", /ms must .*, got -1\nTo go back, set clock\.nowMs/);
    assert.equal(clock.nowMs, 5);
  }
});

// Production

const CALLS = ["seededIds()", "manualClock()", "new MemoryLeaseStore()", "new MemorySegmentStore()"];

test("where NODE_ENV is production all are refused by a code, and importing them is not", async () => {
  const script = `
    import { MemoryLeaseStore, MemorySegmentStore, manualClock, seededIds } from "frazil/testing";
    const stores = [MemoryLeaseStore, MemorySegmentStore].map((Store) => () => new Store());
    const outcomes = [seededIds, manualClock, ...stores].map((make) => {
      try {
        return typeof make();
      } catch ({ name, code, field, value, message, hint }) {
        return { name, code, field, value, message, hint };
      }
    });
    console.log(JSON.stringify(outcomes));`;
  const on = (NODE_ENV) => inNewProcess(script, { env: { NODE_ENV } });
  const production = await on("production");
  for (const [at, call] of CALLS.entries()) {
    const { message, hint, ...rest } = production[at];
    assert.deepEqual(rest, { name: "ConfigError", code: "INVALID_OPTION", field: "NODE_ENV", value: "production" });
    assert.match(message, / of frazil\/testing is refused if NODE_ENV is "production"$/);
    assert.match(hint, /Use (new Snowflake\(\)|a store in a database)/);
    assert.ok(message.includes(`${call} of frazil/testing`), message);
  }
  for (const other of ["test", "development", ""]) assert.deepEqual(await on(other), Array(4).fill("object"), other);
});
