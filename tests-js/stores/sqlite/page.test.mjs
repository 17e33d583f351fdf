// docs/reference/stores/sqlite.md as printed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tools } from "../../../scripts/tools.mjs";
import { checkPrinted, runPage } from "../kit/page.mjs";

test("the programs of docs/reference/stores/sqlite.md run as they are printed, at every start", async () => {
  await runPage("sqlite", { runtime: [tools.node22], others: [] });
});

test("a line that ddl prints and the page lacks is found", () => {
  assert.throws(
    () => checkPrinted("sqlite", /^CREATE TABLE/),
    /docs\/reference\/stores\/sqlite.md has no line CREATE TABLE/,
  );
});
