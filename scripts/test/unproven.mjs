// The suites that have not passed with the inputs of this checkout, for a release.
import { hasPassedWithInputs, readRows } from "./rows.mjs";
import { hasRow, SUITES } from "./suites.mjs";

export function unprovenSuites() {
  const rows = readRows();
  return SUITES.filter((suite) => hasRow(suite) && !hasPassedWithInputs(suite, rows)).map(({ name }) => name);
}
