// `Layout.range`: the IDs of a stretch of time. The results are in `crates/core/vectors/ranges.json`. This test adds invalid times, and IDs
// ahead of the clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, Snowflake } from "frazil";

const START = Date.UTC(2026, 0, 1);
const isIn = ({ fromId, untilId }, id) => id >= fromId && id < untilId;

test("a Date and its milliseconds are the same bound, and a day has its IDs and no others", () => {
  const layout = Layout.named("twitter");
  const [day, next] = [new Date(START), new Date(START + 86_400_000)];
  const range = layout.range(day, next);
  assert.deepEqual(range, layout.range(Number(day), Number(next)));
  const at = (timestampMs, node, sequence) => layout.compose({ timestampMs, node, sequence });
  assert.equal(isIn(range, at(START, 0, 0)), true);
  assert.equal(isIn(range, at(START + 86_399_999, 1023, 4095)), true);
  assert.equal(isIn(range, at(START - 1, 1023, 4095)), false);
  assert.equal(isIn(range, at(START + 86_400_000, 0, 0)), false);
});

test("a bound that is no time is refused by its name, and so is one after the other", () => {
  const layout = Layout.named("default");
  for (const wrong of [NaN, Infinity, -Infinity, 0.5, 2 ** 53, "2026-01-01", 1n, null, undefined, {}, new Date(NaN)]) {
    const refused = (field) => ({ name: "DecodeError", code: "TIME_OUT_OF_RANGE", field, value: wrong });
    assert.throws(() => layout.range(wrong, START), refused("from"));
    assert.throws(() => layout.range(START, wrong), refused("to"));
  }
  const message = `INVALID_ARGUMENT: from must not be after to, which is ${START}, got ${START + 1}`;
  assert.throws(() => layout.range(new Date(START + 1), new Date(START)), {
    name: "ConfigError",
    field: "from",
    message,
  });
});

test("a bound in seconds is refused by its name, and a time before the epoch is not", () => {
  const layout = Layout.named("default");
  const seconds = START / 1000;
  const refused = (field, value) => ({ name: "DecodeError", code: "TIME_OUT_OF_RANGE", field, value });
  const later = seconds + 86_400;
  assert.throws(() => layout.range(seconds, later), refused("from", seconds));
  assert.throws(() => layout.range(0, new Date(later)), refused("to", later));
  assert.throws(() => layout.range(seconds, START), {
    message: "TIME_OUT_OF_RANGE: from must be Unix milliseconds, got 1767225600",
    hint: "Is it in seconds?",
  });
  const none = { fromId: 0n, untilId: 0n };
  for (const ms of [1, 86_400, layout.epochMs / 1000 - 1, 1e11, layout.epochMs - 1, -seconds])
    assert.deepEqual(layout.range(ms, ms), none, `${ms}`);
  // Such an epoch does not tell: its times are what they are.
  assert.deepEqual(layout.with({ epochMs: 0 }).range(later, later + 1), {
    fromId: BigInt(later) << 22n,
    untilId: BigInt(later + 1) << 22n,
  });
});

test("what is unknown in the options, and a node id that is read twice, cannot give bounds of two nodes", () => {
  const seata = Layout.named("seata");
  assert.throws(() => seata.range(START, START, { nodes: 1 }), { code: "INVALID_ARGUMENT", field: "nodes" });
  let reads = 0;
  const changing = {
    get node() {
      return reads++;
    },
  };
  const { fromId, untilId } = seata.range(START, START, { node: changing });
  assert.deepEqual([fromId, reads], [untilId, 1]);
});

test("a generator with a lead puts IDs above maxIdAt(now), where range(…, now + lead) finds them", () => {
  const maxLeadMs = 1000;
  const ids = new Snowflake({ node: 7, now: () => START, maxLeadMs, maxWaitMs: 0 });
  const minted = ids.nextMany(100_000);
  const { layout } = ids;
  const above = minted.filter((id) => id > layout.maxIdAt(START));
  assert.ok(above.length > 90_000, `${above.length}`);
  const outside = (to) => minted.filter((id) => !isIn(layout.range(0, to), id)).length;
  assert.equal(outside(START), minted.length);
  assert.equal(outside(START + 1), above.length);
  assert.equal(outside(START + maxLeadMs + 1), 0);
});
