//! docs/safety.md: 34
// IDs that TypeScript mints on the state itself, without a call of the core (`#nextByLine` of `snowflake.ts`): on WebAssembly.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { copyPackage } from "../core/package-copy.mjs";

const program = fileURLToPath(new URL("line-main.mjs", import.meta.url));

/** Whether a scenario of `line-main.mjs` holds. */
async function holds(scenario, main = program) {
  const env = { ...process.env, FRAZIL_BACKEND: "wasm" };
  const { stdout } = await promisify(execFile)(process.execPath, ["--no-warnings", main, scenario], { env });
  return JSON.parse(stdout);
}

for (const [scenario, name] of Object.entries({
  asksNothing: "the first ID of a tick takes no call of the core, whatever else is open",
  onSharedState: "generators of one state repeat no ID and keep their order, on a clock that moves on and back",
  inEveryLayout:
    "in every layout the first ID of a tick is the one that the layout composes, and none lies outside its time",
  withWideWords: "two generators in one tick repeat no ID where a word has more bits than a number holds",
  countsSteps: "the counters of each generator know what the clock showed",
  countsStepsAfterRefusals: "a step back from a time at which nothing was minted is counted in full",
  staysClosed: "a closed generator issues nothing, also if its handle is used again",
  closesWithoutCore:
    "a generator that cannot be closed properly, since the module is stopped, issues nothing more either",
  beginsLater: "no generator issues what a predecessor with a longer lead may have issued",
  underLease: "a lease mints in its window, and nothing once it is closed",
  growsMemory: "a memory that has grown is found again",
  refusesObjects: "a clock that shows an object, which closes the generator, gets no ID",
  hasOwnViews: "a program that replaces global functions does not run between reading the word and writing it",
}))
  test(name, async () => assert.equal(await holds(scenario), true));

/** By name: the scenario that must fail, what the built code has, and what the mutant has. */
const MUTANTS = {
  "no line": ["asksNothing", "this.#line = numbers[", "0 * numbers["],
  "any word": ["onSharedState", "words[state] <= first - words[state + 1] * TWO_32", "words[state] >= 0"],
  "half of the word": ["onSharedState", " - words[state + 1] * TWO_32", ""],
  "a word is rounded": [
    "withWideWords",
    "words[state] <= first - words[state + 1] * TWO_32",
    "words[state] + words[state + 1] * TWO_32 <= first",
  ],
  "the word is not written": ["onSharedState", "words[state] = first | 1, words[state + 1] = first / TWO_32, ", ""],
  "the word stays at the first of its tick": ["onSharedState", "first | 1", "first"],
  "the rest of the block is kept": [
    "onSharedState",
    "id !== void 0)\n        return this.#untilMs > 0 && this.#dropBlock(), ",
    "id !== void 0)\n        return ",
  ],
  "the upper half of the word is not written": ["inEveryLayout", ", words[state + 1] = first / TWO_32", ""],
  "the node id is left out": ["inEveryLayout", "| doubles[at + 5]", ""],
  "the upper half of the node id is left out": ["inEveryLayout", "| doubles[at + 6]", ""],
  "a fraction counts": ["inEveryLayout", "floor((now - epochMs) / tickMs)", "(now - epochMs) / tickMs"],
  "the time field has no end": ["inEveryLayout", "endMs <= doubles[at + 2] && ", ""],
  "the reading is not told": ["countsSteps", ", doubles[at + 8] = now", ""],
  "a step back is not told": ["countsStepsAfterRefusals", "doubles[at + 8] <= now && ", ""],
  "a closed generator keeps its line": ["closesWithoutCore", "this.#line = 0;", ""],
  "the start of the window is not read": [
    "beginsLater",
    "words[state + 3] * TWO_32 + words[state + 2] <= startMs && ",
    "",
  ],
  "the end of the window is not read": ["underLease", " && words[state + 5] * TWO_32 + words[state + 4] >= endMs", ""],
  "views are made by what is global": ["hasOwnViews", "this.words = new Halves(", "this.words = new Uint32Array("],
  "a call is made by what is global": ["hasOwnViews", "tick = floor(", "tick = Math.floor("],
  "a clock may show anything": ["refusesObjects", 'typeof now == "number" && (!1', "(!1"],
};

test("a line that breaks a rule is caught", async (context) => {
  const folder = copyPackage();
  const file = join(folder, "dist", "node.cjs");
  const built = readFileSync(file, "utf8");
  const main = join(folder, "line-main.mjs");
  cpSync(program, main);
  assert.equal(await holds("onSharedState", main), true);
  for (const [name, [scenario, before, after]] of Object.entries(MUTANTS)) {
    assert.equal(built.split(before).length, 2, `${name}: the built code has ${before} once`);
    writeFileSync(
      file,
      built.replace(before, () => after),
    );
    const isCaught = await holds(scenario, main).then(
      (answer) => !answer,
      () => true,
    );
    context.diagnostic(`${name}: ${isCaught ? "caught" : "not caught"}`);
    assert.ok(isCaught, `${name}: not caught by ${scenario}`);
  }
});
