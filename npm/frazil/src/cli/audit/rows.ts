/** `--fix-report`: the rows to look at, as CSV. */
import type { Report } from "./report.js";

const COLUMNS = ["finding", "file", "line", "id", "host"];

/** A cell, in quotes where CSV asks for them. */
const cell = (value: string | number | undefined) => {
  const text = `${value ?? ""}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export function* fixReport({ findings }: Report, names: readonly string[]): Generator<string> {
  yield COLUMNS.join(",");
  for (const { kind, rows } of findings)
    for (const { file, line, id, host } of rows)
      yield [kind, file === undefined ? undefined : names[file], line, id, host].map(cell).join(",");
}
