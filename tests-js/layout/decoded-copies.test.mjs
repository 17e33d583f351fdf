// Decoded values that are copied, printed, written as JSON, and composed again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Layout, Snowflake } from "frazil";
import { decode } from "frazil/decode";
import { increasing, start } from "../generator/scripted-clock.mjs";

const layout = Layout.named("twitter");
const id = 1541815603606036480n;
const fields = { id, timestampMs: 1656432460105, node: 378, clock: undefined, sequence: 0 };
const date = new Date(fields.timestampMs);
const parts = { datacenter: 11, worker: 26 };
const decoders = {
  "layout.decode": () => layout.decode(id),
  "frazil/decode": () => decode(id, "twitter"),
  "ids.decode": () => new Snowflake({ layout: "twitter", node: 5 }).decode(id),
};
for (const [name, make] of Object.entries(decoders)) {
  test(`${name}: a copy has the fields, and none of the accessors and methods`, () => {
    assert.deepEqual({ ...make() }, fields);
    assert.deepEqual(Object.keys(make()), Object.keys(fields));
    assert.deepEqual(Object.assign({}, make()), fields);
    assert.deepEqual(structuredClone(make()), fields);
    const { date: ownDate, parts: ownParts } = make();
    assert.deepEqual([ownDate, ownParts], [date, parts]);
  });

  test(`${name}: printing and JSON show all fields`, () => {
    const { clock: _, ...shown } = fields;
    assert.deepEqual(JSON.parse(JSON.stringify(make())), { ...shown, id: `${id}`, date: date.toJSON(), parts });
    const printed = inspect(make());
    for (const text of [
      `id: ${id}n`,
      "timestampMs: 1656432460105",
      "node: 378",
      "sequence: 0",
      "2022-06-28T16:07:40.105Z",
      "datacenter: 11",
      "worker: 26",
    ])
      assert.ok(printed.includes(text), `${text} in ${printed}`);
    assert.ok(inspect({ list: [make()] }, { depth: 5 }).includes("datacenter: 11"));
    assert.ok(`${inspect({ list: [make()] }, { depth: 1 })}`.length < 100);
  });

  test(`${name}: it can be composed again, with or without changes, and after JSON`, () => {
    assert.equal(layout.compose(make()), id);
    assert.equal(layout.compose({ ...make() }), id);
    assert.equal(layout.compose({ ...make(), sequence: 8 }), id + 8n);
    assert.equal(
      layout.compose({ ...make(), node: { datacenter: 0, worker: 1 } }),
      layout.compose({ ...fields, node: 1 }),
    );
    assert.equal(layout.compose(JSON.parse(JSON.stringify(make()))), id);
    const { date, parts } = make();
    assert.equal(layout.compose({ ...make(), date, parts }), id);
    // The other fields of a decoded value are ignored, right or wrong.
    assert.equal(layout.compose({ ...make(), id: 5n, date: new Date(0), parts: { datacenter: 1, worker: 1 } }), id);
  });
}

test("compose refuses a key that neither it nor a decoded value has, and suggests the nearest name", () => {
  const row = (key, nearest) => {
    assert.throws(
      () => layout.compose({ ...fields, [key]: 1 }),
      (error) =>
        error.code === "INVALID_ARGUMENT" &&
        error.field === key &&
        error.value === 1 &&
        error.message.endsWith(`unknown property "${key}"`) &&
        error.hint === nearest,
      key,
    );
  };
  row("sequenc", 'Did you mean "sequence"?');
  row("timestampms", 'Did you mean "timestampMs"?');
  row("nodes", 'Did you mean "node"?');
  row("zzzzzzzzzzzzzz", "Use one of timestampMs, node, clock, sequence.");
});

test("decoding creates no Date; reading the property date does", (context) => {
  let made = 0;
  const { Date: Real } = globalThis;
  globalThis.Date = class extends Real {
    constructor(...given) {
      super(...given);
      made++;
    }
  };
  context.after(() => {
    globalThis.Date = Real;
  });
  const decoded = [layout.decode(id), decode(id, "twitter")];
  assert.equal(made, 0);
  for (const { date: asked } of decoded) assert.equal(asked.getTime(), fields.timestampMs);
  assert.equal(made, 2);
});

test("decoding is faster than a variant that creates a Date each time", (context) => {
  /** The broken variant, which creates a `Date` each time. */
  const eager = (text) => {
    const decoded = layout.decode(text);
    return { ...decoded, date: new Date(decoded.timestampMs), parts: decoded.parts };
  };
  const timed = (make) => {
    let sum = 0;
    const began = performance.now();
    for (let at = 0n; at < 100_000n; at++) sum += make(id + at).sequence;
    return [performance.now() - began, sum];
  };
  const rounds = Array.from({ length: 5 }, () => [timed(layout.decode.bind(layout))[0], timed(eager)[0]]);
  const [lazyMs, eagerMs] = [0, 1].map((at) => Math.min(...rounds.map((round) => round[at])));
  context.diagnostic(`lazy ${Math.round(lazyMs * 10)} ns, eager ${Math.round(eagerMs * 10)} ns each`);
  assert.ok(lazyMs < eagerMs, `${lazyMs} ms against ${eagerMs} ms`);
});

test("IDs that are minted in order are still in order when decoded and composed with another node id", () => {
  const ids = new Snowflake({ node: 5, now: () => start });
  assert.ok(increasing(ids.nextMany(100).map((one) => ids.layout.compose({ ...ids.decode(one), node: 6 }))));
});
