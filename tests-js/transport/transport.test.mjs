// `frazil/transport`: writing, reading and refusals, on every Node. carriers.test.mjs has the carriers.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";
import { FrazilError, Layout } from "frazil";
import * as transport from "frazil/transport";
import { messageOf, ruleTextOf } from "../base/rule-texts.mjs";
import { ID, IDS, LARGEST, NO_IDS, SIGNED } from "./ids.mjs";

const required = createRequire(import.meta.url)("frazil/transport");

/** Asserts that a call is refused with these details. */
function refused(call, details) {
  assert.throws(call, (error) => {
    assert.ok(FrazilError.is(error), `${error}`);
    const { code = "INVALID_ID", ...rest } = details;
    assert.equal(error.code, code);
    assert.ok(error.message.startsWith(messageOf(error, "")), error.message);
    for (const [name, value] of Object.entries(rest)) {
      const found = name === "rule" ? ruleTextOf(error) : error[name];
      if (value instanceof RegExp) assert.match(`${found}`, value, name);
      else assert.deepEqual(found, value, name);
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

    test("jsonReplacer writes what a replacer of the caller put in", () => {
      const hide = (key, value) => (key === "secret" ? "***" : value);
      const text = JSON.stringify({ secret: ID, id: ID }, function replace(key, value) {
        return jsonReplacer.call(this, key, hide(key, value));
      });
      assert.equal(text, `{"secret":"***","id":"${ID}"}`);
    });

    test("jsonReplacer works detached, in a replacer of the caller", () => {
      const text = JSON.stringify({ id: ID, n: 7 }, (key, value) => jsonReplacer(key, value));
      assert.equal(text, `{"id":"${ID}","n":7}`);
    });

    for (const [returned, value] of Object.entries({
      "the number": (id) => Number(id),
      "the text of the number": (id) => `${Number(id)}`,
      "another bigint": (id) => BigInt.asIntN(53, id),
      "an object": (id) => ({ $bigint: Number(id) }),
      "an array": (id) => [Number(id)],
      null: () => null,
      undefined: () => undefined,
      "a boxed bigint": () => Object(7n),
    })) {
      test(`a BigInt.prototype.toJSON that returns ${returned} has no effect on jsonReplacer`, (t) => {
        Object.defineProperty(BigInt.prototype, "toJSON", {
          configurable: true,
          value() {
            return value(BigInt(this));
          },
        });
        t.after(() => delete BigInt.prototype.toJSON);
        const given = { id: ID, boxed: Object(ID), list: [ID], n: 3, text: "a", f: () => 1 };
        const exact = `{"id":"${ID}","boxed":"${ID}","list":["${ID}"],"n":3,"text":"a"}`;
        assert.equal(JSON.stringify(given, jsonReplacer), exact);
        assert.equal(JSON.stringify(ID, jsonReplacer), `"${ID}"`);
      });
    }

    test("jsonReplacer writes a boxed bigint as JSON writes other boxed values", () => {
      const given = { id: Object(ID), n: Object(5), text: Object("a"), made: { toJSON: () => Object(1n) } };
      assert.equal(JSON.stringify(given, jsonReplacer), `{"id":"${ID}","n":5,"text":"a","made":"1"}`);
      assert.equal(JSON.stringify(Object(ID), jsonReplacer), `"${ID}"`);
    });

    test("jsonReplacer writes a boxed bigint of another realm, and leaves to JSON what only looks like one", () => {
      const foreign = runInNewContext(`Object(${ID}n)`);
      assert.equal(JSON.stringify({ id: foreign }, jsonReplacer), `{"id":"${ID}"}`);
      const throws = {
        get [Symbol.toStringTag]() {
          throw new Error("not this one");
        },
      };
      const looks = [Object.create(BigInt.prototype), { [Symbol.toStringTag]: "BigInt" }, throws];
      assert.equal(JSON.stringify(looks, jsonReplacer), "[{},{},{}]");
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

    test("json refuses cycles, too much depth and what a getter throws, with the cause", () => {
      const cycle = { id: ID };
      cycle.self = [cycle];
      const details = {
        code: "INVALID_ARGUMENT",
        field: "value",
        rule: /^must be a value that has a JSON text.*without a cycle/,
      };
      refused(() => json(cycle), { ...details, value: cycle, cause: /^TypeError: .*circular/s });
      refused(() => json(JSON.parse("[".repeat(1e5) + "]".repeat(1e5))), { ...details, cause: /^RangeError: / });
      const throws = {
        get id() {
          throw new Error("no connection");
        },
      };
      refused(() => json(throws), { ...details, cause: /^Error: no connection$/ });
    });

    test("json refuses an init that the host refuses for a body, with the cause", () => {
      const inits = [
        { status: 204 },
        { status: 304 },
        { status: 99 },
        { headers: { "a b": "1" } },
        { statusText: "\n" },
      ];
      for (const init of inits) {
        const details = {
          code: "INVALID_ARGUMENT",
          field: "init",
          value: init,
          rule: /\nWithout a body: new Response\(null, init\)\.$/,
        };
        refused(() => json(1, init), { ...details, cause: /^(TypeError|RangeError): / });
        assert.throws(() => Response.json(1, init));
      }
    });

    test("where the host has no Response or no TextEncoder, json is refused, and the cause says which", () => {
      for (const name of ["Response", "TextEncoder"]) {
        const given = Object.getOwnPropertyDescriptor(globalThis, name);
        delete globalThis[name];
        try {
          const details = {
            code: "INVALID_ARGUMENT",
            field: "init",
            value: undefined,
            rule: /\nWithout a body: new Response\(null, init\)\.$/,
          };
          refused(() => json(1), { ...details, cause: new RegExp(`^ReferenceError: ${name} is`) });
        } finally {
          Object.defineProperty(globalThis, name, given);
        }
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

    test("readIds: JSON that was not parsed is refused, and the error does not have it", () => {
      for (const text of ['{"id":"5"}', ""])
        assert.throws(() => readIds(text, "id"), {
          message: "INVALID_ARGUMENT: value must be parsed JSON, got a string",
          hint: "Pass JSON.parse(text).",
          value: undefined,
        });
    });

    test("readIds: rows, of whatever prototype, and values that have no keys", () => {
      class Row {
        id = "5";
      }
      const bare = Object.assign(Object.create(null), { id: "5" });
      assert.deepEqual(readIds([new Row(), bare, { id: "5" }], "id"), Array(3).fill({ id: 5n }));
      for (const value of [null, undefined, 5, 5n, true]) assert.equal(readIds(value, "id"), value);
      const map = new Map([["id", "5"]]);
      assert.equal(readIds(map, "id"), map);
      assert.deepEqual(readIds([], "id"), []);
    });

    test("readIds returns what has no ID to read in it as it is", () => {
      class Price {
        tags = [1, { currency: "EUR" }];
        ratio = Number.NaN;
        none = [Number.NaN, undefined];
        ids = [];
        read = { id: ID, ids: [1n, null] };
        plus() {
          return "a method";
        }
      }
      const given = {
        id: "5",
        price: new Price(),
        list: [[Number.NaN], []],
        at: new Date(0),
        url: new URL("http://a.b"),
      };
      const read = readIds(given, "id", "ids");
      assert.equal(read.id, 5n);
      for (const key of ["price", "list", "at", "url"]) assert.equal(read[key], given[key], key);
      assert.equal(read.price.plus(), "a method");
      assert.equal(readIds(given, "absent"), given);
      const rows = [{ a: [Number.NaN] }, [], [{ id: ID }]];
      assert.equal(readIds(rows, "id"), rows);
    });

    test("readIds copies an object with an ID in it to a plain one, and an array to a plain array", () => {
      class User {
        id = "5";
        tags = ["a"];
        hello() {}
      }
      class Rows extends Array {}
      const given = { rows: Rows.of(new User()) };
      const read = readIds(given, "id");
      assert.equal(Object.getPrototypeOf(read.rows), Array.prototype);
      assert.equal(Object.getPrototypeOf(read.rows[0]), Object.prototype);
      assert.deepEqual(read, { rows: [{ id: 5n, tags: ["a"] }] });
      assert.equal(read.rows[0].tags, given.rows[0].tags);
    });

    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ]) {
      test(`readIds reads ${open} of any depth that JSON.parse reads`, () => {
        const text = (id) => `${open.repeat(100_000)}{"id":${id}}${close.repeat(100_000)}`;
        let read = readIds(JSON.parse(text(`"${ID}"`)), "id");
        for (let depth = 0; depth < 100_000; depth++) read = read[open === "[" ? 0 : "a"];
        assert.deepEqual(read, { id: ID });
        refused(() => readIds(JSON.parse(text("1.5")), "id"), { field: "id", value: 1.5 });
      });
    }

    test("readIds: what is in several places, or in itself, is read and copied once", () => {
      const author = { id: "5" };
      const rows = [{ author, other: { n: 1 } }, { author }];
      rows[0].rows = rows;
      rows[0].other.other = rows[0].other;
      const read = readIds(rows, "id");
      assert.deepEqual(read[1], { author: { id: 5n } });
      assert.equal(read[0].author, read[1].author);
      assert.equal(read[0].rows, read);
      assert.equal(read[0].other, rows[0].other, "a cycle without an ID");
      assert.equal(author.id, "5");
      // 2^60 places of one ID.
      let folded = { id: "5" };
      for (let level = 0; level < 60; level++) folded = { left: folded, right: folded };
      let at = readIds(folded, "id");
      for (let level = 0; level < 60; level++) {
        assert.equal(at.left, at.right);
        at = at.left;
      }
      assert.deepEqual(at, { id: 5n });
    });

    test("readIds does not enter bytes, Map and Set, and refuses them under a key that it reads", () => {
      const given = {
        map: new Map([["id", { id: 1.5 }]]),
        set: new Set([{ id: 1.5 }]),
        bytes: new Float64Array([1.5]),
      };
      assert.equal(readIds(given, "id", "0", "size"), given);
      assert.deepEqual(new Map(readIds([...new Map([["a", { id: "5" }]])], "id")), new Map([["a", { id: 5n }]]));
      for (const value of Object.values(given)) {
        refused(() => readIds({ id: value }, "id"), { field: "id", value, rule: /^must be a bigint/ });
      }
    });

    test("readIds refuses at once an array with holes, which a message of a few bytes may have, at any place", () => {
      const rule = "must be a value that can be read, without holes";
      const sparse = structuredClone(Object.assign([], { length: 2 ** 32 - 1 }));
      for (const array of [sparse, Object.assign(["5"], { length: 2 ** 31, 9: "6" }), Object.assign([], { 1: "5" })]) {
        for (const value of [array, { a: array }, { id: array }, [[array]]]) {
          refused(() => readIds(value, "id"), { code: "INVALID_ARGUMENT", field: "value", value, rule });
        }
      }
    });

    test("readIds reads the elements of an array, whatever its iterator and its methods are", () => {
      class Odd extends Array {
        *[Symbol.iterator]() {
          yield 7;
        }
        map() {
          return [];
        }
      }
      const odd = (element) => Object.setPrototypeOf([element], Odd.prototype);
      assert.deepEqual(readIds({ a: odd({ id: "5" }), id: odd("6") }, "id"), { a: [{ id: 5n }], id: [6n] });
    });

    test("readIds does not enter a boxed text, each of whose characters is a key", () => {
      const given = { a: new String("5".repeat(2 ** 28)) };
      assert.equal(readIds(given, "id", "0"), given);
      refused(() => readIds(given, "a"), { field: "a", value: given.a, rule: /^must be a bigint/ });
    });

    test("readIds refuses a value that nobody can read, with the cause", () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      const throws = {
        get a() {
          throw new TypeError("no connection");
        },
      };
      for (const hidden of [proxy, throws]) {
        for (const value of [hidden, { hidden }, { id: hidden }]) {
          const details = { code: "INVALID_ARGUMENT", field: "value", rule: /can be read/, cause: /^TypeError: / };
          refused(() => readIds(value, "id"), details);
        }
      }
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
        const details = { code: "INVALID_ARGUMENT", field: "keys", rule: "must be at least one string" };
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
        refused(() => toSql(value), { rule: `must be an ID from 0 to ${SIGNED}\nBind layout.toSigned(id) as text.` });
      }
    });

    test("a rounded number says what to do", () => {
      const rule =
        "must be a bigint, digits or a number below 2^53\nJSON.parse rounds larger numbers, so keep IDs as text. In SQL: CAST(id AS TEXT).";
      refused(() => toSql(Number(ID)), { rule });
      refused(() => readIds({ id: Number(ID) }, "id"), { rule });
    });
  });
}
