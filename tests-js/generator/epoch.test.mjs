// Epochs: numbers and dates; and one that a program takes from its clock, which would repeat the IDs of its last run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { Layout, Snowflake } from "frazil";
import { ruled } from "../base/rule-texts.mjs";
import { rules } from "../vectors/generated-tables.mjs";
import { repeats } from "./broken-generators.mjs";

const node = 941;
const startMs = Math.ceil(performance.timeOrigin);
const fields = [
  { kind: "time", bits: 41 },
  { kind: "node", bits: 10 },
  { kind: "sequence", bits: 12 },
];

test("a Date is an epoch, of any realm, and stands for its milliseconds", () => {
  const epochMs = 1735689600000;
  for (const date of [new Date(epochMs), runInNewContext(`new Date(${epochMs})`)]) {
    const layout = new Layout({ epochMs: date, fields });
    assert.equal(layout.epochMs, epochMs);
    assert.deepEqual(layout.toJSON(), new Layout({ epochMs, fields }).toJSON());
    assert.equal(Layout.named("twitter").with({ epochMs: date }).epochMs, epochMs);
    const ids = new Snowflake({ node: 940, epochMs: date });
    assert.equal(ids.layout.epochMs, epochMs);
    const beforeMs = Date.now();
    const { timestampMs } = ids.decode(ids.next());
    assert.ok(beforeMs <= timestampMs && timestampMs <= Date.now(), `${beforeMs}, then ${timestampMs}`);
  }
  // Its methods are not called.
  const lying = Object.assign(new Date(epochMs), { getTime: () => 5, valueOf: () => 6 });
  assert.equal(new Layout({ epochMs: lying, fields }).epochMs, epochMs);
});

test("an epoch from the start of the process to now is refused, however it is given", () => {
  for (const epochMs of [startMs, startMs + 1, Date.now()]) {
    const expected = {
      name: "ConfigError",
      code: "INVALID_LAYOUT",
      field: "epochMs",
      value: epochMs,
      ...ruled(rules.EPOCH_MOVES),
    };
    for (const options of [
      { epochMs },
      { epochMs: new Date(epochMs) },
      { layout: { epochMs, fields } },
      { layout: new Layout({ epochMs, fields }) },
      { layout: "twitter", epochMs },
      { epochMs, unshared: true },
    ])
      assert.throws(() => new Snowflake({ node, ...options }), expected);
  }
});

test("an epoch before the process is accepted, and a later one is CLOCK_BEFORE_EPOCH until it comes, with both times", () => {
  assert.equal(typeof new Snowflake({ node, epochMs: startMs - 1000, maxWaitMs: 1000 }).next(), "bigint");
  const epochMs = Date.now() + 86_400_000;
  const ids = new Snowflake({ node, epochMs });
  assert.throws(ids.next, ({ code, message }) => {
    assert.equal(code, "CLOCK_BEFORE_EPOCH");
    const [shown, epoch] = message.match(/\d{4}-[\d-]+T[\d:.]+Z/g);
    assert.equal(epoch, new Date(epochMs).toISOString());
    assert.ok(Math.abs(Date.parse(shown) - Date.now()) < 5000);
    return true;
  });
  assert.match(ids.health().refusal.message, new RegExp(new Date(epochMs).toISOString()));
});

test("a later epoch that was accepted is accepted after it has come too, and another one is not", async () => {
  const epochMs = Date.now() + 300;
  new Snowflake({ node, epochMs });
  await new Promise((resolve) => setTimeout(resolve, epochMs - Date.now() + 20));
  for (const options of [{ epochMs }, { epochMs: new Date(epochMs) }, { layout: { epochMs, fields } }])
    assert.equal(typeof new Snowflake({ node, ...options, maxWaitMs: 1000 }).next(), "bigint");
  assert.throws(() => new Snowflake({ node, epochMs: epochMs + 1 }), {
    code: "INVALID_LAYOUT",
    ...ruled(rules.EPOCH_MOVES),
  });
});

