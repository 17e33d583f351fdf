// The commands that test: they install and build what is missing, run suites, and print a line with the duration of each.
//
//   npm test                         the quick suites
//   npm test -- rust workerd         those suites, of any tier
//   npm test -- --list               the names of all suites, with their tiers
//   npm run test:all                 all suites but the long ones
//   npm run test:all -- --due        without the quick ones: those that have not passed as they are now, and a sample of the others
//   npm run test:all -- --check-inputs   each where the repository has only its declared inputs
//   npm run test:long                the long suites
//   npm run ready                    formats and applies lint fixes first, then the quick suites
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { checkTools, rustTools, setUp } from "../setup.mjs";
import { begin, root, run } from "../shell.mjs";
import { flakeLine, tooOften } from "./failures.mjs";
import { inputsOf, RUNNER } from "./inputs.mjs";
import { inNamespace, whyNoNamespace } from "./namespace.mjs";
import { chooseDue, hasPassedWithInputs, inputsKeyOf, keyOf, readRows, treeNow, whyNoRow, writeRow } from "./rows.mjs";
import { installForKey, runSuites } from "./run-suites.mjs";
import { hasRow, SUITES } from "./suites.mjs";

const FLAKES = "docs/proofs/flakes.json";
const write = (text) => process.stdout.write(`${text}\n`);

/** Says what is wrong with the command line, and ends. */
function misuse(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function readCommandLine() {
  const names = ["list", "all", "long", "due", "fix", "check-inputs", "as-is"];
  // Those that npm has no setting of.
  const taken = ["list", "due", "check-inputs"].find((name) => process.env[`npm_config_${name.replace("-", "_")}`]);
  if (taken !== undefined && !process.argv.includes(`--${taken}`))
    misuse(`npm took --${taken} for itself. Write it after --: npm test -- --${taken}`);
  try {
    return parseArgs({
      allowPositionals: true,
      options: Object.fromEntries(names.map((name) => [name, { type: "boolean" }])),
    });
  } catch (error) {
    return misuse(`${error.message.split(". ")[0]}. Options: --${names.slice(0, -1).join(", --")}`);
  }
}

const { values, positionals: names } = readCommandLine();
const rowNames = SUITES.filter(hasRow).map(({ name }) => name);
const often = tooOften(JSON.parse(readFileSync(`${root}${FLAKES}`, "utf8")));

if (values.list) {
  write(SUITES.map(({ name, tier }) => (tier === "quick" ? name : `${name} (${tier})`)).join("\n"));
  process.exit(0);
}
const unknown = names.filter((name) => !SUITES.some((suite) => suite.name === name));
if (unknown.length > 0) {
  const alike = SUITES.filter(({ name }) => unknown.some((wrong) => name.includes(wrong))).map(({ name }) => name);
  const meant = alike.length > 0 ? ` Did you mean ${alike.join(", ")}?` : "";
  misuse(`unknown suite: ${unknown.join(", ")}.${meant} All names: npm test -- --list`);
}

if (values["as-is"]) {
  // A suite in this process, for the runner: everything is installed and built.
  for (const name of names) await SUITES.find((suite) => suite.name === name).run();
  process.exit(0);
}

const tiers = values.long ? ["long"] : values.all ? ["quick", "all"] : ["quick"];
let chosen = SUITES.filter(({ name, tier }) => (names.length > 0 ? names.includes(name) : tiers.includes(tier)));
// The quick suites have neither rows nor declared inputs.
if (values.due || values["check-inputs"]) chosen = chosen.filter(hasRow);
if (values["check-inputs"]) {
  const reason = chosen.length === 0 ? `${names.join(", ")}: quick suites declare no inputs` : whyNoNamespace();
  if (reason !== undefined) misuse(reason);
}

/** The inputs of each suite before anything is built of them, if a pass may give a row. */
const atStart = new Map(
  chosen.filter((suite) => hasRow(suite) && whyNoRow(suite) === undefined).map((suite) => [suite, inputsKeyOf(suite)]),
);
const results = [];
// Not imported for a suite in its own process: what builds is none of its inputs.
const { build, isBuilt } = await import("../build/index.mjs");
const [first] = chosen;
await begin(checkTools);
// In a clone that was never built, `npm start` is the build.
if (!isBuilt() && first?.name === "start") {
  results.push(...(await runSuites([first])));
  chosen = chosen.slice(1);
}
async function fix() {
  run("cargo", ["fmt", "--all"]);
  (await import("../checks/cargo.mjs")).formatOthers();
  run(`${root}node_modules/.bin/biome`, ["check", "--write", "."]);
}
await begin(setUp, rustTools, ...(values.fix ? [fix] : []), build);

if (values.due) {
  const rows = readRows();
  // The versions in a row are of what is installed. If an installation fails, its suite fails below.
  for (const suite of chosen) if (hasPassedWithInputs(suite, rows)) await installForKey(suite).catch(() => {});
  const keys = new Map([...atStart.keys()].map((suite) => [suite.name, keyOf(suite)]));
  const { due, sample } = chooseDue(chosen, rows, keys, treeNow());
  const list = (suites) => (suites.length === 0 ? "none" : suites.map(({ name }) => name).join(", "));
  write(`Not passed yet as they are now: ${list(due)}`);
  write(`A sample of the others: ${list(sample)}`);
  const long = SUITES.filter(({ tier }) => tier === "long");
  const ages = long.map(({ name }) => `${name} ${rows.get(name)?.date ?? "never"}`);
  write(`The long suites last passed: ${ages.join(", ")}\n`);
  const both = new Set([...due, ...sample]);
  chosen = chosen.filter((suite) => both.has(suite));
}

const isolate = values["check-inputs"]
  ? (suite, program, args) => inNamespace([...RUNNER, ...inputsOf(suite)], program, args)
  : undefined;

/** Notes of passes that give no row. */
const notes = [];
results.push(
  ...(await runSuites(chosen, {
    isolate,
    passed(suite, { seconds }) {
      if (!hasRow(suite)) return;
      const why = whyNoRow(suite);
      if (why === undefined && atStart.get(suite) === inputsKeyOf(suite))
        writeRow(suite, keyOf(suite), seconds, rowNames);
      else notes.push(`${suite.name}: ${why ?? "its inputs changed since it was built"}`);
    },
  })),
);

const failed = results.filter(({ failed }) => failed !== undefined);
const skipped = results.filter(({ skipped }) => skipped !== undefined);
if (notes.length > 0) write(`\nPassed, but without a row in docs/proofs/passed.json:\n  ${notes.join("\n  ")}`);
if (skipped.length > 0)
  write(
    `\nSkipped on this machine:\n${skipped.flatMap(({ name, skipped }) => skipped.map((line) => `  ${name}: ${line}\n`)).join("")}`,
  );
if (failed.length > 0) {
  const list = failed.map(({ name }) => name);
  write(`\nFailed: ${list.join(", ")}. To repeat: npm test -- ${list.join(" ")}`);
}
if (often.length > 0) write(`\n${FLAKES} has more than two lines of these tests; mend them first: ${often.join("; ")}`);
// `skipped` has suites that ran with a test skipped as well.
const passed = results.length - failed.length - skipped.length;
write(`\n${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
for (const { flakes = [] } of results) for (const flake of flakes) write(flakeLine(flake));
// In CI a skip is a failure: nothing would notice that a suite no longer runs.
const refused = process.env.CI && (skipped.length > 0 || often.length > 0);
process.exitCode = failed.length > 0 || refused ? 1 : 0;
