// The suites and the code in docs/internals/verification.md exist.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../scripts/shell.mjs";
import { SUITES } from "../../scripts/test/suites.mjs";

const names = SUITES.map(({ name }) => name);
const page = readFileSync(join(root, "docs/internals/verification.md"), "utf8");

/** The rows of the table, without its head. */
const rowsOf = (text) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
    .map((line) => line.split("|").map((cell) => cell.trim()));

const quoted = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name);

/** What a page names and the repository lacks. `NAME` stands for a store. */
function missing(text) {
  return rowsOf(text).flatMap(([, , suites, code]) => [
    ...quoted(suites).filter(
      (name) => !names.some((each) => new RegExp(`^${name.replace("NAME", "\\w+")}$`).test(each)),
    ),
    ...quoted(code).filter((path) => path.includes("/") && !/^frazil\//.test(path) && !existsSync(join(root, path))),
  ]);
}

test("the table of docs/internals/verification.md names suites and code that exist", () => {
  assert.ok(rowsOf(page).length >= 25);
  assert.deepEqual(missing(page), []);
});

test("a suite and a folder that are gone are found", () => {
  const changed = page.replace("`loom`", "`weave`").replace("`tests-js/lease/processes`", "`tests-js/fate`");
  assert.deepEqual(missing(changed), ["weave", "tests-js/fate"]);
});
