// The program of docs/guides/public-ids.md prints what the page says. `cli/page.test.mjs` runs the commands of docs/reference/cli.md.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { printed, programsOf, root, textOf } from "../pages/examples.mjs";

const { keys } = JSON.parse(readFileSync(join(root, "crates/core/vectors/public.json"), "utf8"));
const program = join(root, "npm/frazil/dist/cli.mjs");
const folder = fileURLToPath(new URL("./", import.meta.url));

for (const { code, line, output } of programsOf(textOf("docs/guides/public-ids.md")))
  test(`line ${line} prints what follows it, and with another key other texts`, async () => {
    const printedWith = (ID_KEY) => printed(code, { folder, env: { ID_KEY } });
    assert.equal(await printedWith(keys[0].text), output);
    const other = await printedWith(
      execFileSync(process.execPath, [program, "key", "new"], { encoding: "utf8" }).trim(),
    );
    const shapeOf = (text) => text.replaceAll(/\w{22}\b/g, "<text>");
    assert.notEqual(other, output);
    assert.equal(shapeOf(other), shapeOf(output));
  });
