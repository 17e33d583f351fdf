// The messages for the most common mistakes. A change must be intended: `node tests-js/base/mistakes.mjs --update`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FrazilError } from "frazil";
import { committed, MISTAKES, messages } from "./mistakes.mjs";
import { wholeText } from "./rule-texts.mjs";

test("the messages are those of the snapshot", () =>
  assert.equal(messages(), committed(), "if the change is intended: node tests-js/base/mistakes.mjs --update"));

for (const [written, call] of Object.entries(MISTAKES)) {
  test(`${written} has a code, and prints it once`, () => {
    assert.throws(call, (error) => {
      assert.ok(FrazilError.is(error), error.stack);
      assert.equal(`${error}`.split(error.code).length, 2, `${error}`);
      assert.doesNotMatch(wholeText(error), /undefined: undefined|\[object|NaN ms/);
      return true;
    });
  });
}

test("there are at least fifty", () => assert.ok(Object.keys(MISTAKES).length >= 50));
