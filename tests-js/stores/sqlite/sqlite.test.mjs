// SQLite: the contract through each client that docs/stores.md names, in its runtime, and what can go wrong with files.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CLIENTS, holdContract, passedIn } from "./programs.mjs";

/** What a database in a file cannot have: a clock of its own, and a failover between a read and a write. */
const NOT_OF_FILES = [
  "an acquisition that was decided before a failover is not written after it",
  "an acquisition that was decided before a fence is not written after it",
  "a renewal that was decided before a failover is not written after it",
  "a jump of the store's clock costs time only",
];

// Most of each is waiting.
describe("the contract", { concurrency: true }, () => {
  for (const [name, program, client] of CLIENTS) {
    test(`${client} in ${name} keeps it`, async () => {
      const { held, skipped, failures } = await holdContract("main.mjs", program, client);
      assert.deepEqual(failures, []);
      assert.deepEqual(skipped, NOT_OF_FILES);
      assert.ok(held > 40, `${held} scenarios`);
    });
  }
});

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

// docs/safety.md: 27, 28, 29
test("one file by two paths, and file systems without times of birth", async () => {
  assert.ok((await passedIn("one-path.mjs")) >= 1);
});
