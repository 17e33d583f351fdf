// zod 4: a codec in both directions, without a throw, and its JSON Schema.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { id, refused, UserId, written } from "./ids.mjs";

const text = z.string().regex(new RegExp(UserId.jsonSchema.pattern));
const schema = z.object({ user: z.codec(text, z.bigint(), UserId) });
const withoutPattern = z.codec(z.string(), z.bigint(), UserId);

test("a codec decodes and encodes", () => {
  assert.deepEqual(z.decode(schema, { user: written }), { user: id });
  assert.deepEqual(schema.parse({ user: written }), { user: id });
  assert.deepEqual(z.encode(schema, { user: id }), { user: written });
});

test("what is refused is an issue with its path, and never a throw", async () => {
  for (const user of refused) {
    for (const result of [schema.safeParse({ user }), await schema.safeParseAsync({ user })]) {
      assert.equal(result.success, false);
      assert.deepEqual(result.error.issues[0].path, ["user"]);
    }
    assert.equal(withoutPattern.safeParse(user).success, false);
  }
  const [issue] = withoutPattern.safeParse("org_1ptWyK4WgZU").error.issues;
  assert.equal(issue.code, "custom");
  assert.match(issue.message, /^INVALID_TEXT: text must match \^usr_/);
  assert.equal(z.safeEncode(withoutPattern, -1n).success, false);
  assert.throws(() => withoutPattern.parse("org_1ptWyK4WgZU"), z.ZodError);
});

test("a callback that throws would escape safeParse", () => {
  const throwing = z.codec(z.string(), z.bigint(), { decode: (text) => UserId.parse(text), encode: UserId.format });
  assert.throws(() => throwing.safeParse("org_1ptWyK4WgZU"), { code: "INVALID_TEXT" });
});

test("the JSON Schema of the input has the pattern", () => {
  const { properties } = z.toJSONSchema(schema, { io: "input" });
  assert.deepEqual(properties.user, { type: "string", pattern: UserId.jsonSchema.pattern });
  assert.throws(() => z.toJSONSchema(schema), /BigInt/);
});
