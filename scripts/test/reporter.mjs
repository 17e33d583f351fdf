// A reporter of node:test for CI: a dot for a test that passed, an X for one that failed, an s for one that was skipped; at the end, why
// each failed, and what else is known of their files: what the processes wrote to standard error, and errors after the last test. Node's
// own reporter of dots leaves these out, and says "test failed" alone where no test of a file failed.
//
// It adds lines of JSON to the file that FRAZIL_TEST_REPORT names: one for each failed test, with the cause, and one for each skipped test,
// unless its reason begins with "does not apply". The runner of suites reads them.
import { appendFileSync, existsSync } from "node:fs";
import { resolve } from "node:path";
import { inspect } from "node:util";
import { root } from "../shell.mjs";

const COLUMNS = 20;
/** As many characters of what the process of a file wrote, from the end: a test may write millions. */
const MAX_WRITTEN = 10_000;
const { FRAZIL_TEST_REPORT } = process.env;

/** Whether an error says that a server did not start, and nothing else. */
function isNotStarted(error) {
  const seen = new Set();
  for (let at = error; typeof at === "object" && at !== null && !seen.has(at); at = at.cause) {
    if (at.errors !== undefined || at.code === "ERR_ASSERTION") return false;
    if (at.code === "SERVER_NOT_STARTED") return true;
    seen.add(at);
  }
  return false;
}

/** Whether a test shows that its checker can fail. Many go on until what is broken was caught, and end by the time limit if it is not. */
const isOfBroken = (name) => /\b(catch(es)?|caught|mutants?)\b/.test(name);

/** Why a test failed, or `undefined` if others have the reason. `failures.mjs` decides by it whether a second run may tell otherwise. */
function causeOf(name, hasBegun, { failureType, signal, exitCode, cause }) {
  if (failureType === "testTimeoutFailure") return isOfBroken(name) ? "failure" : "time-out";
  // A file fails with its tests, which have lines themselves; or its process crashed.
  if (failureType === "subtestsFailed") return signal || (exitCode ?? 1) !== 1 ? "failure" : undefined;
  if (failureType === "cancelledByParent") return hasBegun && isOfBroken(name) ? "failure" : "cancelled";
  return isNotStarted(cause) ? "server did not start" : "failure";
}

function report(line) {
  if (FRAZIL_TEST_REPORT) appendFileSync(FRAZIL_TEST_REPORT, `${JSON.stringify(line)}\n`);
}

/** Reports a test that failed. Nothing of a name or message depends on where the repository is. */
function reportFailure(test, cause, message) {
  report({ test: test.replaceAll(root, ""), cause, message: message.replaceAll(root, "").slice(0, 500) });
}

/** Whether it is a file, and no test. If it passed, it has no test, or its process ended before the first. */
const isFile = ({ name, nesting }) => nesting === 0 && /\.test\.mjs$/.test(name) && existsSync(resolve(name));

const keyOf = ({ name, file, line, column }) => `${name} (${file}:${line}:${column})`;

export default async function* dots(source) {
  const failures = [];
  const told = new Map();
  const late = [];
  /** By key: how many tests have not ended, and whether one has begun. */
  const open = new Map();
  /** The files that the time limit ended. */
  const ended = new Set();
  /** By nesting: how many results have come since the last one of the level above. */
  const inner = [];
  let column = 0;
  for await (const { type, data } of source) {
    if (type === "test:enqueue" || type === "test:dequeue" || type === "test:complete") {
      const { name, file } = data;
      const { count, hasBegun } = open.get(keyOf(data)) ?? { count: 0, hasBegun: false };
      const change = { "test:enqueue": 1, "test:dequeue": 0, "test:complete": -1 }[type];
      open.set(keyOf(data), { name, file, count: count + change, hasBegun: hasBegun || type === "test:dequeue" });
    }
    if (type === "test:diagnostic" && data.message.startsWith("Error: ")) {
      late.push(data.message);
      reportFailure(data.file ?? "", "failure", data.message);
    }
    // Before `test:fail`, which comes in the order of the tests, and not at all for those after one that hangs.
    if (type === "test:complete" && data.details.error !== undefined) {
      const { error } = data.details;
      if (error.failureType === "testTimeoutFailure" && isFile(data)) ended.add(data.file);
      const cause = causeOf(data.name, open.get(keyOf(data)).hasBegun, error);
      if (cause !== undefined) reportFailure(data.name, cause, `${error.cause?.message ?? error.message}`);
    }
    // One around all tests of a file. Its file fails without its own cause, or passes.
    if (type === "test:fail" && isFile(data) && data.details.error.failureType === "hookFailed")
      reportFailure(data.name, "failure", `${data.details.error.cause?.message ?? data.details.error.message}`);
    if (type === "test:stderr") {
      told.set(data.file, `${told.get(data.file) ?? ""}${data.message.trimEnd()}\n`.slice(-MAX_WRITTEN));
      continue;
    }
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name, skip, todo, nesting } = data;
    // Results come in the order of the tests, those of a suite before its own.
    const isEmpty = data.details.type === "suite" && !inner[nesting + 1];
    inner[nesting + 1] = 0;
    inner[nesting] = (inner[nesting] ?? 0) + 1;
    if (skip !== undefined || todo !== undefined) {
      yield "s";
      const reason = skip ?? todo;
      if (todo !== undefined || !/^does not apply/.test(skip))
        report({ test: name, skipped: `${reason === true ? "no reason given" : reason}` });
    } else yield type === "test:pass" ? "." : "X";
    column += 1;
    if (column % COLUMNS === 0) yield "\n";
    if (type === "test:fail") failures.push(data);
    else if (isFile(data) || (isEmpty && skip === undefined)) {
      yield `\n${name} has no test that ran\n`;
      reportFailure(name, "failure", "no test ran");
      process.exitCode = 1;
    }
  }
  if (column % COLUMNS !== 0) yield "\n";
  for (const [key, { name, file, count, hasBegun }] of open) {
    // A test may stand in a file that others import.
    const isAtLimit = ended.has(file) || (ended.size > 0 && !/\.test\.mjs$/.test(file));
    // Less than none: it was cancelled before its turn.
    if (count <= 0 || (isAtLimit && !(hasBegun && isOfBroken(name)))) continue;
    // Node takes a process that ends with 0 halfway for one whose tests have passed.
    yield `\n${key} did not end\n`;
    reportFailure(name, "failure", isAtLimit ? "what is broken was not caught" : "its process ended first");
    process.exitCode = 1;
  }
  if (failures.length === 0) return;
  yield "\nFailed tests:\n";
  for (const { name, file, line, details } of failures) {
    const { error } = details;
    yield `\n✖ ${name} (${file}:${line}, ${(details.duration_ms / 1000).toFixed(1)} s)\n${inspect(error.cause ?? error)}\n`;
  }
  for (const file of new Set(failures.map(({ file, name }) => file ?? name)))
    if (told.has(file)) yield `\n${file}, standard error:\n${told.get(file)}`;
  for (const message of late) yield `\n${message}\n`;
}
