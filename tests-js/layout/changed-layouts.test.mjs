// Attempts to change a layout after it was checked: such a layout could mint IDs that it cannot decode.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, Snowflake } from "frazil";
import { start } from "../generator/scripted-clock.mjs";

const spec = () => ({
  epochMs: 1704067200000,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "node", bits: 5, name: "rack" },
    { kind: "node", bits: 5, name: "machine" },
    { kind: "sequence", bits: 12 },
  ],
});
const now = () => start;

/** A subclass with class fields, as an application may define one. */
class Mine extends Layout {
  label = "mine";
  constructor(given, label = "mine") {
    super(given);
    this.label = label;
  }
}

const changes = {
  epochMs: 5,
  tickMs: 7,
  unsigned: true,
  fields: [],
};
const layouts = {
  "new Layout": () => new Layout(spec()),
  "Layout.named": () => Layout.named("twitter"),
  with: () => Layout.named("twitter").with({ epochMs: 1704067200000 }),
  "a subclass": () => new Mine(spec()),
};
for (const [name, make] of Object.entries(layouts)) {
  test(`${name}: no property can be changed, and it decodes the IDs it mints`, () => {
    const layout = make();
    const before = JSON.stringify(layout);
    for (const [field, value] of Object.entries(changes)) {
      assert.throws(() => (layout[field] = value), TypeError, field);
      assert.throws(() => Object.defineProperty(layout, field, { value }), TypeError, field);
      assert.throws(() => delete layout[field], TypeError, field);
      assert.throws(() => Object.defineProperty(layout, field, { get: () => value }), TypeError, field);
    }
    assert.throws(() => layout.fields.push({ kind: "clock", bits: 1 }), TypeError);
    assert.throws(() => (layout.fields[0].bits = 5), TypeError);
    assert.equal(JSON.stringify(layout), before);
    const node = Object.fromEntries(layout.fields.filter(({ name }) => name).map(({ name }, at) => [name, at + 1]));
    const ids = new Snowflake({ layout, node, now });
    const { timestampMs, parts } = ids.decode(ids.next());
    assert.equal(timestampMs, start);
    assert.deepEqual(parts, node);
  });
}

test("a plain layout takes no new properties; a subclass can have class fields", () => {
  assert.ok(Object.isFrozen(new Layout(spec())));
  const mine = new Mine(spec(), "ours");
  mine.label = "another";
  assert.equal(mine.label, "another");
  assert.deepEqual(Object.keys(mine), ["epochMs", "tickMs", "unsigned", "fields", "label"]);
  assert.equal(mine.with({ epochMs: 7 }).epochMs, 7);
});

test("a layout can be spread and passed as a plain object", () => {
  const layout = Layout.named("twitter");
  assert.deepEqual({ ...layout }, layout.toJSON());
  assert.deepEqual(new Layout({ ...layout }).toJSON(), layout.toJSON());
});

test("a subclass that redefines a property of the layout is refused", () => {
  class Moved extends Layout {
    epochMs = 5;
  }
  assert.throws(() => new Moved(spec()), TypeError);
});

test("a generator uses the values that were checked, whatever the getters of a subclass return", () => {
  class Lying extends Layout {
    get epochMs() {
      return 0;
    }
    set epochMs(_) {}
    get tickMs() {
      return 1000;
    }
    set tickMs(_) {}
    get fields() {
      return [];
    }
    set fields(_) {}
    get unsigned() {
      return true;
    }
    set unsigned(_) {}
    with() {
      return { epochMs: 0, tickMs: 1, unsigned: false, fields: [] };
    }
    toJSON() {
      return {};
    }
    joinNode() {
      return 1023;
    }
    parse() {
      return 0n;
    }
  }
  const node = { rack: 1, machine: 2 };
  const honest = new Layout(spec());
  for (const epochMs of [undefined, 1609459200000]) {
    const expected = new Snowflake({ layout: epochMs === undefined ? honest : honest.with({ epochMs }), node, now });
    const ids = new Snowflake({ layout: new Lying(spec()), node, now, ...(epochMs === undefined ? {} : { epochMs }) });
    assert.equal(ids.next(), expected.next());
    assert.equal(ids.node, expected.node);
    assert.equal(ids.layout.epochMs, expected.layout.epochMs);
  }
});

test("an object that only looks like a layout is refused, and a Proxy of a layout is accepted", () => {
  const fake = Object.assign(Object.create(Layout.prototype), spec());
  assert.throws(() => new Snowflake({ layout: fake, node: 7, now }), { code: "INVALID_LAYOUT", field: "layout" });
  // A Proxy of a layout is still a layout: it cannot report other values for its frozen fields.
  const behind = new Proxy(new Layout(spec()), { get: (target, key) => (key === "node" ? 1 : target[key]) });
  assert.equal(new Snowflake({ layout: behind, node: 7, now }).layout.epochMs, spec().epochMs);
});

test("later changes of the object that a layout was made from do not change the layout", () => {
  const given = spec();
  const layout = new Layout(given);
  given.epochMs = 5;
  given.fields[0].bits = 1;
  given.fields.pop();
  assert.deepEqual(layout.toJSON(), { ...spec(), tickMs: 1, unsigned: false });
});

test("the kind of a field must be a string; an object that converts to one is refused", () => {
  for (const kind of [["node"], { toString: () => "node" }, Object("node")]) {
    const fields = [spec().fields[0], { kind, bits: 10 }, spec().fields[3]];
    assert.throws(() => new Layout({ ...spec(), fields }), { code: "INVALID_LAYOUT", field: "kind", value: kind });
  }
});
