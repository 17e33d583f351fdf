// Bad input is refused with a code, the field, the value and the rule. No ID is issued, and the generator still works.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ClockError, ConfigError, DecodeError, FrazilError, Snowflake } from "frazil";
import * as decoder from "frazil/decode";
import { lease } from "frazil/lease";
import { Segment } from "frazil/segment";
import { PostgresStore } from "frazil/stores/postgres";
import { MemoryLeaseStore, MemorySegmentStore } from "frazil/testing";
import { rules } from "../vectors/generated-tables.mjs";
import { errorOf, messages, refusals, start, subject } from "./bad-input.mjs";
import { messageOf, ruleTextOf, wholeText } from "./rule-texts.mjs";

const { backend } = new Snowflake({ node: 0 });
const classes = {
  INVALID_LAYOUT: ConfigError,
  INVALID_NODE: ConfigError,
  NODE_REQUIRED: ConfigError,
  INVALID_OPTION: ConfigError,
  INVALID_ARGUMENT: ConfigError,
  INVALID_CLOCK: ClockError,
  CLOCK_BEFORE_EPOCH: ClockError,
  TIME_EXHAUSTED: ClockError,
  INVALID_ID: DecodeError,
};
const counts = ({ issued, dropped, reservations }) => ({ issued, dropped, reservations });

/** Whether a value has no meaning where it is, and may be secret: that of an unknown option, or a text in the place of options. */
const isUnknown = (rule, value) =>
  rule.startsWith("unknown ")
    ? typeof value === "string" || (typeof value === "object" && value !== null)
    : typeof value === "string" && rule === rules.AN_OBJECT;

/** Checks that the error is the one in the row. */
function checkError(error, { name, code, rule, ...expected }) {
  assert.ok(error instanceof FrazilError, `${name}: ${error === undefined ? "was not refused" : error.stack}`);
  assert.equal(error.code, code, name);
  assert.ok(error instanceof classes[code] && error.name === classes[code].name, `${name}: ${error.name}`);
  assert.ok(error.message.startsWith(`${code}: `), `${name}: ${error.message}`);
  assert.equal(error.retryable, false, name);
  if (rule === undefined) return assert.ok(!("rule" in error) && !("field" in error), name);
  assert.equal(error.field, expected.field, name);
  if (isUnknown(error.rule, expected.value)) assert.ok(!("value" in error), `${name}: a value that may be secret`);
  else assert.ok("value" in error && Object.is(error.value, expected.value), `${name}: value`);
  if (rule instanceof RegExp) assert.match(ruleTextOf(error), rule, name);
  else assert.equal(ruleTextOf(error), rule, name);
  const start = messageOf(error, "");
  return assert.ok(error.message.startsWith(start) && !wholeText(error).includes("\n"), `${name}: ${error.message}`);
}

/** Checks that the row is refused, that no ID is issued, and that the next ID follows the last one. */
async function check(row, { ids, clock }) {
  const last = ids.next();
  const before = counts(ids.stats());
  checkError(await errorOf(() => row.call({ ids, clock })), row);
  clock.read = () => start;
  assert.deepEqual(counts(ids.stats()), before, `${row.name}: something was issued`);
  assert.equal(ids.next(), last + 1n, `${row.name}: an ID was lost`);
}

for (const about of new Set(refusals.map((row) => row.about))) {
  test(`bad ${about}: each is refused with its code, field, value and rule, and nothing is issued`, async (t) => {
    const rows = refusals.filter((row) => row.about === about);
    const shared = subject();
    for (const row of rows) {
      // The shared generator is in the middle of a block, a new one at the end of its block.
      await check(row, shared);
      await check(row, subject());
    }
    t.diagnostic(`${rows.length} rows`);
  });
}

test("every row has a name of its own", () =>
  assert.equal(new Set(refusals.map(({ name }) => name)).size, refusals.length));

test("the checker catches a wrong error, an ID that was issued, and a call that is not refused", async () => {
  const [row] = refusals.filter(({ name }) => name === "nextMany(-1)");
  await assert.rejects(check({ ...row, rule: "must be something else" }, subject()), /something else/);
  await assert.rejects(check({ ...row, value: -2 }, subject()), /value/);
  await assert.rejects(check({ ...row, code: "INVALID_OPTION" }, subject()), /INVALID_OPTION/);
  await assert.rejects(check({ ...row, call: ({ ids }) => ids.next() }, subject()), /was not refused/);
  const minting = ({ ids }) => ids.nextMany(ids.next() && -1);
  await assert.rejects(check({ ...row, call: minting }, subject()), /something was issued/);
});

