// The types in `.cargo/mutants.toml` exist. If one was renamed, its exclusion has no effect, and the next run, which takes hours, fails for
// a known reason.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../scripts/shell.mjs";

const sources = join(root, "crates/core/src");
const code = readdirSync(sources, { recursive: true })
  .filter((name) => name.endsWith(".rs"))
  .map((name) => readFileSync(join(sources, name), "utf8"))
  .join("\n");
const excluded = readFileSync(join(root, ".cargo/mutants.toml"), "utf8").split("exclude_re = [")[1];
const types = [...new Set([...excluded.matchAll(/\b([A-Z]\w+)(?:<\.\*>)?::/g)].map(([, name]) => name))];

test("the types whose mutants are excluded", () => {
  assert.ok(types.length >= 6, `${types}`);
  // The code is too long for a message.
  for (const name of types) assert.ok(new RegExp(`(struct|enum|trait) ${name}\\b`).test(code), name);
});
