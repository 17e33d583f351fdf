// Runs suites, each in its own process: two at a time of those that run tests in Node, with one of the others beside them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, loadavg, setPriority } from "node:os";
import { root } from "../shell.mjs";
import { mayRunAgain } from "./failures.mjs";

/** How often a run says which suites are still at work. */
const SIGN_OF_LIFE_MS = 30_000;

const MINUTE_MS = 60_000;
/** How long a suite of each tier may take: what takes longer hangs. */
const LIMITS_MS = { quick: 40 * MINUTE_MS, all: 40 * MINUTE_MS, long: 600 * MINUTE_MS };

const MAIN = `${root}scripts/test/main.mjs`;

/** The program and arguments that run a suite. One that is a function runs in a process that imports it again. */
const commandOf = ({ name, nodeArguments, node }) =>
  nodeArguments
    ? { program: node ?? process.execPath, args: nodeArguments() }
    : { program: process.execPath, args: [MAIN, "--as-is", name] };

const canEndGroups = process.platform !== "win32";

/** The signals that end a run. */
const ENDING = ["SIGHUP", "SIGINT", "SIGTERM"];

/** How long what a suite has started may take to end. */
const ENDING_MS = 5000;

/** Sends signals to a process and those of its group, if there are any. */
function signalGroup(child, ...signals) {
  for (const signal of signals)
    try {
      if (canEndGroups) process.kill(-child.pid, signal);
      else child.kill(signal);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
}

const seconds = (sinceMs) => ((performance.now() - sinceMs) / 1000).toFixed(1);

/** Runs a suite once. Resolves to the reason why it failed, if it did, and what the reporter wrote. */
async function runOnce(suite, { isolate, held, limitsMs, ending }) {
  mkdirSync(`${root}.cache`, { recursive: true });
  const folder = mkdtempSync(`${root}.cache/report-`);
  const report = `${folder}/report.jsonl`;
  const { program, args } = commandOf(suite);
  const isolated = isolate?.(suite, program, args);
  let child;
  const timers = [];
  const after = (ms, work) => timers.push(setTimeout(work, ms));
  const stop = () => {
    // A process that was stopped ends when it continues.
    signalGroup(child, "SIGTERM", "SIGCONT");
    after(ENDING_MS, () => signalGroup(child, "SIGKILL"));
  };
  const clear = () => {
    isolated?.end();
    rmSync(folder, { recursive: true, force: true });
  };
  // If this process ends first.
  const abandon = () => {
    signalGroup(child, "SIGKILL");
    clear();
  };
  try {
    // With these, Node would skip tests and end with 0.
    const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...inherited } = process.env;
    const env = { ...inherited, ...suite.env, FRAZIL_TEST_REPORT: report };
    child = spawn(isolated?.program ?? program, isolated?.args ?? args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env,
      // With a process group, so that what the suite has started can be ended with it.
      detached: canEndGroups,
    });
    // Most of them compile and compute. They take what those beside them leave, which wait most of the time.
    if (held && suite.run && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    let output = "";
    for (const [stream, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      stream.setEncoding("utf8");
      // The output of a suite that runs beside another is shown when it has ended.
      stream.on("data", (text) => {
        if (held) output += text;
        else to.write(text);
      });
    }
    process.once("exit", abandon);
    ending.addEventListener("abort", stop);
    const limitMs = limitsMs[suite.tier];
    let isOver = false;
    after(limitMs, () => {
      isOver = true;
      stop();
    });
    const closed = new Promise((resolve) => child.once("close", resolve));
    const [status, signal] = await once(child, "exit");
    // What it left behind, and what left its group and keeps its output.
    signalGroup(child, "SIGKILL");
    await Promise.race([closed, new Promise((resolve) => after(ENDING_MS, resolve))]);
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
    process.stdout.write(output);
    const text = existsSync(report) ? readFileSync(report, "utf8") : "";
    const lines = text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
    const failures = lines.filter(({ cause }) => cause !== undefined);
    const how = isOver
      ? `did not end within ${limitMs / MINUTE_MS} minutes`
      : `failed with ${signal ?? `exit code ${status}`}`;
    return {
      // Node takes some failures for a pass, as one after a skip.
      reason: status === 0 && !isOver && failures.length === 0 ? undefined : `${suite.name} ${how}`,
      // An exit code other than that of failed tests, or a signal.
      hasCrashed: (status !== 1 && status !== 0) || isOver,
      failures,
      skipped: lines.filter(({ skipped }) => skipped !== undefined),
    };
  } finally {
    timers.forEach(clearTimeout);
    ending.removeEventListener("abort", stop);
    process.off("exit", abandon);
    clear();
  }
}

/** Installs those tools of a suite whose version is asked of what is installed: the key needs it. */
export async function installForKey({ requires = [], optional = [] }) {
  for (const tool of [...requires, ...optional])
    if (typeof tool.version === "function" && tool.whyUnavailable?.() === undefined) await tool.install();
}

/** Installs what a suite needs. Resolves to why it cannot run here, or `undefined`. Rejects if an installation fails. */
async function prepare({ whyUnavailable, requires = [], optional = [] }) {
  for (const part of [{ whyUnavailable }, ...requires]) {
    const reason = await part.whyUnavailable?.();
    if (reason !== undefined) return reason;
  }
  for (const tool of [...requires, ...optional]) if (tool.whyUnavailable?.() === undefined) await tool.install();
  return undefined;
}

/**
 * Runs suites. Resolves to a result for each: `name`, `seconds`, and `failed` (why; with `failures`, what the reporter wrote), or `skipped`
 * (a list of reasons), or neither; and `flakes`, if it passed only when it ran again, alone.
 *
 * - `isolate`: returns the command that runs a suite's command somewhere else;
 * - `passed`: called after a suite has passed without a skip.
 */
export async function runSuites(suites, { isolate, passed = () => {}, limitsMs = LIMITS_MS } = {}) {
  const results = new Map();
  const again = [];
  const running = new Map();
  const ending = new AbortController();
  // On Ctrl-C, which npm turns into two signals: ends what runs, and then this process.
  const end = () => {
    if (running.size === 0) process.exit(130);
    ending.abort();
  };
  for (const signal of ENDING) process.on(signal, end);
  const signs = setInterval(() => {
    const list = [...running].map(([name, since]) => `${name} ${Math.round((performance.now() - since) / 1000)} s`);
    if (list.length > 0) process.stderr.write(`· at work: ${list.join(", ")}\n`);
  }, SIGN_OF_LIFE_MS);

  async function runSuite(suite, held) {
    const { name } = suite;
    const since = performance.now();
    running.set(name, since);
    process.stderr.write(`· ${name} …\n`);
    const { reason, failures, skipped, hasCrashed } = await runOnce(suite, {
      isolate,
      held,
      limitsMs,
      ending: ending.signal,
    }).catch((error) => ({
      // It could not be started, or wrote what is no report.
      reason: error.message,
      failures: [],
      hasCrashed: true,
    }));
    running.delete(name);
    if (ending.signal.aborted) {
      if (running.size === 0) process.exit(130);
      // No other suite begins.
      await new Promise(() => {});
    }
    process.stderr.write(`· ${name}: ${reason === undefined ? "" : "failed after "}${seconds(since)} s\n`);
    const result = { name, seconds: (performance.now() - since) / 1000 };
    results.set(name, result);
    if (reason === undefined) {
      if (skipped.length > 0) result.skipped = skipped.map(({ test, skipped: why }) => `${test}: ${why}`);
      else passed(suite, result);
      return result;
    }
    process.stderr.write(`${reason}\n`);
    result.failed = reason;
    result.failures = failures;
    result.mayRunAgain = mayRunAgain(suite, { hasCrashed, failures });
    return result;
  }

  try {
    const ready = [];
    for (const suite of suites) {
      const { name } = suite;
      try {
        const reason = await prepare(suite);
        if (reason === undefined) ready.push(suite);
        else results.set(name, { name, seconds: 0, skipped: [reason] });
      } catch (error) {
        process.stderr.write(`${error.message}\n`);
        results.set(name, { name, seconds: 0, failed: error.message, failures: [] });
      }
    }
    const held = ready.length > 1;
    const inNode = ready.filter(({ nodeArguments }) => nodeArguments);
    const others = ready.filter(({ run }) => run);
    const inTurn = async (...queues) => {
      for (;;) {
        const suite = queues.find(({ length }) => length > 0)?.shift();
        if (suite === undefined) return;
        const result = await runSuite(suite, held);
        if (result.mayRunAgain) again.push(suite);
      }
    };
    await Promise.all([inTurn(others), inTurn(inNode, others), inTurn(inNode, others)]);
    for (const suite of again) {
      const { name } = suite;
      const first = results.get(name);
      const load = loadavg()[0].toFixed(1);
      process.stderr.write(`· ${name} runs again, alone: ${first.failures.map(({ cause }) => cause).join(", ")}\n`);
      const second = await runSuite(suite, false);
      if (second.failed === undefined)
        second.flakes = first.failures.map(({ test, message }) => ({ suite: name, test, message, load }));
    }
  } finally {
    clearInterval(signs);
    for (const signal of ENDING) process.off(signal, end);
  }
  return suites.map(({ name }) => results.get(name));
}
