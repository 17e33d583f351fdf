import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkReport, compileTests } from "./compile.mjs";

const folder = await compileTests(["run-tests"]);

test("crates/wasm/tests in Node", async () => {
  const { runTests } = await import(`${folder}/run-tests.mjs`);
  checkReport(await runTests(readFileSync(`${folder}/tests.wasm`)));
});
