// Typed IDs whose texts `frazil/public` seals.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snowflake } from "frazil";
import { publicIds } from "frazil/public";
import { anyId, defineId } from "frazil/typed";

const [key, older] = [1, 2].map((first) => new Uint8Array(16).map((_, at) => first + at));
const sealed = (kind, options) => publicIds({ kind, keys: [key], ...options });
const typeOf = (prefix, options) => defineId(prefix, { public: sealed(prefix, options) });
const UserId = typeOf("usr");
const PostId = typeOf("post");
const MAX = 2n ** 63n - 1n;
const ids = [0n, 1n, 1541815603606036480n, MAX];
const texts = ids.map(UserId.format);

test("a text is the prefix and 22 characters, of which each schema says so", () => {
  const schema = { type: "string", pattern: "^usr_[0-9A-Za-z]{22}$" };
  assert.deepEqual({ ...UserId.jsonSchema }, schema);
  assert.deepEqual(UserId["~standard"].jsonSchema.input({ target: "draft-07" }), schema);
  for (const [at, text] of texts.entries()) {
    assert.match(text, new RegExp(schema.pattern));
    assert.equal(text, `usr_${sealed("usr").encode(ids[at])}`);
    assert.equal(UserId.parse(text), ids[at]);
    assert.deepEqual(UserId["~standard"].validate(text), { value: ids[at] });
  }
});

test("a generator makes them, and drivers get the number", () => {
  const Made = defineId("usr", { ids: new Snowflake({ node: 9 }), public: sealed("usr") });
  const id = Made.next();
  assert.equal(Made.parse(Made.format(id)), id);
  assert.equal(Made.fromDriver(Made.toDriver(id)), id);
});

/** The first of the texts that a type reads. */
const firstRead = ({ is }, others) => others.find(is);

test("nothing else opens: other digits, types, kinds, keys and forms", () => {
  const others = texts.flatMap((text) =>
    Array.from(text, (digit, at) => text.slice(0, at) + (digit === "0" ? "1" : "0") + text.slice(at + 1)),
  );
  others.push(PostId.format(5n), `usr_${PostId.format(5n).slice("post_".length)}`);
  others.push(typeOf("usr", { keys: [older] }).format(5n), defineId("usr").format(5n), `${texts[0]} `);
  assert.equal(firstRead(UserId, others), undefined);
  const { code } = UserId.safeParse(others.at(-3)).error;
  assert.equal(code, "INVALID_TEXT");
  const context = { issues: [] };
  assert.equal(UserId.decode(others[5], context), undefined);
  assert.match(context.issues[0].message, /^INVALID_TEXT: /);

  const unchecked = defineId("usr", { public: { ...sealed("usr"), decode: () => 5n } });
  assert.notEqual(firstRead(unchecked, others), undefined, "the checker must catch the mutant");
});

test("a text that an older key sealed is read, and written with the first key", () => {
  const Before = typeOf("usr", { keys: [older] });
  const During = typeOf("usr", { keys: [key, older] });
  for (const id of ids) {
    assert.equal(During.parse(Before.format(id)), id);
    assert.equal(During.format(id), UserId.format(id));
    assert.equal(Before.is(During.format(id)), false);
  }
});

test("another kind, the short form and another layout are refused", () => {
  const wrong = [
    [{ public: sealed("user") }, "public.kind", 'must be usr, got "user"'],
    [
      { public: publicIds({ kind: "usr", form: "short", keys: [{ slot: 0, key }] }) },
      "public.form",
      'must be sealed, got "short"',
    ],
    [{ public: sealed("usr", { layout: "discord" }), layout: "default" }, "layout"],
  ];
  for (const [options, field, said = "must be that of ids and public, got "] of wrong)
    assert.throws(
      () => defineId("usr", options),
      (error) => error.name === "ConfigError" && error.message.startsWith(`INVALID_OPTION: ${field} ${said}`),
    );
});

test("layouts of 64 bits, and prefixes of 63 characters", () => {
  const Guild = typeOf("guild", { layout: "discord" });
  assert.equal(Guild.parse(Guild.format(2n ** 64n - 1n)), 2n ** 64n - 1n);
  const Long = typeOf("a".repeat(63));
  assert.equal(Long.parse(Long.format(MAX)), MAX);
});

test("several types, sealed or not", () => {
  const any = anyId(UserId, PostId, defineId("org"));
  for (const type of [UserId, PostId]) assert.deepEqual(any.parse(type.format(5n)), { prefix: type.prefix, id: 5n });
  assert.deepEqual(any.parse("org_00000000005"), { prefix: "org", id: 5n });
  const json = JSON.stringify({ id: texts[2], posts: [PostId.format(5n)] });
  assert.deepEqual(JSON.parse(json, any.reviver("id", "posts")), { id: ids[2], posts: [5n] });
});
