// Typed IDs in the types of other packages: `types.ts` compiles, and each line after `@ts-expect-error` does not.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const tsc = fileURLToPath(new URL("../../../node_modules/.bin/tsc", import.meta.url));

test("the types hold", () => {
  const cwd = fileURLToPath(new URL("./", import.meta.url));
  const { status, stdout, stderr } = spawnSync(tsc, ["--pretty", "false", "-p", "."], { cwd, encoding: "utf8" });
  assert.deepEqual([status, `${stdout}${stderr}`], [0, ""]);
});
