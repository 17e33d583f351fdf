// `frazil/typed`: what it writes, reads and refuses, for one type and for several.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { inspect } from "node:util";
import { ConfigError, DecodeError, Layout, Snowflake } from "frazil";
import * as text from "frazil/text";
import { anyId, defineId, FrazilError } from "frazil/typed";

const ids = new Snowflake({ node: 7 });
const UserId = defineId("usr", { ids });
const PostId = defineId("post", { ids });
const id = 1541815603606036480n;
const written = "usr_1ptWyK4WgZU";
const MAX = 2n ** 63n - 1n;

/** The error that a call throws, which must be of the package. */
function errorOf(call) {
  try {
    call();
  } catch (error) {
    assert.ok(FrazilError.is(error), `${error}`);
    return error;
  }
  assert.fail("it was accepted");
}
const refused = (code, call) => assert.equal(errorOf(call).code, code);

test("an ID is written and read", () => {
  assert.equal(UserId.format(id), written);
  assert.equal(UserId.parse(written), id);
  const made = UserId.next();
  assert.equal(UserId.parse(UserId.format(made)), made);
  assert.deepEqual([0n, 1n, MAX].map(UserId.format).map(UserId.parse), [0n, 1n, MAX]);
});

test("the same by require", () => {
  const required = createRequire(import.meta.url)("frazil/typed");
  assert.equal(required.defineId("usr").parse(written), id);
  assert.ok(errorOf(() => required.defineId("usr").parse("usr_")) instanceof DecodeError);
});

const WRONG = {
  "another type": "org_1ptWyK4WgZU",
  "no prefix": "1ptWyK4WgZU",
  "a prefix alone": "usr_",
  "another case of the prefix": "USR_1ptWyK4WgZU",
  "a digit less": "usr_1ptWyK4WgZ",
  "a digit more": "usr_1ptWyK4WgZU0",
  "a space before": " usr_1ptWyK4WgZ",
  "a space after": "usr_1ptWyK4WgZ ",
  "a line break after": "usr_1ptWyK4WgZU\n",
  "another digit": "usr_1ptWyK4Wg-U",
  "a digit of another script": "usr_1ptWyK4Wg\u0661U",
  "half a character": "usr_1ptWyK4Wg\ud83dU",
  "decimal digits": "1541815603606036480",
  nothing: "",
};
for (const [name, wrong] of Object.entries(WRONG)) {
  test(`${name} is refused`, () => {
    const error = errorOf(() => UserId.parse(wrong));
    assert.ok(error instanceof DecodeError);
    assert.deepEqual([error.code, error.field, error.value], ["INVALID_TEXT", "text", wrong]);
    assert.equal(UserId.is(wrong), false);
    assert.equal(UserId.safeParse(wrong).error.message, error.message);
    const [issue] = UserId["~standard"].validate(wrong).issues;
    assert.equal(issue.message, error.message);
  });
}

for (const [text, shown] of [
  ["usr_AzL8n0Y58m8", 2n ** 63n],
  ["usr_zzzzzzzzzzz", 62n ** 11n - 1n],
]) {
  test(`${text} is no ID of the layout, and the error has its number`, () => {
    const error = errorOf(() => UserId.parse(text));
    assert.ok(error instanceof DecodeError);
    assert.deepEqual([error.code, error.field, error.value], ["INVALID_ID", "id", shown]);
    assert.equal(UserId.is(text), false);
    assert.equal(UserId.safeParse(text).error.message, error.message);
    assert.equal(UserId["~standard"].validate(text).issues[0].message, error.message);
  });
}

const NO_TEXTS = [undefined, null, 5, 5n, id, true, Symbol("usr_"), {}, [written], new String(written), () => written];
test("only strings are texts, and nothing of an object is read", () => {
  const hostile = new Proxy({}, { get: () => assert.fail("read"), has: () => assert.fail("read") });
  for (const value of [...NO_TEXTS, hostile]) {
    refused("INVALID_TEXT", () => UserId.parse(value));
    refused("INVALID_TEXT", () => anyId(UserId).parse(value));
    assert.equal(UserId.is(value), false);
  }
});

