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

for (const [name, { fromSql, idReviver, json, jsonReplacer, toSql }] of Object.entries({
  import: transport,
  required,
})) {
  describe(`frazil/transport, by ${name}`, () => {
    /** What no call accepts as an ID. */
    const NO_IDS = [
      [Number(ID), /lost digits/],
      [2 ** 53, /lost digits/],
      [-(2 ** 53), /lost digits/],
      [1.5, /lost digits/],
      [Number.NaN, /lost digits/],
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

    test("idReviver reads IDs of named keys at any depth, and leaves the rest", () => {
      const text = `{"id":"${ID}","a":{"b":[{"id":"${LARGEST}","name":"7"}]},"by":12,"likes":["1",null,"2"],"none":null}`;
      assert.deepEqual(JSON.parse(text, idReviver("id", "by", "likes", "none")), {
        id: ID,
        a: { b: [{ id: LARGEST, name: "7" }] },
        by: 12n,
        likes: [1n, null, 2n],
        none: null,
      });
    });

    test("what jsonReplacer writes, idReviver reads", () => {
      const value = { id: ID, ids: [0n, LARGEST], text: "1", n: 1 };
      assert.deepEqual(JSON.parse(JSON.stringify(value, jsonReplacer), idReviver("id", "ids")), value);
    });

    test("idReviver accepts and refuses what Layout.parse does, with the key as field", () => {
      const layout = new Layout({
        epochMs: 0,
        unsigned: true,
        fields: [
          { kind: "time", bits: 42 },
          { kind: "sequence", bits: 22 },
        ],
      });
      for (const [value, id] of [...IDS, [LARGEST, LARGEST], [`${LARGEST}`, LARGEST]]) {
        assert.equal(layout.parse(value), id);
        assert.equal(idReviver("by")("by", value), id);
      }
      for (const [value, rule] of NO_IDS) {
        // The array is a list of IDs here.
        if (Array.isArray(value)) continue;
        assert.throws(() => layout.parse(value), { code: "INVALID_ID" });
        refused(() => idReviver("by")("by", value), { field: "by", value, rule });
      }
    });

    test("idReviver names the element of an array, and refuses arrays in it", () => {
      const read = (text) => JSON.parse(text, idReviver("ids"));
      refused(() => read('{"ids":["1",1489237498237411329]}'), { field: "ids[1]", index: 1, value: Number(ID) });
      refused(() => read('{"ids":[["1"]]}'), { field: "ids[0]", index: 0, rule: /^must be a bigint/ });
    });

    test("idReviver needs names", () => {
      for (const keys of [[], [["id"]], [undefined], ["id", 5]]) {
        refused(() => idReviver(...keys), {
          code: "INVALID_ARGUMENT",
          field: "keys",
          rule: "must be strings, one at least",
        });
      }
    });

    test("toSql and fromSql: IDs below 2^63, in both directions", () => {
      for (const [value, id] of IDS) {
        assert.equal(toSql(value), `${id}`);
        assert.equal(fromSql(value), id);
      }
      assert.deepEqual([1n, "2"].map(toSql).map(fromSql), [1n, 2n], "as callbacks");
    });

    test("toSql and fromSql refuse what is not exactly an ID", () => {
      for (const [value, rule] of NO_IDS) {
        refused(() => toSql(value), { field: "id", value, rule });
        refused(() => fromSql(value), { field: "id", value, rule });
      }
      refused(() => fromSql(null), { value: null });
    });

    test("2^63 and above is refused, and toSql says what to bind", () => {
      for (const value of [2n ** 63n, LARGEST, `${LARGEST}`]) {
        refused(() => toSql(value), { rule: `must be an ID from 0 to ${SIGNED}: bind layout.toSigned(id) as text` });
        refused(() => fromSql(value), { rule: `must be an ID from 0 to ${SIGNED}` });
      }
    });

    test("a rounded number says what to do", () => {
      refused(() => toSql(Number(ID)), { rule: /so keep IDs as bigint or text$/ });
      refused(() => fromSql(Number(ID)), { rule: /so select CAST\(id AS TEXT\)$/ });
      refused(() => idReviver("id")("id", Number(ID)), { rule: /so send text$/ });
    });
  });
}
