// `nextNumber()`: IDs as numbers, for layouts whose IDs a number holds exactly.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, Snowflake } from "frazil";
import { repeats } from "./broken-generators.mjs";
import { scripted, start, times } from "./scripted-clock.mjs";

test("IDs of safe53 are safe integers, increase with the other calls, and can be read again", () => {
  const { ids } = scripted({ layout: "safe53", node: 7 });
  const issued = times(400, (at) => (at % 2 === 0 ? ids.nextNumber() : Number(ids.next())));
  assert.ok(issued.every(Number.isSafeInteger));
  assert.ok(issued.every((id, at) => at === 0 || issued[at - 1] < id));
  const layout = Layout.named("safe53");
  for (const id of issued) {
    assert.equal(layout.parse(id), BigInt(id));
    const { timestampMs, node } = ids.decode(id);
    assert.deepEqual({ timestampMs, node }, { timestampMs: start, node: 7 });
  }
  assert.equal(JSON.parse(JSON.stringify({ id: issued[0] })).id, issued[0]);
});

test("the largest ID of a layout of 53 bits is exact, and the mutant repeats with one bit more", () => {
  const layoutOf = (time) => ({
    epochMs: 0,
    fields: [
      { kind: "time", bits: time },
      { kind: "sequence", bits: 12 },
    ],
  });
  const now = () => 2 ** 41 - 1;
  const ids = new Snowflake({ layout: layoutOf(41), node: "none", now });
  const all = times(4096, ids.nextNumber);
  assert.equal(all.at(-1), Number.MAX_SAFE_INTEGER);
  assert.equal(repeats(all), 0);
  const wide = new Snowflake({ layout: layoutOf(42), node: "none", now: () => 2 ** 42 - 1 });
  assert.ok(repeats(times(4096, () => Number(wide.next()))) > 0, "the checker must catch the mutant");
});

test("a layout of more than 53 bits is refused with what to do, and no ID is issued", () => {
  for (const [layout, bits] of [
    ["default", 63],
    ["discord", 64],
    [
      {
        epochMs: 0,
        fields: [
          { kind: "time", bits: 42 },
          { kind: "sequence", bits: 12 },
        ],
      },
      54,
    ],
  ]) {
    const node = typeof layout === "string" ? 7 : "none";
    const { ids } = scripted({ layout, node });
    assert.throws(ids.nextNumber, {
      name: "ConfigError",
      code: "INVALID_LAYOUT",
      field: "layout",
      value: bits,
      rule: "must have at most 53 bits, as many as a number holds exactly",
      hint: "Use nextString(), or the layout safe53.",
    });
    assert.equal(ids.stats().issued, 0);
  }
});

test("a clock that throws is passed on, and a stalled generator throws as next() does", () => {
  const { clock, ids } = scripted({ layout: "safe53", maxLeadMs: 0 });
  times(512, ids.nextNumber);
  assert.throws(ids.nextNumber, { code: "SEQUENCE_EXHAUSTED", retryAfterMs: 1 });
  clock.ms = Number.NaN;
  assert.throws(ids.nextNumber, { code: "INVALID_CLOCK" });
  clock.ms = start + 1;
  assert.equal(ids.decode(ids.nextNumber()).timestampMs, start + 1);
});