test("a process that began in 1970, before its clock was set, accepts constants, and still refuses its own times", () => {
  // The start that the host knows is that of the wrong clock.
  const program = `import { Snowflake } from "frazil";
    const epoch = Date.now();
    Object.defineProperty(performance, "timeOrigin", { value: 5000 });
    const said = [1735689600000, new Date("2025-01-01"), epoch, Date.now()].map((epochMs) => {
      try {
        return typeof new Snowflake({ node: 943, epochMs, maxWaitMs: 1000 }).next();
      } catch (error) {
        return error.rule;
      }
    });
    process.stdout.write(JSON.stringify(said));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  assert.equal(stderr, "");
  const { rule: moves } = ruled(rules.EPOCH_MOVES);
  assert.deepEqual(JSON.parse(stdout), ["bigint", "bigint", moves, moves]);
});

test("a clock that went back since the start hides no epoch of this process", (t) => {
  const aheadMs = Date.now();
  t.mock.method(Date, "now", () => aheadMs - 3_600_000);
  assert.throws(() => new Snowflake({ node, epochMs: Date.now() }), { ...ruled(rules.EPOCH_MOVES) });
});

test("an epoch of 0 is a constant, also while the clock shows 0, as at the module scope of Workers", (t) => {
  let nowMs = 0;
  t.mock.method(Date, "now", () => nowMs);
  for (nowMs of [0, 1, 500]) {
    new Snowflake({ node, epochMs: 0 });
    new Snowflake({ node: "none", layout: Layout.named("mastodon") });
  }
  assert.throws(() => new Snowflake({ node, epochMs: 500 }), { ...ruled(rules.EPOCH_MOVES) });
});

test("with a clock of its own, a generator may have any epoch", () => {
  const now = Date.now();
  const ids = new Snowflake({ node, epochMs: now, now: () => now + 5 });
  assert.equal(ids.decode(ids.next()).timestampMs, now + 5);
});

test("a built-in layout is accepted whatever the clock shows, and the clock is not read for it", (t) => {
  const reads = t.mock.method(Date, "now", () => 1704067200000);
  new Snowflake({ node });
  new Snowflake({ node, layout: "twitter" });
  assert.equal(reads.mock.callCount(), 0);
});

test("what is refused would repeat: two starts of a program whose epoch is their start", () => {
  const program = (options) =>
    `import { Snowflake } from "frazil"; const started = Date.now();
     const ids = new Snowflake({ node: 942, epochMs: started, ${options} });
     process.stdout.write(JSON.stringify(Array.from({ length: 20 }, () => ids.nextString())));`;
  const run = (options) =>
    spawnSync(process.execPath, ["--input-type=module", "-e", program(options)], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
  // The mutant: with `now` the epoch is not checked, and the generator is outside the promise.
  const issued = [0, 1].flatMap(() => JSON.parse(run("now: () => started").stdout));
  assert.ok(repeats(issued) > 0, "the checker must catch the mutant");
  const { status, stderr } = run("");
  assert.equal(status, 1);
  assert.match(stderr, /INVALID_LAYOUT: epochMs must be a constant, got \d+$/m);
});

test("an epoch in seconds is refused, however it is given, and its neighbours are not", () => {
  const seconds = 1_704_067_200;
  for (const epochMs of [1_000_000_000, seconds, 99_999_999_999, new Date(seconds)])
    for (const make of [
      () => new Snowflake({ node, epochMs }),
      () => new Snowflake({ node, epochMs, now: () => 2e12 }),
      () => new Layout({ epochMs, fields }),
      () => Layout.named("twitter").with({ epochMs }),
    ])
      assert.throws(make, {
        name: "ConfigError",
        code: "INVALID_LAYOUT",
        field: "epochMs",
        value: epochMs,
        rule: "must be Unix milliseconds",
        hint: "Is it in seconds?",
      });
  for (const epochMs of [0, 999_999_999, 100_000_000_000, 1000 * seconds])
    assert.deepEqual(new Snowflake({ node: 7, epochMs }).health().warnings, []);
});
