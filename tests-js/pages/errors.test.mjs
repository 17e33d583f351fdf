// docs/reference/errors.md: each code is in the row of its class, and has a row that says what to do, with an anchor.
import assert from "node:assert/strict";
import { test } from "node:test";
import { errors } from "../vectors/generated-tables.mjs";
import { textOf } from "./examples.mjs";

const PAGE = "docs/reference/errors.md";
/** The codes of warnings of the process. */
const WARNINGS = ["FRAZIL_STATIC_NODE", "FRAZIL_WASM"];
const rows = textOf(PAGE)
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.slice(2, -2).split(" | "));
/** The rows of the table of classes, and those of the table of codes. */
const [classes, table] = [2, 3].map((cells) => rows.filter((row) => row.length === cells));
/** The codes that a text names. */
const codesIn = (text) => [...text.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, code]) => code);
const anchorsIn = (text) => [...text.matchAll(/<a id="(\w+)"><\/a>/g)].map(([, id]) => id);

for (const [name, list] of Object.entries(errors.CLASSES)) {
  const [, named = ""] = classes.find(([first]) => first === `\`${name}\``) ?? [];
  for (const code of list.split(" "))
    test(`${PAGE} has ${code} in its class, and one row with its anchor`, () => {
      assert.equal(codesIn(named).filter((one) => one === code).length, 1);
      assert.equal(table.filter(([first]) => first.includes(`<a id="${code}"></a>\`${code}\``)).length, 1);
    });
}

test(`${PAGE} names no code that there is not`, () => {
  const codes = Object.values(errors.CLASSES).flatMap((list) => list.split(" "));
  assert.equal(codes.length, 31);
  for (const code of classes.flatMap(([, named]) => codesIn(named))) assert.ok(codes.includes(code), code);
  const known = [...codes, ...WARNINGS].toSorted();
  for (const code of table.flatMap(([first]) => codesIn(first))) assert.ok(known.includes(code), code);
  assert.deepEqual(rows.flatMap((cells) => anchorsIn(cells.join(" "))).toSorted(), known);
});
