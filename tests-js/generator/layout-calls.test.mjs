// A generator answers for its layout.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snowflake } from "frazil";

test("parse, range and decode of a generator are those of its layout, also detached", () => {
  const { layout, parse, range, decode, next } = new Snowflake({ node: 3, layout: "twitter" });
  const id = next();
  assert.equal(parse(`${id}`), id);
  assert.throws(() => parse("x"), { code: "INVALID_ID" });
  assert.deepEqual(decode(id), layout.decode(id));
  const [from, to] = [new Date("2026-11-01"), Date.UTC(2026, 11, 1)];
  assert.deepEqual(range(from, to), layout.range(from, to));
  const seata = new Snowflake({ node: 3, layout: "seata" });
  assert.deepEqual(seata.range(from, to, { node: 5 }), seata.layout.range(from, to, { node: 5 }));
  assert.throws(() => seata.range(from, to), { code: "INVALID_ARGUMENT", field: "node" });
});

test("a range beyond the end of the layout fits its column", () => {
  const end = 8.64e15;
  for (const [name, most] of [
    ["default", 2n ** 63n - 1n],
    ["seata", 2n ** 63n - 1n],
    ["discord", 2n ** 64n - 1n],
    ["safe53", 2n ** 53n],
  ]) {
    const { layout } = new Snowflake({ node: 0, layout: name });
    const node = name === "seata" ? { node: 1023 } : {};
    assert.equal(layout.range(0, end, node).untilId, most, name);
    assert.deepEqual(layout.range(end, end, node), { fromId: most, untilId: most }, name);
  }
});
