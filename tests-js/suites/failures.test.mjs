// What a failure of a suite means, from real runs of Node's test runner.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { root } from "../../scripts/shell.mjs";
import { flakeLine, mayRunAgain, tooOften } from "../../scripts/test/failures.mjs";
import { runSuites } from "../../scripts/test/run-suites.mjs";

const folder = mkdtempSync(join(tmpdir(), "frazil-failures-"));
after(() => rmSync(folder, { recursive: true }));

const HEAD = `
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { test } from "node:test";
`;
let files = 0;

/** A suite with a file of tests of this text. */
function suiteOf(text, more = {}) {
  files += 1;
  const file = join(folder, `${files}.test.mjs`);
  writeFileSync(file, HEAD + text);
  const args = ["--test", "--test-timeout=3000", `--test-reporter=${root}scripts/dots.mjs`, file];
  return { name: `suite-${files}`, waits: true, nodeArguments: () => args, ...more };
}

/** The lines that the reporter writes. */
function reported(text) {
  const [, ...args] = ["", ...suiteOf(text).nodeArguments()];
  const report = join(folder, `${files}.jsonl`);
  const { NODE_TEST_CONTEXT: _, ...env } = { ...process.env, FRAZIL_TEST_REPORT: report };
  spawnSync(process.execPath, args, { env, stdio: "ignore" });
  return existsSync(report) ? readFileSync(report, "utf8").trimEnd().split("\n").map(JSON.parse) : [];
}

const HANGS = `test("hangs", () => new Promise((resolve) => setTimeout(resolve, 60_000)));`;
const FAILS = `test("repeats", () => assert.equal(1, 2));`;
const NO_SERVER = `test("has no server", () => { throw Object.assign(new Error("etcd did not start"), { code: "SERVER_NOT_STARTED" }); });`;

test("a time-out and a server that does not start may run again", () => {
  for (const [text, cause] of [
    [HANGS, "time-out"],
    [NO_SERVER, "server did not start"],
  ]) {
    const lines = reported(text);
    assert.ok(lines.length > 0 && lines.every((line) => line.cause === cause), JSON.stringify(lines));
    assert.ok(mayRunAgain({ waits: true }, lines));
    assert.ok(!mayRunAgain({}, lines), "of a suite that does not wait");
  }
});

test("nothing else may, alone or beside a time-out", () => {
  for (const text of [
    FAILS,
    FAILS + NO_SERVER,
    `test("is killed", () => process.kill(process.pid, "SIGSEGV"));`,
    `test("ends", () => process.exit(3));`,
    `test("throws later", () => void setTimeout(() => { throw new Error("late"); }));  test("waits", () => new Promise((resolve) => setTimeout(resolve, 200)));`,
  ]) {
    const lines = reported(text);
    assert.ok(
      lines.some(({ cause }) => cause === "failure"),
      text,
    );
    assert.ok(!mayRunAgain({ waits: true }, lines));
  }
  assert.ok(!mayRunAgain({ waits: true }, []), "a failure without a line");
});

test("a test that needs something is reported as skipped; one that does not apply is not", () => {
  const lines = reported(`
    test("a", { skip: "needs root" }, () => {});
    test("b", { skip: "does not apply here" }, () => {});
    test("c", { skip: false }, () => {});
  `);
  assert.deepEqual(lines, [{ test: "a", skipped: "needs root" }]);
});

test("a suite passes only if each of its tests did; a second run makes a flake", async () => {
  const { NODE_TEST_CONTEXT: context } = process.env;
  delete process.env.NODE_TEST_CONTEXT;
  try {
    const marker = join(folder, "marker");
    const once = `test("starts late", () => {
      if (existsSync(${JSON.stringify(marker)})) return;
      writeFileSync(${JSON.stringify(marker)}, "");
      throw Object.assign(new Error("did not start"), { code: "SERVER_NOT_STARTED" });
    });`;
    const suites = [
      suiteOf(`test("passes", () => {});`),
      suiteOf(FAILS),
      suiteOf(once),
      suiteOf(`test("a", { skip: "needs root" }, () => {});`),
      { ...suiteOf(""), requires: [{ whyUnavailable: () => "no etcd here", install() {} }] },
      {
        ...suiteOf(""),
        requires: [{ whyUnavailable: () => undefined, install: () => Promise.reject(new Error("no network")) }],
      },
    ];
    const passed = [];
    const results = await runSuites(suites, { passed: ({ name }) => passed.push(name) });
    assert.deepEqual(
      results.map(({ failed }) => failed !== undefined),
      [false, true, false, false, false, true],
    );
    assert.deepEqual(
      results.map(({ skipped }) => skipped),
      [undefined, undefined, undefined, ["a: needs root"], ["no etcd here"], undefined],
    );
    // Neither a suite with a skip nor one that failed.
    assert.deepEqual(passed, [suites[0].name, suites[2].name]);
    const [flake] = results[2].flakes;
    assert.deepEqual(
      { ...flake, load: undefined },
      { suite: suites[2].name, test: "starts late", message: "did not start", load: undefined },
    );
    assert.match(flakeLine(flake), /^FLAKE \{"suite":/);
  } finally {
    if (context !== undefined) process.env.NODE_TEST_CONTEXT = context;
  }
});

test("a suite that crashes after a time-out does not run again", async () => {
  for (const [end, runs] of [
    ["process.exit(1)", 2],
    ["process.exit(3)", 1],
    ["process.kill(process.pid, 'SIGKILL')", 1],
  ]) {
    files += 1;
    const counter = join(folder, `${files}.runs`);
    const line = JSON.stringify(JSON.stringify({ test: "a", cause: "time-out", message: "" }));
    const text =
      `const { appendFileSync } = require("node:fs"); appendFileSync(${JSON.stringify(counter)}, "x");` +
      `appendFileSync(process.env.FRAZIL_TEST_REPORT, ${line} + "\\n"); ${end};`;
    const [{ failed }] = await runSuites([{ name: `suite-${files}`, waits: true, nodeArguments: () => ["-e", text] }]);
    assert.notEqual(failed, undefined);
    assert.equal(readFileSync(counter, "utf8").length, runs, end);
  }
});

test("three lines for a test are too many", () => {
  const line = { suite: "local", test: "a" };
  assert.deepEqual(tooOften([line, line, { suite: "local", test: "b" }]), []);
  assert.deepEqual(tooOften([line, line, line]), ["local: a"]);
});