test("a text of 10 MB is in no error", () => {
  const any = anyId(UserId, PostId);
  const tails = ["", "_", "_".repeat(200)];
  const long = [..."x 9\u{1f600}"].flatMap((letter) => tails.map((tail) => `usr_${letter.repeat(1e7)}${tail}`));
  for (const text of long)
    for (const call of [UserId.parse, UserId.fromDriver, UserId.format, UserId.toDriver, any.parse]) {
      const error = errorOf(() => call(text));
      assert.ok(inspect(error).length < 3000 && JSON.stringify(error).length < 1000);
      assert.equal(Object.hasOwn(error, "value"), false);
    }
});

test("what is wrong is said, and what is right", () => {
  const { message, rule } = errorOf(() => UserId.parse("org_1ptWyK4WgZU"));
  assert.equal(message, 'INVALID_TEXT: text must match ^usr_[0-9A-Za-z]{11}$, got "org_1ptWyK4WgZU"');
  assert.equal(rule, "must match ^usr_[0-9A-Za-z]{11}$");
  const rounded = errorOf(() => UserId.fromDriver(Number(id)));
  assert.equal(rounded.message, "INVALID_ID: id must be an ID from 0 to 9223372036854775807, got 1541815603606036500");
  assert.match(rounded.hint, /CAST\(id AS TEXT\)/);
});

test("prefixes are those of TypeID, and not empty", () => {
  const vectors = new URL("../../crates/core/vectors/public.json", import.meta.url);
  const { kinds, refusedKinds } = JSON.parse(readFileSync(vectors, "utf8"));
  for (const prefix of kinds) assert.equal(defineId(prefix).format(5n), `${prefix}_00000000005`);
  for (const prefix of [...refusedKinds, undefined, null, 5, ["usr"], {}])
    refused("INVALID_OPTION", () => defineId(prefix));
});

test("a type without a generator reads, and makes none", () => {
  const Reader = defineId("usr");
  assert.equal(Reader.parse(written), id);
  assert.equal(errorOf(Reader.next).message, "INVALID_OPTION: ids must be a generator, got undefined");
  refused("INVALID_OPTION", defineId("usr", { ids: Layout.named("default") }).next);
});

test("the layout bounds the IDs", () => {
  const largest = (options) => errorOf(() => defineId("usr", options).format(2n ** 64n)).rule.match(/\d+$/)[0];
  for (const name of Layout.names) {
    const layout = Layout.named(name);
    const bits = layout.fields.reduce((sum, field) => sum + field.bits, 0);
    const expected = `${2n ** BigInt(bits) - 1n}`;
    const generator = { layout, next: () => 5n };
    for (const options of [{ layout: name }, { layout }, { ids: generator }, { layout: name, ids: generator }])
      assert.equal(largest(options), expected, name);
  }
  const Guild = defineId("guild", { layout: "discord" });
  assert.equal(Guild.parse(Guild.format(2n ** 64n - 1n)), 2n ** 64n - 1n);
  refused("INVALID_ID", () => Guild.toDriver(2n ** 63n));
  assert.equal(Guild.toDriver(2n ** 63n - 1n), `${MAX}`);
});

test("wrong options are refused", () => {
  const layout = Layout.named("default");
  const sealed = { kind: "usr", form: "sealed", layout, encode: String, decode: BigInt };
  const wrong = {
    INVALID_LAYOUT: [
      ...["", ".", "constructor", "__proto__", null, 5, {}, [], { fields: [] }, { fields: 5 }, { fields: [null] }].map(
        (layout) => ({ layout }),
      ),
      { layout: { fields: [{ bits: 65 }] } },
      { layout: { fields: [{ bits: 1.5 }] } },
      { layout: { fields: [{ bits: 1.5 }, { bits: 1.5 }] } },
      { layout: { fields: [{ bits: 70 }, { bits: -7 }] } },
      { layout: { fields: [{ bits: 0 }, { bits: 63 }] } },
      { layout: { fields: [{ bits: "6" }] } },
      { ids: { next: () => 5n } },
      { ids: ids.next },
      { public: 5 },
      { ids: 5 },
      { ids: null },
      { public: { ...sealed, layout: undefined } },
    ],
    INVALID_OPTION: [
      { layot: "twitter" },
      ...[null, 5, "discord"],
      { form: { width: 5 } },
      { ids, layout: "discord" },
      { ids, public: { ...sealed, layout: Layout.named("tsid") } },
      ...[null, 5, "hex", {}, text.base62.short, text.base64url, text.bytes].map((form) => ({ form })),
      ...[undefined, 5, null, ["0"]].map((alphabet) => ({ form: { ...text.hex, width: 3, alphabet } })),
      ...[null, 5, true, 1n, Symbol("x")],
      { form: text.hex, public: sealed },
      { public: { ...sealed, kind: "org" } },
      { public: { ...sealed, form: "short" } },
    ],
  };
  for (const [code, list] of Object.entries(wrong))
    for (const options of list) {
      const error = errorOf(() => defineId("usr", options));
      assert.ok(error instanceof ConfigError);
      assert.equal(error.code, code, inspect(options));
      assert.match(error.field, /^(options|layout|ids|form|public|public\.(kind|form))$/);
    }
});

