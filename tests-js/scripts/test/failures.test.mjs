// The meaning of a suite's failure, from real runs of Node's test runner.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../../../scripts/shell.mjs";
import { flakeLine, mayRunAgain, tooOften } from "../../../scripts/test/failures.mjs";
import { runSuites } from "../../../scripts/test/run-suites.mjs";

const folder = mkdtempSync(join(tmpdir(), "frazil-failures-"));
after(() => rmSync(folder, { recursive: true }));

const HEAD = `
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
`;
let files = 0;
const WAITING = { waits: true, nodeArguments: () => [] };

/** A suite with a file of tests of this text. `limitMs`: after which Node ends the file. Only a file that hangs may reach it. */
function suiteOf(text, { limitMs = 100_000, ...more } = {}) {
  files += 1;
  const file = join(folder, `${files}.test.mjs`);
  writeFileSync(file, HEAD + text);
  const args = ["--test", `--test-timeout=${limitMs}`, `--test-reporter=${root}scripts/test/reporter.mjs`, file];
  return { name: `suite-${files}`, tier: "all", waits: true, nodeArguments: () => args, ...more };
}

/** The lines that the reporter writes. */
async function reported(text, limitMs) {
  const args = suiteOf(text, { limitMs }).nodeArguments();
  const report = join(folder, `${files}.jsonl`);
  const { NODE_TEST_CONTEXT: _, ...env } = { ...process.env, FRAZIL_TEST_REPORT: report };
  await once(spawn(process.execPath, args, { env, stdio: "ignore" }), "close");
  return existsSync(report) ? readFileSync(report, "utf8").trimEnd().split("\n").map(JSON.parse) : [];
}

const SHORT = "{ timeout: 100 }, () => new Promise((resolve) => setTimeout(resolve, 1500))";
const HANGS = `test("hangs", () => new Promise((resolve) => setTimeout(resolve, 60_000)));`;
const FAILS = `test("repeats", () => assert.equal(1, 2));`;
const ENDS = "async () => { setImmediate(() => process.exit(0)); await new Promise(() => {}); }";
const NO_SERVER_ERROR = `throw Object.assign(new Error("etcd did not start"), { code: "SERVER_NOT_STARTED" });`;
const NO_SERVER = `test("has no server", () => { ${NO_SERVER_ERROR} });`;

test("a time-out and a server that does not start may run again", async () => {
  for (const [text, cause] of [
    [HANGS, "time-out"],
    [NO_SERVER, "server did not start"],
  ]) {
    const lines = await reported(text, text === HANGS ? 1000 : undefined);
    assert.ok(lines.length > 0 && lines.every((line) => line.cause === cause), JSON.stringify(lines));
    assert.ok(mayRunAgain(WAITING, { failures: lines }));
    assert.ok(!mayRunAgain({ ...WAITING, waits: false }, { failures: lines }), "of a suite that does not wait");
    assert.ok(!mayRunAgain({ waits: true }, { failures: lines }), "of a suite that runs more than Node's tests");
  }
});

test("a suite may run again if its other tests were cancelled by a server that did not start", async () => {
  const lines = await reported(
    `describe("d", () => { before(() => { ${NO_SERVER_ERROR} }); test("a", () => {}); test("b", () => {}); });`,
  );
  assert.ok(
    lines.some(({ cause }) => cause === "server did not start") && mayRunAgain(WAITING, { failures: lines }),
    JSON.stringify(lines),
  );
});

