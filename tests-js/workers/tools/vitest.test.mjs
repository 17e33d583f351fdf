// @cloudflare/vitest-plugin with the packed tarball: the tests in vitest/test, and the one in docs/guides/workers-tools.md, run inside
// workerd. The first configuration is that of the page.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { blocksOf } from "../../stores/workerd/page.mjs";
import { installWorker, newestDate, OLDEST_DATE, packages, runTool, setDate, VITEST } from "./consumer.mjs";

const DATES = [OLDEST_DATE, newestDate(packages.vitestPlugin)];
/** How many tests there are. */
const TESTS = 8;
/** Files that show whether the WebAssembly module is found: a test that mints, and one that only decodes. */
const TWO_FILES = ["test/ids.test.ts", "test/layout.test.ts"];

let folder;
before(() => {
  folder = installWorker("vitest");
  const [, configuration, idsTest] = blocksOf("../../guides/workers-tools", "ts");
  writeFileSync(join(folder, "vitest.config.mts"), configuration);
  writeFileSync(join(folder, "test/ids.test.ts"), idsTest);
});

/** Runs test files, by default all, under a configuration: how many files and tests there were, and what was printed. */
function report(configuration, status, files = []) {
  const reporters = ["--reporter=json", "--outputFile=report.json"];
  const args = ["run", ...files, "--config", configuration, ...reporters];
  const { stdout, stderr } = runTool(folder, VITEST, args, { status });
  const {
    numPassedTests: passed,
    numTotalTests: total,
    testResults,
  } = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
  return { passed, total, messages: testResults.map(({ message }) => message), log: `${stdout}${stderr}` };
}

for (const date of DATES) {
  test(`with wrangler: { configPath }, the tests of a Worker pass at ${date}`, () => {
    setDate(folder, date);
    const { passed, total, log } = report("vitest.config.mts", 0);
    assert.deepEqual([passed, total], [TESTS, TESTS], log);
  });
}

test("with a rule for WebAssembly in the place of configPath, they pass", () => {
  const { passed, total, log } = report("by-rules.config.ts", 0, TWO_FILES);
  assert.deepEqual([passed, total], [2, 2], log);
});

test("without either, Vite takes the WebAssembly module for an ES module, and no test file that imports frazil can be loaded", () => {
  const { total, messages } = report("no-rules.config.ts", 1, TWO_FILES);
  assert.equal(total, 0);
  assert.equal(messages.length, 2);
  for (const message of messages) assert.match(message, /no such file or directory, readAll '.*\/frazil\.wasm'/);
  const { passed, log } = report("no-rules.config.ts", 0, ["test/layout-alone.test.ts"]);
  assert.equal(passed, 1, log);
});
