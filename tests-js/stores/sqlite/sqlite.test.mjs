// SQLite: faults with files.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { passedIn } from "./programs.mjs";

test("the runner of suites hears of what is skipped in another Node", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "frazil-skipped-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [program, report] = ["skips.mjs", "report.jsonl"].map((name) => join(folder, name));
  writeFileSync(
    program,
    `import { test } from "node:test"; test("a", { skip: "needs root" }, () => {}); test("b", () => {});`,
  );
  assert.equal(await passedIn(program, { FRAZIL_TEST_REPORT: report }), 1);
  assert.deepEqual(JSON.parse(readFileSync(report, "utf8")), { test: "a", skipped: "needs root" });
});

test("traps", async () => {
  assert.ok((await passedIn("traps.mjs")) >= 10);
});

// docs/internals/claims.md: 27, 28, 29
test("one file by two paths, and file systems without times of birth", async () => {
  assert.ok((await passedIn("one-path.mjs")) >= 1);
});