test("no other failure may run again, alone or beside a time-out", async () => {
  const texts = [
    `test("hangs", ${SHORT}); test("dies", () => process.kill(process.pid, "SIGSEGV"));`,
    `test("hangs", ${SHORT}); test("ends", () => process.exit(3));`,
    `test("hangs", ${SHORT}); test("later", () => void setTimeout(() => { throw new Error("late"); })); test("waits", () => new Promise((resolve) => setTimeout(resolve, 200)));`,
    `describe("d", { concurrency: true }, () => { ${HANGS} ${FAILS} });`,
    `test("both", () => { throw new AggregateError([new Error("a repeat")], "both", { cause: Object.assign(new Error("a"), { code: "SERVER_NOT_STARTED" }) }); });`,
    `test("hangs", ${SHORT}); test("ends", () => process.exit(1));`,
    `test("hangs", ${SHORT}); test("ends", ${ENDS});`,
    `test("the checker catches a repeat", ${SHORT});`,
    `describe("d", { timeout: 100 }, () => { test("the checker catches a repeat", () => new Promise((resolve) => setTimeout(resolve, 1500))); });`,
    `after(() => assert.fail("a repeat")); test("hangs", ${SHORT});`,
    `test("a broken store is caught", ${SHORT});`,
    HANGS.replace("hangs", "the checker catches a repeat"),
    FAILS,
    FAILS + NO_SERVER,
    `test("is killed", () => process.kill(process.pid, "SIGSEGV"));`,
    `test("ends", () => process.exit(3));`,
    `test("throws later", () => void setTimeout(() => { throw new Error("late"); }));  test("waits", () => new Promise((resolve) => setTimeout(resolve, 200)));`,
  ];
  const check = async (text, limitMs) => {
    const lines = await reported(text, limitMs);
    assert.ok(
      lines.some(({ cause }) => cause === "failure"),
      text,
    );
    assert.ok(!mayRunAgain(WAITING, { failures: lines }));
  };
  const isAtLimit = (text) => text.includes("60_000");
  // The failure beside a test that hangs must come before the limit.
  const atLimit = texts.filter(isAtLimit).map((text) => check(text, 10_000));
  for (const text of texts.filter((text) => !isAtLimit(text))) await check(text);
  await Promise.all(atLimit);
  assert.ok(!mayRunAgain(WAITING, { failures: [] }), "a failure without a line");
});

