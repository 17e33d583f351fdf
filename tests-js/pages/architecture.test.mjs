// docs/architecture.md names every file and folder of npm/frazil/src in its table, and no other.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { root, textOf } from "./examples.mjs";

/** The files and folders that the first column of the table names; of `binding/node.ts`, the folder. */
function namedBy(page) {
  const [, table] = page.match(/^The files of the TypeScript package.*?\n\n(.*?)\n\n/ms);
  const columns = table
    .split("\n")
    .slice(2)
    .map((row) => row.split(" | ")[0]);
  return new Set(columns.flatMap((column) => [...column.matchAll(/`([^`/]+\/?)[^`]*`/g)].map(([, name]) => name)));
}

const entries = readdirSync(`${root}npm/frazil/src`, { withFileTypes: true }).map((entry) =>
  entry.isDirectory() ? `${entry.name}/` : entry.name,
);

/** What is only in the folder, or only in the page. */
function differences(page) {
  const named = namedBy(page);
  return [
    ...entries.filter((entry) => !named.has(entry)),
    ...[...named].filter((name) => !entries.includes(name)).map((name) => `no ${name}`),
  ];
}

test("the table of architecture.md has each file and folder of the TypeScript package", () => {
  assert.deepEqual(differences(textOf("docs/architecture.md")), []);
});

test("a file that the table lacks, and one that is gone, are found", () => {
  const page = textOf("docs/architecture.md").replace("`snowflake.ts`", "`gone.ts`").replace("`stores/`", "stores");
  assert.deepEqual(differences(page), ["snowflake.ts", "stores/", "no gone.ts"]);
});
