// `frazil/transport`: what its calls write, read and refuse, on every Node. tests-js/transport has the carriers.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { FrazilError, Layout } from "frazil";
import * as transport from "frazil/transport";

const required = createRequire(import.meta.url)("frazil/transport");
const ID = 1489237498237411329n;
const LARGEST = 2n ** 64n - 1n;
const SIGNED = 2n ** 63n - 1n;

/** Asserts that a call is refused with these details. */
function refused(call, details) {
  assert.throws(call, (error) => {
    assert.ok(FrazilError.is(error), `${error}`);
    const { code = "INVALID_ID", ...rest } = details;
    assert.equal(error.code, code);
    assert.ok(error.message.startsWith(`${code}: ${error.field} is `), error.message);
    assert.ok(error.message.endsWith(error.rule), error.message);
    for (const [name, value] of Object.entries(rest)) {
      if (value instanceof RegExp) assert.match(error[name], value, name);
      else assert.deepEqual(error[name], value, name);
    }
    return true;
  });
}
test("import and require give the same names", () =>
  assert.deepEqual(Object.keys(required).sort(), Object.keys(transport).sort()));

for (const [name, { json, jsonReplacer, readIds, toSql }] of Object.entries({
  import: transport,
  required,
})) {
  describe(`frazil/transport, by ${name}`, () => {
    /** What no call accepts as an ID. */
    const NO_IDS = [
      [Number(ID), /lost digits/],
      [2 ** 53, /lost digits/],
      [-(2 ** 53), /lost digits/],
      [1.5, /exact number$/],
      [Number.NaN, /exact number$/],
      [Number.POSITIVE_INFINITY, /exact number$/],
      [-1, /^must be an ID from 0 to \d+$/],
      [-1n, /^must be an ID from 0 to \d+$/],
      [2n ** 64n, /^must be an ID from 0 to \d+$/],
      ["", /^must be digits/],
      ["01", /^must be digits/],
      ["+1", /^must be digits/],
      ["-1", /^must be digits/],
      [" 1", /^must be digits/],
      ["1\n", /^must be digits/],
      ["0x10", /^must be digits/],
      ["1e3", /^must be digits/],
      ["1 OR 1", /^must be digits/],
      ["9.22337203685478e+18", /^must be digits/],
      ["9".repeat(1_000_000), /^must be an ID from 0 to \d+$/],
      [true, /^must be a bigint/],
      [undefined, /^must be a bigint/],
      [{}, /^must be a bigint/],
      [{ valueOf: () => 1 }, /^must be a bigint/],
      [[1n], /^must be a bigint/],
      [Object(1n), /^must be a bigint/],
      [Symbol.iterator, /^must be a bigint/],
    ];
    const IDS = [
      [0n, 0n],
      ["0", 0n],
      [0, 0n],
      [-0, 0n],
      [2 ** 53 - 1, 2n ** 53n - 1n],
      [ID, ID],
      [`${ID}`, ID],
      [SIGNED, SIGNED],
      [`${SIGNED}`, SIGNED],
    ];

    test("jsonReplacer writes each bigint as text, and everything else as JSON does", () => {
      const at = new Date(0);
      const value = { id: ID, list: [1n, { id: LARGEST }], at, n: 1.5, u: undefined, f() {}, none: null, minus: -5n };
      const texts = { ...value, id: `${ID}`, list: ["1", { id: `${LARGEST}` }], minus: "-5" };
      assert.equal(JSON.stringify(value, jsonReplacer), JSON.stringify(texts));
      assert.equal(JSON.stringify(value, jsonReplacer, 2), JSON.stringify(texts, null, 2));
      assert.equal(JSON.stringify(ID, jsonReplacer), `"${ID}"`);
      assert.equal(JSON.stringify(undefined, jsonReplacer), undefined);
      assert.equal(JSON.stringify({ toJSON: () => ({ id: ID }) }, jsonReplacer), `{"id":"${ID}"}`);
      assert.throws(() => JSON.stringify({ id: ID }), TypeError);
    });

    test("jsonReplacer works detached, in a replacer of the caller", () => {
      const text = JSON.stringify({ id: ID, n: 7 }, (key, value) => jsonReplacer(key, value));
      assert.equal(text, `{"id":"${ID}","n":7}`);
    });

    test("a BigInt.prototype.toJSON that rounds has no effect on jsonReplacer", (t) => {
      Object.defineProperty(BigInt.prototype, "toJSON", {
        configurable: true,
        value() {
          return Number(this);
        },
      });
      t.after(() => delete BigInt.prototype.toJSON);
      assert.equal(JSON.stringify({ id: ID }), JSON.stringify({ id: Number(ID) }), "it rounds");
      assert.equal(JSON.stringify({ id: ID, list: [ID], n: 3 }, jsonReplacer), `{"id":"${ID}","list":["${ID}"],"n":3}`);
      assert.equal(JSON.stringify(ID, jsonReplacer), `"${ID}"`);
    });

    test("json is what Response.json is, for values without a bigint and every init", async () => {
      const inits = [
        undefined,
        {},
        { status: 404, statusText: "Not here", headers: { "x-a": "1" } },
        { headers: { "Content-Type": "application/problem+json" } },
        { headers: [["content-type", "text/x"]] },
        { headers: new Headers({ "content-type": "text/y" }) },
        new Response("other", { status: 418, headers: { "x-b": "2" } }),
      ];
      for (const value of [null, 0, "é \ud800", [1], { a: { b: [true] } }]) {
        for (const init of inits) {
          const [ours, hosts] = [json(value, init), Response.json(value, init)];
          assert.ok(ours instanceof Response);
          assert.deepEqual(
            [ours.status, ours.statusText, [...ours.headers], await ours.text()],
            [hosts.status, hosts.statusText, [...hosts.headers], await hosts.text()],
          );
        }
      }
    });

    test("json writes bigint as text, where Response.json throws", async () => {
      assert.throws(() => Response.json({ id: ID }), TypeError);
      assert.equal(await json({ id: ID, ids: [1n] }).text(), `{"id":"${ID}","ids":["1"]}`);
    });

    test("json refuses what has no JSON text", () => {
      for (const value of [undefined, () => 1, Symbol.iterator]) {
        const details = {
          code: "INVALID_ARGUMENT",
          field: "value",
          value,
          rule: /^must be a value that has a JSON text/,
        };
        refused(() => json(value), details);
      }
    });

    test("readIds reads the named keys at any depth, leaves the rest, and does not change the value", () => {
      const at = new Date(0);
      const buffer = new Uint8Array([1, 2]);
      const given = {
        id: `${ID}`,
        a: { b: [{ id: `${LARGEST}`, name: "7" }, [{ id: 1 }]] },
        by: 12,
        likes: ["1", null, 2n],
        none: null,
        absent: undefined,
        at,
        buffer,
        other: { n: 1 },
      };
      const before = structuredClone(given);
      const read = readIds(given, "id", "by", "likes", "none", "absent");
      assert.deepEqual(read, {
        id: ID,
        a: { b: [{ id: LARGEST, name: "7" }, [{ id: 1n }]] },
        by: 12n,
        likes: [1n, null, 2n],
        none: null,
        absent: undefined,
        at,
        buffer,
        other: { n: 1 },
      });
      assert.deepEqual(given, before);
      for (const key of ["at", "buffer", "other"]) assert.equal(read[key], given[key]);
    });

    test("readIds: rows, of whatever prototype, and values that have no keys", () => {
      class Row {
        id = "5";
      }
      const bare = Object.assign(Object.create(null), { id: "5" });
      assert.deepEqual(readIds([new Row(), bare, { id: "5" }], "id"), Array(3).fill({ id: 5n }));
      for (const value of [null, undefined, "5", 5, 5n, true]) assert.equal(readIds(value, "id"), value);
      const map = new Map([["id", "5"]]);
      assert.equal(readIds(map, "id"), map);
      assert.deepEqual(readIds([], "id"), []);
    });

    test("readIds reads own properties, each once, and a key __proto__ is one of them", () => {
      let reads = 0;
      const counting = {
        get id() {
          return `${++reads}`;
        },
        other: 1,
      };
      assert.deepEqual(readIds(counting, "id"), { id: 1n, other: 1 });
      const read = readIds(JSON.parse('{"__proto__":{"id":"5"},"id":"6"}'), "id");
      assert.equal(Object.getPrototypeOf(read), Object.prototype);
      assert.deepEqual(Object.entries(read), [
        ["__proto__", { id: 5n }],
        ["id", 6n],
      ]);
      const inherited = Object.create({ id: "5" });
      assert.equal(readIds(inherited, "id"), inherited);
    });

    test("what jsonReplacer writes, readIds reads", () => {
      const value = { id: ID, ids: [0n, LARGEST], text: "1", n: 1 };
      assert.deepEqual(readIds(JSON.parse(JSON.stringify(value, jsonReplacer)), "id", "ids"), value);
    });

    const layout = (unsigned) =>
      new Layout({
        epochMs: 0,
        unsigned,
        fields: [
          { kind: "time", bits: unsigned ? 42 : 41 },
          { kind: "sequence", bits: 22 },
        ],
      });

    test("readIds accepts and refuses what Layout.parse does, with the key as field", () => {
      for (const [value, id] of [...IDS, [LARGEST, LARGEST], [`${LARGEST}`, LARGEST]]) {
        assert.equal(layout(true).parse(value), id);
        assert.deepEqual(readIds({ by: value }, "by"), { by: id });
      }
      for (const [value, rule] of NO_IDS) {
        // `undefined` is not there, and an array is a list of IDs.
        if (value === undefined || Array.isArray(value)) continue;
        assert.throws(() => layout(true).parse(value), { code: "INVALID_ID" });
        refused(() => readIds([{ by: value }], "by"), { field: "by", value, rule });
      }
    });

    test("readIds names the element of an array, and refuses arrays in it", () => {
      refused(() => readIds({ ids: ["1", Number(ID)] }, "ids"), { field: "ids[1]", index: 1, value: Number(ID) });
      refused(() => readIds({ ids: [["1"]] }, "ids"), { field: "ids[0]", index: 0, rule: /^must be a bigint/ });
    });

    test("readIds needs names", () => {
      for (const keys of [[], [["id"]], [undefined], ["id", 5]]) {
        const details = { code: "INVALID_ARGUMENT", field: "keys", rule: "must be strings, one at least" };
        refused(() => readIds({}, ...keys), details);
      }
    });

    test("toSql writes the decimal text of IDs below 2^63", () => {
      for (const [value, id] of IDS) {
        assert.equal(layout(false).parse(value), id);
        assert.equal(toSql(value), `${id}`);
      }
      assert.deepEqual([1n, "2", 3].map(toSql), ["1", "2", "3"], "as a callback");
    });

    test("toSql refuses what is not exactly an ID", () => {
      for (const [value, rule] of [...NO_IDS, [null, /^must be a bigint/]]) {
        assert.throws(() => layout(false).parse(value), { code: "INVALID_ID" });
        refused(() => toSql(value), { field: "id", value, rule });
      }
    });

    test("toSql refuses 2^63 and above, and says what to bind", () => {
      for (const value of [2n ** 63n, LARGEST, `${LARGEST}`]) {
        refused(() => toSql(value), { rule: `must be an ID from 0 to ${SIGNED}: bind layout.toSigned(id) as text` });
      }
    });

    test("a rounded number says what to do", () => {
      const rule =
        "must be a bigint, digits or an exact number. A number above 2^53 has lost digits: keep IDs as text, in SQL by CAST(id AS TEXT)";
      refused(() => toSql(Number(ID)), { rule });
      refused(() => readIds({ id: Number(ID) }, "id"), { rule });
    });
  });
}