test("a file or suite in which no test ran fails, and a file whose process ends before its tests", () => {
  for (const [text, message] of [
    ["", /has no test that ran/],
    [`test("a", () => {}); describe("d", () => { describe("e", () => {}); });`, /^e has no test that ran$/m],
    [`process.exit(0); test("a", () => {});`, /has no test that ran/],
    [`test("a", () => {}); test("ends", ${ENDS});`, /^ends \(.*\) did not end$/m],
    [`test("a", () => {}); describe("d", () => { test("b", (t) => t.test("c", ${ENDS})); });`, /^c \(/m],
  ]) {
    const args = suiteOf(text).nodeArguments();
    const { NODE_TEST_CONTEXT: _, FRAZIL_TEST_REPORT: __, ...env } = process.env;
    const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
    assert.equal(status, 1, stdout);
    assert.match(stdout, message);
  }
});

test("a suite that cannot start, or writes no valid report, fails alone", async () => {
  const junk = 'require("node:fs").appendFileSync(process.env.FRAZIL_TEST_REPORT, "junk"); process.exit(1);';
  const results = await runSuites([
    { ...suiteOf(""), node: join(folder, "missing") },
    { ...suiteOf(""), nodeArguments: () => ["-e", junk] },
    suiteOf(`test("passes", () => {});`),
  ]);
  assert.deepEqual(
    results.map(({ failed }) => failed !== undefined),
    [true, true, false],
  );
});

test("variables that make Node skip tests do not reach a suite", async () => {
  const before = { ...process.env };
  Object.assign(process.env, { NODE_TEST_CONTEXT: "child", NODE_OPTIONS: "--test-only" });
  try {
    const [{ failed }] = await runSuites([suiteOf(FAILS)]);
    assert.notEqual(failed, undefined);
  } finally {
    for (const name of ["NODE_TEST_CONTEXT", "NODE_OPTIONS"]) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
});

test("a test is reported as skipped, unless it does not apply", async () => {
  const lines = await reported(`
    test("a", { skip: "needs root" }, () => {});
    test("b", { skip: "does not apply here" }, () => {});
    test("c", { skip: false }, () => {});
    test("d", { skip: true }, () => {});
    test("e", (t) => t.skip("slow"));
    test("f", { todo: true }, () => assert.fail());
    test("g", { todo: "later" });
  `);
  const skipped = lines.filter((line) => line.skipped !== undefined);
  assert.deepEqual(skipped, [
    { test: "a", skipped: "needs root" },
    { test: "d", skipped: "no reason given" },
    { test: "e", skipped: "slow" },
    { test: "f", skipped: "no reason given" },
    { test: "g", skipped: "later" },
  ]);
});

test("what a suite has started ends with it, and a suite that does not end at its limit", async () => {
  const pidFile = join(folder, "pid");
  const pid = () => (existsSync(pidFile) ? readFileSync(pidFile, "utf8").trim() : "");
  const start = `sleep 100000 & echo $! > ${pidFile}`;
  for (const script of [
    `${start}; wait`,
    `${start}; kill -STOP $!; wait`,
    `${start}; kill -STOP $$`,
    `trap "" TERM; ${start}; wait`,
    `setsid sleep 20 & ${start}; wait`,
    start,
  ]) {
    rmSync(pidFile, { force: true });
    const suite = { name: "hangs", tier: "all", waits: true, node: "sh", nodeArguments: () => ["-c", script] };
    // Until the machine is fast enough to start it within the limit.
    for (let limitMs = 500; pid() === ""; limitMs *= 2) {
      const [{ failed }] = await runSuites([suite], { limitsMs: { all: limitMs } });
      if (script !== start) assert.match(failed, /did not end within/, script);
    }
    // Nothing, or a zombie.
    const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", pid()], { encoding: "utf8" });
    assert.match(stdout, /^(Z.*)?\n?$/, script);
  }
});

test("on Ctrl-C, which may come twice, each suite has time to end, and one that ignores signals is killed", async () => {
  const [pidFile, ready, ended] = ["ignoring", "ready", "ended"].map((name) => join(folder, name));
  const scripts = [
    `trap "" TERM INT; sleep 100000 & echo $! > ${pidFile}; wait`,
    `trap "sleep 0.5; touch ${ended}; exit 0" TERM; touch ${ready}; while :; do sleep 0.1; done`,
    "exit 1",
  ];
  const suites = scripts.map(
    (script, at) => `{ name: "${at}", tier: "all", node: "sh", nodeArguments: () => ["-c", '${script}'] }`,
  );
  const text = `import { runSuites } from "${root}scripts/test/run-suites.mjs"; await runSuites([${suites}]);`;
  const runner = spawn(process.execPath, ["--input-type=module", "--eval", text], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  runner.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const closed = once(runner, "close");
  const pid = () => (existsSync(pidFile) ? readFileSync(pidFile, "utf8").trim() : "");
  while (pid() === "" || !existsSync(ready)) await sleep(10);
  runner.kill("SIGINT");
  runner.kill("SIGINT");
  assert.deepEqual(await closed, [130, null]);
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", pid()], { encoding: "utf8" });
  assert.match(stdout, /^(Z.*)?\n?$/);
  assert.ok(existsSync(ended));
  assert.doesNotMatch(said, /· 2/, "no other suite begins");
});

test("the process of a file ends at twice the limit of a test, whatever is open", () => {
  const args = [
    `--import=${root}scripts/test/file-limit.mjs`,
    "--test-timeout=100",
    "--eval",
    "setInterval(() => {}, 1000)",
  ];
  const env = { ...process.env, NODE_TEST_CONTEXT: "child" };
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  assert.deepEqual([status, stderr], [1, "the file did not end within 0.2 s\n"]);
});

test("a suite passes only if each of its tests did; a second run makes a flake", async () => {
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
    const suite = { name: `suite-${files}`, tier: "all", waits: true, nodeArguments: () => ["-e", text] };
    const [{ failed }] = await runSuites([suite]);
    assert.notEqual(failed, undefined);
    assert.equal(readFileSync(counter, "utf8").length, runs, end);
  }
});

test("a suite fails with a failure that Node takes for a pass", async () => {
  const report = `{ "test": "a", "cause": "failure", "message": "after a skip" }`;
  const text = `require("node:fs").appendFileSync(process.env.FRAZIL_TEST_REPORT, ${JSON.stringify(`${report}\n`)});`;
  const [{ failed }] = await runSuites([{ name: "a", tier: "all", waits: true, nodeArguments: () => ["-e", text] }]);
  assert.equal(failed, "a failed with exit code 0");
});

test("three lines for a test are too many", () => {
  const line = { suite: "local", test: "a" };
  assert.deepEqual(tooOften([line, line, { suite: "local", test: "b" }]), []);
  assert.deepEqual(tooOften([line, line, line]), ["local: a"]);
});
