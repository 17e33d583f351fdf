// Counts the instructions of the hot paths in Rust with callgrind, and compares them with docs/reference/benchmarks/instructions.json.
// crates/instructions has the calls. docs/reference/benchmarks.md says what the counts show and what they do not show.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { ask, isLinuxX64Gnu, PLATFORM_NAME, root, run } from "../shell.mjs";
import { valgrind } from "../tools.mjs";

const RECORD = "docs/reference/benchmarks/instructions.json";
const RECORD_ANEW = "npm run bench -- instructions";
/** The call that does nothing. Its count is subtracted from the others. */
const NOTHING = "nothing";
/** The feature `mutant` makes these slower: the subjects that call `next` of a `Generator`. */
const SLOWED = /^next, /;
/** What callgrind looks for, in crates/instructions. */
const FUNCTION = "frazil_instructions::counted";

const rustc = () => /^rustc (\S+)/.exec(ask("rustc", ["--version"]))[1];
const readRecord = () => JSON.parse(readFileSync(`${root}${RECORD}`, "utf8"));

/** The reason why the counts of this machine cannot be compared with the record, or `undefined`. */
export const whyNotComparable = () => whyNoCounts() ?? otherCompiler(readRecord(), rustc());

const whyNoCounts = () =>
  isLinuxX64Gnu ? undefined : `${RECORD} has the instructions of Linux x64 with glibc, not of ${PLATFORM_NAME}`;

/** The reason why counts of a compiler cannot be compared with the record, or `undefined`. */
export function otherCompiler(record, version) {
  if (record.rustc === version) return undefined;
  return `${RECORD} was recorded with rustc ${record.rustc}, and this is rustc ${version}; to record the counts of this one: ${RECORD_ANEW}`;
}

/** By how many instructions a count may differ from the recorded one. */
export const tolerance = (recorded) => Math.max(2, Math.floor(recorded * 0.02));

/** The differences between the recorded and the new counts, a sentence for each subject. */
export function differences(recorded, counts) {
  const found = [];
  for (const [subject, before] of Object.entries(recorded)) {
    const now = counts[subject];
    const figures = `${subject}: ${now} instructions, recorded ${before}, allowed ${before - tolerance(before)} to ${before + tolerance(before)}`;
    if (now === undefined) found.push(`${subject}: recorded, but not counted any more`);
    else if (now > before + tolerance(before)) found.push(`${figures}: slower`);
    else if (now < before - tolerance(before)) found.push(`${figures}: faster, so record the gain`);
  }
  for (const subject of Object.keys(counts))
    if (!(subject in recorded)) found.push(`${subject}: ${counts[subject]} instructions, and not recorded`);
  return found;
}

/** The total of a dump of callgrind, which must be one of a call. */
function total(text) {
  const [, trigger] = /^desc: Trigger: (.*)$/m.exec(text) ?? [];
  const [, events] = /^events: (.*)$/m.exec(text) ?? [];
  const [, count] = /^totals: (\d+)$/m.exec(text) ?? [];
  if (trigger !== `--dump-after=${FUNCTION}` || events !== "Ir" || count === undefined)
    throw new Error(`callgrind wrote another dump than expected: ${text.slice(0, 400)}`);
  return Number(count);
}

/** The instructions of each subject. `features`: those of crates/instructions. */
function count(...features) {
  const target = `${process.env.CARGO_TARGET_DIR ?? `${root}target`}/instructions`;
  const chosen = ["-p", "frazil-instructions", "--profile", "instructions", "--target-dir", target];
  run("cargo", ["build", "--locked", "--quiet", ...chosen, ...features.flatMap((name) => ["--features", name])]);
  // Not in the temporary folder, which is on overlayfs in a container: state files are refused there.
  const folder = mkdtempSync(`${target}/run-`);
  try {
    const options = ["--tool=callgrind", `--callgrind-out-file=${folder}/dump`];
    const limits = [`--dump-after=${FUNCTION}`, `--toggle-collect=${FUNCTION}`];
    const program = `${target}/instructions/frazil-instructions`;
    const { status, stdout, stderr, error } = spawnSync(
      "valgrind",
      [...options, ...limits, program, `${folder}/state`],
      {
        encoding: "utf8",
      },
    );
    if (error) throw new Error(`valgrind could not be run: ${error.message}`, { cause: error });
    if (status !== 0) throw new Error(`${program} failed under callgrind:\n${stderr}`);
    const subjects = stdout.trimEnd().split("\n");
    // dump.1 is that of the first call; that of the end of the program has no number.
    const dumps = readdirSync(folder).filter((name) => name.startsWith("dump.")).length;
    if (dumps !== subjects.length) throw new Error(`callgrind wrote ${dumps} dumps of ${subjects.length} calls`);
    const totals = subjects.map((_, at) => total(readFileSync(`${folder}/dump.${at + 1}`, "utf8")));
    const nothing = totals[subjects.indexOf(NOTHING)];
    const counts = {};
    for (const [at, subject] of subjects.entries())
      if (subject !== NOTHING)
        counts[subject] = Math.min(counts[subject] ?? Number.POSITIVE_INFINITY, totals[at] - nothing);
    return counts;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Compares the counts with the record, and those of the mutant, which must differ where it is slower and nowhere else. */
export function instructions() {
  const { instructions: recorded } = readRecord();
  const counts = count();
  const found = differences(recorded, counts);
  if (found.length > 0)
    throw new Error(`instructions of the hot paths:\n${found.join("\n")}\nIf that is meant: ${RECORD_ANEW}`);
  // The same program again: a count that depends on the time, or on chance, would differ.
  const again = differences(counts, count());
  if (again.length > 0) throw new Error(`two runs of one program differ:\n${again.join("\n")}`);
  const slowed = differences(recorded, count("mutant"));
  const expected = Object.keys(recorded).filter((subject) => SLOWED.test(subject));
  const unexpected = slowed.filter(
    (line) => !(line.endsWith(": slower") && expected.some((name) => line.startsWith(`${name}:`))),
  );
  if (slowed.length !== expected.length || unexpected.length > 0)
    throw new Error(`the mutant must be slower in ${expected.join("; ")}. What was found:\n${slowed.join("\n")}`);
  process.stdout.write(
    `${Object.keys(counts).length} counts as recorded; ${expected.length} of the mutant were found to be slower\n`,
  );
}

/** Writes the record, and shows what it changed. */
export async function recordInstructions() {
  const reason = whyNoCounts() ?? valgrind.whyUnavailable();
  if (reason !== undefined) throw new Error(`instructions cannot be counted on this machine: ${reason}`);
  await valgrind.install();
  const counts = count();
  const before = readRecord().instructions;
  const width = Math.max(...Object.keys(counts).map((subject) => subject.length));
  for (const [subject, now] of Object.entries(counts))
    process.stdout.write(
      `${subject.padEnd(width)} ${String(before[subject] ?? "-").padStart(8)} ${String(now).padStart(8)}\n`,
    );
  const comment = `Instructions of one call, Linux x64. Written by \`${RECORD_ANEW}\`, compared by \`npm test -- instructions\`.`;
  const record = { _comment: comment, rustc: rustc(), instructions: counts };
  writeFileSync(`${root}${RECORD}`, `${JSON.stringify(record, null, 2)}\n`);
  process.stdout.write(`Recorded before, and now. Written to ${RECORD}\n`);
}
