// arktype takes a Standard Schema as a definition.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type } from "arktype";
import { EitherId, id, refused, UserId, written } from "./ids.mjs";

const schema = type({ user: UserId, "either?": EitherId });

test("texts become IDs, and others an error with its path", () => {
  assert.deepEqual(schema({ user: written }), { user: id });
  assert.deepEqual(schema({ user: written, either: written }).either, { prefix: "usr", id });
  for (const user of refused) {
    const errors = schema({ user });
    assert.ok(errors instanceof type.errors);
    assert.deepEqual([...errors[0].path], ["user"]);
  }
});
