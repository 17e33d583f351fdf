// valibot: a pipe of its own actions.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { id, refused, UserId, written } from "./ids.mjs";

const schema = v.object({
  user: v.pipe(
    v.string(),
    v.check((text) => UserId.is(text)),
    v.transform(UserId.parse),
  ),
});

test("texts become IDs, and others an issue with its path", () => {
  assert.deepEqual(v.parse(schema, { user: written }), { user: id });
  for (const user of refused) {
    const { success, issues } = v.safeParse(schema, { user });
    assert.equal(success, false);
    assert.equal(v.getDotPath(issues[0]), "user");
  }
});
