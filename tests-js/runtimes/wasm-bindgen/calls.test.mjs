// Compiles the tests of crates/wasm, with the same glue generator as the package, and runs them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { bundle, root } from "../bundle-and-run.mjs";

/** The number of tests in the file, to check that all of them run. */
const TESTS = readFileSync(`${root}crates/wasm/tests/calls.rs`, "utf8").match(/^#\[wasm_bindgen_test\]$/gm).length;

const cargo = (args) =>
  execFileSync("cargo", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

test("crates/wasm/tests", async () => {
  // With the profile of the package, because its dependencies are compiled already.
  const what = ["-p", "frazil-wasm", "--features", "std", "--test", "calls", "--profile", "release-wasm"];
  const how = ["--locked", "--quiet", "--target", "wasm32-unknown-unknown", "--no-run", "--message-format=json"];
  const messages = cargo(["test", ...what, ...how])
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { executable } = messages.find(({ target, executable }) => target?.name === "calls" && executable);
  const glue = mkdtempSync(`${tmpdir()}/frazil-wasm-bindgen-`);
  cargo(["run", "--locked", "--quiet", "-p", "xtask", "--", "bindgen", executable, glue]);
  const folder = await bundle(["wasm-bindgen/run-tests.mjs"], {
    alias: { "#glue": `${glue}/frazil_bg.js` },
    conditions: ["browser"],
  });
  const { runTests } = await import(`${folder}/run-tests.mjs`);
  const { passed, tests, printed } = await runTests(readFileSync(`${glue}/frazil_bg.wasm`));
  assert.ok(passed, printed);
  assert.equal(tests, TESTS);
  assert.match(printed, new RegExp(`test result: ok. ${TESTS} passed; 0 failed; 0 ignored`));
});
