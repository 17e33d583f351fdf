// docs/internals/claims.md: 19
// Accessors and values that another library may leave at indices of `Array.prototype` and `Object.prototype`. Assigning a missing element
// of a list calls the setter, and a hole shows the value of the prototype.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, Snowflake } from "frazil";
import * as text from "frazil/text";
import { readIds } from "frazil/transport";
import { anyId, defineId } from "frazil/typed";
import { start } from "../generator/scripted-clock.mjs";

/** How many elements of a list are not its own. */
const holes = (list) => list.length - Object.keys(list).length;
/** The broken variant: a list that is made by assignment. */
const assigned = (given) => {
  const list = new Array(given.length);
  for (let at = 0; at < given.length; at++) list[at] = given[at];
  return list;
};

/** Runs `work` with an accessor at indices from 0 to 199 of a prototype, and with a value at that of a character code. */
function polluted(prototype, work) {
  const caught = [];
  const get = () => "of the prototype";
  const set = (value) => {
    Object.defineProperty(caught, caught.length, { value, writable: true, enumerable: true, configurable: true });
  };
  const indices = Array.from({ length: 200 }, (_, at) => at);
  for (const at of indices) Object.defineProperty(prototype, at, { get, set, configurable: true });
  Object.defineProperty(prototype, 233, { value: 5, configurable: true });
  try {
    return [work(), caught.length];
  } finally {
    for (const at of [...indices, 233]) delete prototype[at];
  }
}

let epochMs = 1_500_000_000_000;
/** What the calls that make lists return, of layouts that were never used before, so that nothing of them is kept. */
function answers(given) {
  const fields = [
    { kind: "time", bits: 41 },
    { kind: "node", name: "rack", bits: 4 },
    { kind: "node", name: "host", bits: 6 },
    { kind: "sequence", bits: 12 },
  ];
  const spec = { epochMs: given, fields };
  const ids = new Snowflake({ layout: spec, node: { rack: 3, host: 7 }, now: () => start });
  const list = [1n, 62n, 3844n];
  const forms = [text.base62, text.hex.short, text.customForm("zyxw")];
  const types = [defineId("usr"), defineId("org", { ids, form: text.hex })];
  const any = anyId(...types);
  return {
    many: ids.nextMany(5),
    texts: ids.nextManyStrings(5),
    parts: ids.decode(ids.next()).parts,
    again: ids.decode(ids.next()).parts,
    composed: new Layout(spec).compose({ timestampMs: start, node: { rack: 3, host: 7 }, sequence: 1 }),
    encoded: forms.map((form) => form.encodeMany(list)),
    decoded: forms.map((form) => [...form.decodeMany(form.encodeMany(list))]),
    bytes: [...text.bytes.encodeMany(list)],
    read: readIds({ id: ["1", "2", "3"], rows: [{ id: "4" }, { id: "5" }] }, "id"),
    typed: list.map(types[1].format).map(any.parse),
    revived: JSON.parse('{"id":["usr_00000000005"]}', any.reviver("id")),
    names: Layout.names.map((name) => new Layout(Layout.named(name).toJSON()).plan().nodes),
    // The character 233 is no digit of any form.
    refused: [text.base62.short, text.customForm("zyxwvu").short].map((form) => form.tryDecode("y\u00e9") ?? "refused"),
    schema: any["~standard"].validate("y\u00e9"),
  };
}

for (const [name, prototype] of Object.entries({ Array: Array.prototype, Object: Object.prototype }))
  test(`accessors on ${name}.prototype make no holes, and hold back no ID`, () => {
    epochMs += 1;
    const expected = answers(epochMs);
    const shown = (value) => JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `${each}n` : each));
    const [got, caught] = polluted(prototype, () => {
      const made = answers(epochMs);
      return { text: shown(made), holes: holes(made.many) + holes(made.texts) };
    });
    assert.deepEqual(got, { text: shown(expected), holes: 0 });
    assert.equal(caught, 0, "no setter was called");
    const mutant = polluted(prototype, () => holes(assigned(expected.many)));
    assert.deepEqual(mutant, [5, 5], "the checker must catch the mutant");
  });

// The mutant: the same node id and other widths, which must not share a state.
const layoutOf = (node, sequence) =>
  new Layout({
    epochMs: 1_500_000_000_777,
    fields: [
      { kind: "time", bits: 41 },
      { kind: "node", bits: node },
      { kind: "sequence", bits: sequence },
    ],
  });
const [layout, mutant] = [layoutOf(4, 18), layoutOf(12, 10)];
const first = (given) => new Snowflake({ layout: given, node: 9, now: () => start }).next();

test("a generator that is opened beside such accessors has its own layout, not that of the request before", () => {
  const expected = first(layout);
  assert.notEqual(first(mutant), expected);
  const [got] = polluted(Array.prototype, () => first(layout));
  assert.equal(got, expected);
});

const iterators = Object.getPrototypeOf([][Symbol.iterator]());
const nothing = () => ({ done: true, value: undefined });
for (const [owner, name, call] of [
  [Array.prototype, "flatMap", () => []],
  [Array.prototype, "indexOf", () => 0],
  [Array.prototype, Symbol.iterator, () => ({ next: nothing })],
  [iterators, "next", nothing],
])
  test(`the same where a program has replaced ${String(name)} of lists`, () => {
    const expected = first(layout);
    first(mutant);
    const { [name]: own } = owner;
    owner[name] = call;
    let got;
    try {
      got = first(layout);
    } finally {
      owner[name] = own;
    }
    assert.equal(got, expected);
  });
