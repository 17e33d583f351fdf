// The program of docs/guides/public-ids.md prints what the page says. `cli/page.test.mjs` runs the commands of docs/reference/cli.md.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { printed, programsOf, root, textOf } from "../pages/examples.mjs";

const { keys } = JSON.parse(readFileSync(join(root, "crates/core/vectors/public.json"), "utf8"));
const folder = fileURLToPath(new URL("./", import.meta.url));

for (const { code, line, output } of programsOf(textOf("docs/guides/public-ids.md")))
  test(`line ${line} prints what follows it`, async () =>
    assert.equal(await printed(code, { folder, env: { ID_KEY: keys[0].text } }), output));
