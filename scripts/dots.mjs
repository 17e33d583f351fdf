// A reporter of node:test for CI: a dot for a test that passed, an X for one that failed, an s for one that was skipped; at the end, why
// each failed, and what else is known of their files: what the processes wrote to standard error, and errors after the last test. Node's
// own reporter of dots leaves these out, and says "test failed" alone where no test of a file failed.
//
// To the file that FRAZIL_TEST_REPORT names it adds a line of JSON for each test that failed, with the cause, and for each one that was
// skipped since the machine lacks something: its reason begins with "needs". The runner of suites reads them.
import { appendFileSync } from "node:fs";
import { inspect } from "node:util";

const COLUMNS = 20;
/** As many characters of what the process of a file wrote, from the end: a test may write millions. */
const MAX_WRITTEN = 10_000;
const { FRAZIL_TEST_REPORT } = process.env;

/** Whether an error, or what caused it, has the code. */
function hasCode(error, code) {
  const seen = new Set();
  for (let at = error; typeof at === "object" && at !== null && !seen.has(at); at = at.cause) {
    if (at.code === code) return true;
    seen.add(at);
  }
  return false;
}

/** Why a test failed, as far as a second run may tell otherwise. `scripts/test/failures.mjs` decides by it. */
function causeOf(error) {
  if (error.failureType === "testTimeoutFailure") return "time-out";
  return hasCode(error, "SERVER_NOT_STARTED") ? "server did not start" : "failure";
}

function report(line) {
  if (FRAZIL_TEST_REPORT) appendFileSync(FRAZIL_TEST_REPORT, `${JSON.stringify(line)}\n`);
}

export default async function* dots(source) {
  const failures = [];
  const told = new Map();
  const late = [];
  let column = 0;
  for await (const { type, data } of source) {
    if (type === "test:diagnostic" && data.message.startsWith("Error: ")) late.push(data.message);
    if (type === "test:stderr") {
      told.set(data.file, `${told.get(data.file) ?? ""}${data.message.trimEnd()}\n`.slice(-MAX_WRITTEN));
      continue;
    }
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name, skip, details } = data;
    if (skip !== undefined) {
      yield "s";
      if (/^needs /.test(skip)) report({ test: name, skipped: skip });
    } else yield type === "test:pass" ? "." : "X";
    column += 1;
    if (column % COLUMNS === 0) yield "\n";
    if (type !== "test:fail") continue;
    failures.push(data);
    const { error } = details;
    // A suite or a file fails with its tests, which have lines themselves.
    if (error.failureType !== "subtestsFailed")
      report({ test: name, cause: causeOf(error), message: `${error.cause?.message ?? error.message}`.slice(0, 500) });
  }
  if (column % COLUMNS !== 0) yield "\n";
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