test("both backends give the same messages, word for word", async (t) => {
  const other = backend === "native" ? "wasm" : "native";
  const env = { ...process.env, FRAZIL_BACKEND: other };
  const file = fileURLToPath(new URL("bad-input.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env, maxBuffer: 2 ** 26 });
  const theirs = JSON.parse(stdout);
  if (/NATIVE_REQUIRED/.test(Object.values(theirs)[0])) return t.skip("needs the native addon");
  assert.deepEqual(theirs, await messages());
  return assert.equal(Object.keys(theirs).length, refusals.length);
});

test("a request for zero IDs, by any call, does nothing", async () => {
  const { ids } = subject();
  const last = ids.next();
  const before = counts(ids.stats());
  const empty = new BigUint64Array(0);
  assert.equal(ids.fill(empty), empty);
  assert.equal(await ids.fillAsync(empty), empty);
  for (const method of ["nextMany", "nextManyStrings", "nextManyAsync", "nextManyStringsAsync"]) {
    assert.deepEqual(await ids[method](0), []);
  }
  assert.deepEqual(counts(ids.stats()), before);
  assert.equal(ids.next(), last + 1n);
});

test("an array whose buffer is detached counts as empty", () => {
  const { ids } = subject();
  const target = new BigUint64Array(4);
  structuredClone(target.buffer, { transfer: [target.buffer] });
  ids.fill(target);
  assert.equal(ids.stats().issued, 0);
});

test("an error that the clock throws is passed on unchanged by every call, and no ID is lost", async () => {
  for (const thrown of [new Error("no time"), new TypeError("none"), "a text", undefined, null, 0]) {
    for (const call of [
      "next",
      "nextString",
      "nextMany",
      "nextManyStrings",
      "fill",
      "nextAsync",
      "fillAsync",
      "nextManyAsync",
    ]) {
      const { ids, clock } = subject();
      const last = ids.nextMany(3)[2];
      const before = counts(ids.stats());
      clock.read = () => {
        throw thrown;
      };
      let caught = "nothing";
      try {
        await ids[call](call.startsWith("fill") ? new BigUint64Array(2) : 2);
      } catch (error) {
        caught = error;
      }
      // `nextAsync(2)` and similar calls expect options, and 2 is no object.
      if (call === "nextAsync") assert.equal(caught.code, "INVALID_OPTION");
      else assert.ok(Object.is(caught, thrown), `${call}: ${caught}`);
      clock.read = () => start;
      assert.deepEqual(counts(ids.stats()), before);
      assert.equal(ids.next(), last + 1n);
    }
  }
  const { ids, clock } = subject();
  clock.read = () => {
    throw new RangeError("no time");
  };
  await assert.rejects(ids.nextAsync(), RangeError);
});

test("a clock that throws at its second reading, before a refusal, loses no ID", () => {
  const { ids, clock } = subject();
  const last = ids.nextMany(3)[2];
  let reads = 0;
  clock.read = () => {
    if (reads++ === 1) throw new RangeError("no time");
    return 0;
  };
  assert.throws(() => ids.next(), RangeError);
  clock.read = () => start;
  assert.equal(ids.next(), last + 1n);
});

test("a replaced Date.now that returns no number is INVALID_CLOCK on both backends", (t) => {
  for (const value of [undefined, "12", null, {}, 12n, Symbol("12")]) {
    const ids = new Snowflake({ node: 901 });
    t.mock.method(Date, "now", () => value);
    const shown = typeof value === "symbol" ? NaN : value;
    for (const call of [
      ids.next,
      ids.tryNext,
      ids.health,
      () => ids.nextMany(2),
      () => new Snowflake({ node: 902 }).next(),
    ])
      assert.throws(call, { code: "INVALID_CLOCK", field: "now", value: shown });
    t.mock.restoreAll();
    assert.equal(typeof ids.next(), "bigint");
  }
});

test("a time with a fraction belongs to the millisecond below it", () => {
  const { ids, clock } = subject();
  clock.read = () => start + 0.999;
  assert.equal(ids.decode(ids.next()).timestampMs, start);
});

test("an error that a getter of the options throws is passed on unchanged", async () => {
  const store = new MemoryLeaseStore();
  const numbers = new MemorySegmentStore();
  for (const [call, keys] of [
    [
      (options) => new Snowflake({ node: 7, ...options }),
      "node layout epochMs maxLeadMs maxWaitMs now unshared sequenceStart",
    ],
    [(options) => lease(store, options), "scope windowMs node layout epochMs owner time renew signal schema"],
    [(options) => new Segment(numbers, options), "tag step maxStep failoverSkip maxAsyncWaitMs"],
    [(options) => new PostgresStore({ query() {} }, options), "schema incarnation"],
  ]) {
    for (const key of keys.split(" ")) {
      const like = Object.freeze(Object.assign(new Error(key), { field: "dir", value: "v", rule: "unknown" }));
      const ours = Object.freeze(
        new ConfigError("INVALID_LAYOUT", key, { field: "schema", value: "v", rule: "unknown" }),
      );
      for (const boom of [new Error(key), null, undefined, "text", like, ours]) {
        const get = () => {
          throw boom;
        };
        const options = Object.defineProperty({}, key, { enumerable: true, get });
        let thrown = "nothing";
        try {
          await call(options);
        } catch (error) {
          thrown = error;
        }
        assert.equal(thrown, boom, key);
      }
    }
  }
  const boom = new Error("keys");
  const ownKeys = () => {
    throw boom;
  };
  assert.throws(
    () => new Snowflake(new Proxy({}, { ownKeys })),
    (error) => error === boom,
  );
});

test("every option is read only once, so a getter cannot return a second value", () => {
  let reads = 0;
  const options = {
    now: () => start,
    // Valid at the first reading only.
    get maxLeadMs() {
      return reads++ === 0 ? 5 : 5000;
    },
    get node() {
      return reads++ < 3 ? 7 : 2000;
    },
  };
  const ids = new Snowflake(options);
  assert.equal(reads, 2);
  assert.equal(ids.decode(ids.next()).node, 7);
});

test("later changes of the options, the layout and the parts have no effect", () => {
  const spec = {
    epochMs: 1704067200000,
    fields: [
      { kind: "time", bits: 41 },
      { kind: "node", bits: 10 },
      { kind: "sequence", bits: 12 },
    ],
  };
  const options = { layout: spec, node: { node: 7 }, now: () => start };
  const ids = new Snowflake(options);
  spec.fields[1].bits = 3;
  spec.fields.pop();
  options.node.node = 8;
  options.now = () => 0;
  assert.equal(ids.decode(ids.next()).node, 7);
  assert.deepEqual(ids.layout.fields, [
    { kind: "time", bits: 41 },
    { kind: "node", bits: 10 },
    { kind: "sequence", bits: 12 },
  ]);
});

test("frazil/decode refuses anything but the name of a known layout", () => {
  for (const layout of ["nope", "", "default ", "twitter 1288834974657", null, undefined, {}, Symbol("twitter")]) {
    const expected = { code: "INVALID_LAYOUT", name: "ConfigError", field: "layout", value: layout };
    assert.throws(() => decoder.decode(1n, layout), expected);
  }
});

test("no message has a character that a terminal acts on or hides", async () => {
  const hidden = "1\u009b31m\u202e\u200b\ufeff\x1b\x7f\u2028\u2029\n";
  const calls = [
    () => decoder.decode(hidden, "twitter"),
    () => decoder.decode(1n, hidden),
    () => new Snowflake({ node: hidden }),
    () => new Snowflake({ node: Symbol(hidden) }),
    () => new Snowflake({ node: 1, [hidden]: 1 }),
    () => new Snowflake({ node: { [hidden]: 1 }, layout: "twitter" }),
    () => new Snowflake({ node: 1, layout: hidden }),
  ];
  for (const call of calls) assert.doesNotMatch(wholeText(await errorOf(call)), /[\p{C}\p{Zl}\p{Zp}]/u, `${call}`);
});

test("a name that looks like the place of a limit is shown as it is", async () => {
  const { message } = await errorOf(() => new Snowflake({ node: 1, "{min}{max}": 1 }));
  assert.ok(message.endsWith('unknown option "{min}{max}"'), message);
});
