// What the records of the benchmarks share: quantiles, the machine, progress, and the dated file.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, loadavg } from "node:os";
import { ask, root } from "../../scripts/shell.mjs";

export const quantile = (values, q) => values.toSorted((a, b) => a - b)[Math.round(q * (values.length - 1))];
export const median = (values) => quantile(values, 0.5);
const digitsOf = (value) => (value >= 100 ? 0 : value >= 10 ? 1 : 2);
/** A number with three digits or more. */
export const short = (value) => value.toFixed(digitsOf(value));
/** The median, and the middle half in brackets. */
export const spread = (values) =>
  `${short(median(values))} (${short(quantile(values, 0.25))} to ${short(quantile(values, 0.75))})`;

/** A table in Markdown; all columns but the first are numbers. */
export const table = (head, rows) =>
  [head, ["---", ...head.slice(1).map(() => "---:")], ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** Shows how far a bench is. */
export function progress(what, at, of) {
  process.stderr.write(`\r${what}: ${at} of ${of}${at === of ? "\n" : ""}`);
}

const loadAtStart = loadavg()[0];
const { version } = createRequire(import.meta.url)("frazil/package.json");

/** The versions, the machine, and how busy it was before the bench began. */
export const conditions = () =>
  `frazil ${version}, Node ${process.versions.node}, ${ask("rustc", ["--version"]) ?? "no rustc"}; ${cpus()[0].model.trim()}, ${cpus().length} cores, ${process.platform} ${process.arch}, load ${loadAtStart.toFixed(1)} before the bench`;

/** Writes the record of today under this name, and shows it. `heading` is its title without the date. */
export function writeRecord(name, heading, text) {
  const day = new Date().toISOString().slice(0, 10);
  const file = `docs/reference/benchmarks/${day}-${name}.md`;
  const record = `# ${heading}, ${day}\n\n${text}\n`;
  writeFileSync(`${root}${file}`, record);
  process.stdout.write(`${record}\nWritten to ${file}\n`);
}
