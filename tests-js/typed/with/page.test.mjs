// The programs of docs/guides/typed-ids.md print what the page says, and its TypeScript compiles.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { blocksOf, printed, programsOf, textOf } from "../../pages/examples.mjs";

const page = textOf("docs/guides/typed-ids.md");
const folder = fileURLToPath(new URL("./", import.meta.url));
const tsc = fileURLToPath(new URL("../../../node_modules/.bin/tsc", import.meta.url));

for (const { code, line, output } of programsOf(page))
  test(`line ${line} prints what follows it`, async () => assert.equal(await printed(code, { folder }), output));

test("the TypeScript compiles, and the compiler refuses what it says", (t) => {
  const copy = mkdtempSync(join(folder, "page-"));
  t.after(() => rmSync(copy, { recursive: true }));
  const programs = blocksOf(page).filter(({ language }) => language === "ts");
  assert.equal(programs.length, 1);
  writeFileSync(join(copy, "program.ts"), programs[0].code);
  writeFileSync(join(copy, "tsconfig.json"), JSON.stringify({ extends: "../tsconfig.json", files: ["program.ts"] }));
  const { stdout, status } = spawnSync(tsc, ["--pretty", "false", "-p", copy], { encoding: "utf8" });
  assert.deepEqual([status, stdout], [0, ""]);
});
