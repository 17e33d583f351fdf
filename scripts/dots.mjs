// A reporter of node:test for CI: a dot for a test that passed, an X for one that failed; at the end, why each failed, and what else is
// known of their files: what the processes wrote to standard error, and errors after the last test. Node's own reporter of dots leaves
// these out, and says "test failed" alone where no test of a file failed.
import { inspect } from "node:util";

const COLUMNS = 20;
/** As many characters of what the process of a file wrote, from the end: a test may write millions. */
const MAX_WRITTEN = 10_000;

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
    yield type === "test:pass" ? "." : "X";
    column += 1;
    if (column % COLUMNS === 0) yield "\n";
    if (type === "test:fail") failures.push(data);
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
