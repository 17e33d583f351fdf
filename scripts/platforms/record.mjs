// The record of `npm run test:platform`: docs/proofs/platforms.json, and the page docs/proofs/platforms.md, which follows from it.
import { readFileSync, writeFileSync } from "node:fs";
import { root } from "../shell.mjs";
import { PLATFORMS } from "./index.mjs";

const RECORD = `${root}docs/proofs/platforms.json`;
const PAGE = `${root}docs/proofs/platforms.md`;

const cell = (texts) => texts.join("; ").replaceAll("|", "\\|");
const row = (cells) => `| ${cells.join(" | ")} |\n`;

/** The page of a record: by the name of each platform its last run. */
export function pageOf(record) {
  const runs = Object.entries(record);
  // The others run in the checkout.
  const names = new Set(runs.flatMap(([, { passed }]) => Object.keys(passed)).filter((name) => name !== "portable"));
  const checks = Array.from(names, (name) => `\`${name}\``);
  const results = runs.map(([name, { date, version, runtime, standIn, passed, failed }]) =>
    row([name, date, version, runtime, standIn ?? "nothing", cell(Object.values(passed)), cell(failed) || "nothing"]),
  );
  const files = runs.map(([name, { sha256, command }]) => row([name, `\`${sha256}\``, `\`${command}\``]));
  return `# Platforms: what was run

Written by \`npm run test:platform -- NAME\` from [platforms.json](platforms.json). Do not edit it. What stands in for a system is an
emulator, or parts of another system; such a run does not count for a release.

| platform | date | version | runtime | stands in for the system | passed | failed |
|---|---|---|---|---|---|---|
${results.join("")}
The addon that ran, and the command, in a folder with the installed tarballs. \`CHECK\` is ${checks.join(", ")}:
\`tests-js/runtimes/platforms/main.mjs\` says what each does.

| platform | SHA-256 of \`frazil.node\` | command |
|---|---|---|
${files.join("")}`;
}

/** The record of this checkout. */
export const readRecord = () => JSON.parse(readFileSync(RECORD, "utf8"));

/** Throws if a record is of the system itself and a new run is not: it would say less. */
export function refuseToReplace(name, recorded, standIn) {
  if (recorded === null && standIn !== null)
    throw new Error(`${name} has a record of a real system, which a run under ${standIn} does not replace`);
}

/** Puts the run of a platform on record, and writes the page anew. */
export function recordRun(name, run) {
  const record = readRecord();
  refuseToReplace(name, record[name]?.standIn, run.standIn);
  record[name] = run;
  const ordered = Object.fromEntries(
    PLATFORMS.filter(({ name }) => record[name]).map(({ name }) => [name, record[name]]),
  );
  writeFileSync(RECORD, `${JSON.stringify(ordered, null, 2)}\n`);
  writeFileSync(PAGE, pageOf(ordered));
}