test("a sealed form is called as a method, writes 22 characters, and reads texts of older keys", () => {
  class Sealed {
    kind = "usr";
    form = "sealed";
    layout = Layout.named("default");
    #key = "new";
    encode(id) {
      return `${this.#key}${id}`.padEnd(22, "0");
    }
    decode(text) {
      if (!/^(new|old)/.test(text)) throw new DecodeError("INVALID_TEXT", "text was made with another key");
      return this.#key && 5n;
    }
  }
  const Hidden = defineId("usr", { public: new Sealed(), ids });
  assert.equal(Hidden.format(5n), "usr_new5000000000000000000");
  for (const text of ["usr_new5000000000000000000", "usr_old5000000000000000000"]) assert.equal(Hidden.parse(text), 5n);
  refused("INVALID_TEXT", () => Hidden.parse("usr_bad5000000000000000000"));
  refused("INVALID_TEXT", () => Hidden.parse(written));
  assert.equal(Hidden.jsonSchema.pattern, "^usr_[0-9A-Za-z]{22}$");
});

test("drivers: text to bind; a bigint, digits or an exact number back", () => {
  assert.equal(UserId.toDriver(id), `${id}`);
  for (const value of [5n, "5", 5]) assert.equal(UserId.fromDriver(value), 5n);
  assert.equal(UserId.fromDriver(Number.MAX_SAFE_INTEGER), BigInt(Number.MAX_SAFE_INTEGER));
  const wrong = [
    2 ** 53,
    Number(id),
    -1,
    1.5,
    Number.NaN,
    -1n,
    MAX + 1n,
    2n ** 5000n,
    "-1",
    "05",
    "5n",
    " 5",
    "",
    "1e3",
  ];
  for (const value of [...wrong, `${MAX + 1n}`, written, true, undefined, null, {}, [5n], Object(5n), new Date(5)])
    refused("INVALID_ID", () => UserId.fromDriver(value));
  assert.deepEqual([null, undefined].map(UserId.to), [null, undefined]);
  assert.deepEqual([null, undefined].map(UserId.from), [null, undefined]);
  assert.deepEqual([UserId.to(id), UserId.from(`${id}`)], [`${id}`, id]);
  refused("INVALID_ID", () => UserId.from(Number(id)));
});

test("a codec collects issues, and throws without a context", () => {
  const context = { issues: [] };
  assert.equal(UserId.decode(written, context), id);
  assert.equal(UserId.encode(id, context), written);
  assert.deepEqual(context.issues, []);
  assert.equal(UserId.decode("org_1ptWyK4WgZU", context), undefined);
  assert.equal(UserId.encode(-1n, context), undefined);
  assert.deepEqual(
    context.issues.map(({ code, input }) => [code, input]),
    [
      ["custom", "org_1ptWyK4WgZU"],
      ["custom", -1n],
    ],
  );
  refused("INVALID_TEXT", () => UserId.decode("org_1ptWyK4WgZU"));
});

test("Standard Schema: version, values, and the JSON Schema of the input", () => {
  const { version, vendor, validate, jsonSchema } = UserId["~standard"];
  assert.deepEqual([version, vendor, validate(written)], [1, "frazil", { value: id }]);
  const schema = { type: "string", pattern: "^usr_[0-9A-Za-z]{11}$" };
  assert.deepEqual(jsonSchema.input({ target: "draft-2020-12" }), schema);
  assert.deepEqual(UserId.jsonSchema, schema);
  assert.match(errorOf(() => jsonSchema.output({ target: "draft-07" })).message, /bigint has no JSON Schema/);
});

