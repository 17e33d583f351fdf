// docs/reference/errors.md: each code has an anchor, in the row of its class, and a row that says what to do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { errors } from "../vectors/generated-tables.mjs";
import { textOf } from "./examples.mjs";

const PAGE = "docs/reference/errors.md";
const rows = textOf(PAGE)
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.slice(2, -2).split(" | "));
/** The codes that a text names. */
const codesIn = (text) => [...text.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, code]) => code);

for (const [name, list] of Object.entries(errors.CLASSES)) {
  const [, named = ""] = rows.find(([first]) => first === `\`${name}\``) ?? [];
  for (const code of list.split(" "))
    test(`${PAGE} has ${code}: an anchor, and what to do`, () => {
      assert.equal(named.split(`<a id="${code}"></a>\`${code}\``).length, 2);
      const about = rows.filter(([first, ...more]) => more.length === 2 && codesIn(first).includes(code));
      assert.notDeepEqual(about, []);
    });
}

test(`${PAGE} names no code that there is not`, () => {
  const codes = Object.values(errors.CLASSES).flatMap((list) => list.split(" "));
  assert.equal(codes.length, 31);
  const [classes, table] = [2, 3].map((cells) => rows.filter((row) => row.length === cells));
  for (const code of [...classes.flatMap(([, named]) => codesIn(named)), ...table.flatMap(([first]) => codesIn(first))])
    assert.ok(codes.includes(code), code);
});
