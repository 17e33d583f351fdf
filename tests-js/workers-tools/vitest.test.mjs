// @cloudflare/vitest-plugin with the packed tarball: the tests in vitest/test, and the one that docs/workers.md prints,
// run inside workerd. The first configuration is that of the page.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { blocksOf } from "../stores/workerd/page.mjs";
import { installWorker, newestDate, OLDEST_DATE, packages, runTool, setDate, VITEST } from "./consumer.mjs";

const DATES = [OLDEST_DATE, newestDate(packages.vitestPlugin)];
const FILES = 4;
const TESTS = 6;

let folder;
before(() => {
  folder = installWorker("vitest");
  const [, configuration, idsTest] = blocksOf("../workers", "ts");
  writeFileSync(join(folder, "vitest.config.ts"), configuration);
  writeFileSync(join(folder, "test/ids.test.ts"), idsTest);
});

/** Runs Vitest under a configuration, and returns its report. */
function report(configuration, status) {
  const reporters = ["--reporter=json", "--outputFile=report.json"];
  const { stdout, stderr } = runTool(folder, VITEST, ["run", "--config", configuration, ...reporters], { status });
  const { numPassedTests, numTotalTests, testResults } = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
  return { numPassedTests, numTotalTests, testResults, log: `${stdout}${stderr}` };
}

function assertPassed({ numPassedTests, numTotalTests, testResults, log }) {
  assert.deepEqual([numPassedTests, numTotalTests, testResults.length], [TESTS, TESTS, FILES], log);
}

for (const date of DATES) {
  test(`with wrangler: { configPath }, the tests of a Worker pass at ${date}`, () => {
    setDate(folder, date);
    assertPassed(report("vitest.config.ts", 0));
  });
}

test("with a rule for WebAssembly in the place of configPath, they pass", () => {
  assertPassed(report("by-rules.config.ts", 0));
});

test("without either, Vite takes the WebAssembly module for an ES module, and no test file can be loaded", () => {
  const { numTotalTests, testResults } = report("no-rules.config.ts", 1);
  assert.equal(numTotalTests, 0);
  assert.equal(testResults.length, FILES);
  for (const { message } of testResults) assert.match(message, /no such file or directory, readAll '.*\/frazil\.wasm'/);
});