test("several types: the prefix says which", () => {
  const any = anyId(UserId, PostId);
  assert.deepEqual(any.parse(written), { prefix: "usr", id });
  assert.deepEqual(any.parse("post_1ptWyK4WgZU"), { prefix: "post", id });
  assert.deepEqual(any["~standard"].validate(written), { value: { prefix: "usr", id } });
  const pattern = new RegExp(any.jsonSchema.pattern);
  assert.ok(pattern.test(written) && pattern.test("post_1ptWyK4WgZU") && !pattern.test("org_1ptWyK4WgZU"));
  const error = errorOf(() => any.parse("org_1ptWyK4WgZU"));
  assert.equal(error.message, `INVALID_TEXT: text must match ${any.jsonSchema.pattern}, got "org_1ptWyK4WgZU"`);
  for (const wrong of ["usr_", "_1ptWyK4WgZU", "1ptWyK4WgZU", "usr_1ptWyK4W_ZU", "constructor_1ptWyK4WgZU"])
    refused("INVALID_TEXT", () => any.parse(wrong));
  for (const types of [[], [UserId, UserId], [undefined], [{}], [UserId, null], [[UserId, PostId]], [{ prefix: "a" }]])
    refused("INVALID_OPTION", () => anyId(...types));
});

test("prefixes that begin alike are told apart", () => {
  const types = ["a", "a_b", "a_b_c", "b_c"].map((prefix) => defineId(prefix));
  for (const type of types) assert.deepEqual(anyId(...types).parse(type.format(5n)), { prefix: type.prefix, id: 5n });
});

test("a reviver reads the named keys, and texts of users stay texts", () => {
  const { reviver } = anyId(UserId, PostId);
  const json = JSON.stringify({
    id: written,
    title: written,
    parent: null,
    posts: ["post_1ptWyK4WgZU", null],
    n: [{ id: written }],
  });
  assert.deepEqual(JSON.parse(json, reviver("id", "parent", "posts")), {
    id,
    title: written,
    parent: null,
    posts: [id, null],
    n: [{ id }],
  });
  for (const wrong of ['{"id":"org_1ptWyK4WgZU"}', '{"id":5}', '{"id":{}}', '{"id":[[]]}'])
    refused("INVALID_TEXT", () => JSON.parse(wrong, reviver("id")));
});

test("everything is frozen, and works detached", () => {
  const { next, format, parse, is, safeParse, toDriver, fromDriver, to, from, encode, decode } = UserId;
  for (const read of [parse, decode, UserId.parseValue]) assert.equal(read(written), id);
  for (const write of [format, encode, UserId.serialize]) assert.equal(write(id), written);
  assert.ok(is(written) && safeParse(written).success && typeof next() === "bigint");
  assert.equal(fromDriver(toDriver(id)), from(to(id)));
  const { parse: parseAny, reviver } = anyId(UserId);
  assert.equal(parseAny(written).id, reviver("")("", written));
  for (const object of [UserId, UserId.jsonSchema, UserId["~standard"], UserId["~standard"].jsonSchema, anyId(UserId)])
    assert.ok(Object.isFrozen(object));
  const copy = UserId["~standard"].jsonSchema.input();
  copy.pattern = "";
  assert.equal(UserId["~standard"].jsonSchema.input().pattern, UserId.jsonSchema.pattern);
});

test("options are an object, and only what it has itself counts", () => {
  for (const options of [null, 5, true, Symbol("x")]) refused("INVALID_OPTION", () => defineId("usr", options));
  try {
    Object.assign(Object.prototype, { layout: "discord" });
    refused("INVALID_ID", () => defineId("usr").format(2n ** 63n));
  } finally {
    delete Object.prototype.layout;
  }
});

test("a full stack is no answer about a text", () => {
  const { validate } = UserId["~standard"];
  const decoded = () => UserId.decode(written, { issues: [] });
  const calls = [
    () => UserId.is(written),
    () => UserId.safeParse(written).data,
    () => validate(written).value,
    decoded,
  ];
  let ended = 0;
  for (const call of calls) {
    let left = 1000;
    /** Calls at each depth of the stack, on the way back from its end. */
    const deeper = () => {
      try {
        deeper();
      } catch {}
      if (left-- < 0) return;
      let answer;
      try {
        answer = call();
      } catch (error) {
        assert.equal(error.name, "RangeError");
        ended++;
        return;
      }
      answers.add(answer);
    };
    const answers = new Set();
    deeper();
    assert.deepEqual([...answers], [call === calls[0] ? true : id]);
  }
  assert.ok(ended > 10);
});
