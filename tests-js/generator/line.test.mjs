//! docs/internals/claims.md: 34
// IDs that TypeScript mints on the state itself, without a call of the core (`#nextByLine` of `snowflake.ts`, `swapOne` of `swap-line.ts`).
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { inNewProcess, mutablePackage } from "../core/package-copy.mjs";

const program = fileURLToPath(new URL("line-main.mjs", import.meta.url));

/** What a scenario of `line-main.mjs` wanted and got. */
async function outcomeOf(scenario, backend, main = program) {
  const env = { ...process.env, FRAZIL_BACKEND: backend };
  const { stdout } = await promisify(execFile)(process.execPath, ["--no-warnings", main, scenario], { env });
  return JSON.parse(stdout);
}

/** What one backend alone has: a memory that grows and a module that stops; state files, and memory that threads share. */
const ONLY = {
  closesWithoutCore: ["wasm"],
  growsMemory: ["wasm"],
  findsIds: ["wasm"],
  givesNobodyTheMemory: ["native"],
  keepsNoBuffers: ["native"],
  mintsFromFiles: ["native"],
  endsWithOlderContents: ["native"],
};

for (const [scenario, name] of Object.entries({
  asksNothing: "the first ID of a tick takes no call of the core, whatever else is open",
  keepsNoBuffers: "a generator that has made 64 calls of the core has made no buffers, unless its kind shares them",
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
  findsIds: "an ID that a call of the core left in a memory that has grown is issued, and no other one",
  refusesObjects: "a clock that shows an object, which closes the generator, gets no ID",
  hasOwnViews: "a program that replaces global functions does not run between reading the word and writing it",
  givesNobodyTheMemory:
    "no function that a program puts in the place of one of the language gets the memory of a state",
  acrossCopies: "copies of the package, in one realm and in a vm context, mint from one state, each on a line",
  mintsFromFiles: "the first ID of a tick of a state file takes no call of the core, and a closed one issues nothing",
  endsWithOlderContents: "nothing is issued from an older copy that is written over a state file",
  refusesWhatIsNoTime: "a clock that shows no time gets no ID",
}))
  for (const backend of ONLY[scenario] ?? ["wasm", "native"])
    test(`${backend}: ${name}`, async () => {
      const { want, got } = await outcomeOf(scenario, backend);
      assert.deepEqual(got, want);
    });

for (const versions of ["undefined", "{}", '{ v8: "14.1.1-node.1" }', '{ v8: Symbol("13.6") }'])
  test(`an engine that is not known by process.versions, ${versions}, has the addon and no line`, async () => {
    const script = `
      Object.defineProperty(process, "versions", { value: ${versions} });
      const { Snowflake } = await import("frazil");
      const { backend, lines = null } = Snowflake.port().binding;
      process.stdout.write(JSON.stringify({ backend, lines }));
    `;
    const env = { FRAZIL_BACKEND: undefined };
    assert.deepEqual(await inNewProcess(script, { env }), { backend: "native", lines: null });
  });

/** By backend and name: the scenario that must fail, what the built code has, and what the mutant has. */
const MUTANTS = {};
MUTANTS.wasm = {
  "no line": ["asksNothing", "this.#line = numbers[", "0 * numbers["],
  "any word": ["onSharedState", "words[state] <= first - words[state + 1] * TWO_32", "words[state] >= 0"],
  "half of the word": ["onSharedState", " - words[state + 1] * TWO_32", ""],
  "a word is rounded": [
    "withWideWords",
    "words[state] <= first - words[state + 1] * TWO_32",
    "words[state] + words[state + 1] * TWO_32 <= first",
  ],
  "the word is not written": ["onSharedState", "words[state] = first | 1, words[state + 1] = first / TWO_32, ", ""],
  "the word stays at the first of its tick": ["onSharedState", "words[state] = first | 1", "words[state] = first"],
  "the rest of the block is kept": [
    "onSharedState",
    "return id !== void 0 ? (this.#untilMs > 0 && this.#dropBlock(), ",
    "return id !== void 0 ? (",
  ],
  "the upper half of the word is not written": ["inEveryLayout", ", words[state + 1] = first / TWO_32", ""],
  "the node id is left out": ["inEveryLayout", "| doubles[at + 5]", ""],
  "the upper half of the node id is left out": ["inEveryLayout", "| doubles[at + 6]", ""],
  "a fraction counts": ["inEveryLayout", "floor((now - epochMs) / tickMs)", "(now - epochMs) / tickMs"],
  "the time field has no end": ["inEveryLayout", "endMs <= doubles[at + 2] && ", ""],
  "the reading is not told": ["countsSteps", ", doubles[at + 8] = now", ""],
  "a step back is not told": ["countsStepsAfterRefusals", "doubles[at + 8] <= now && ", ""],
  "a closed generator keeps its line": [
    "closesWithoutCore",
    "this.#line = 0, this.#swap = void 0",
    "this.#swap = void 0",
  ],
  "the start of the window is not read": [
    "beginsLater",
    "words[state + 3] * TWO_32 + words[state + 2] <= startMs && ",
    "",
  ],
  "the end of the window is not read": ["underLease", " && words[state + 5] * TWO_32 + words[state + 4] >= endMs", ""],
  "what is in a memory that has grown is asked for again": [
    "findsIds",
    "answered === 0 ? wholes[0] : void 0;",
    "answered === 0 ? wholes[0] : void 0; if (id === void 0) answered = id;",
  ],
  "views are made by what is global": ["hasOwnViews", "this.words = new Halves(", "this.words = new Uint32Array("],
  "a call is made by what is global": ["hasOwnViews", "tick = floor((now - epoch", "tick = Math.floor((now - epoch"],
  "a clock may show anything": [
    "refusesObjects",
    'typeof now == "number" && now !== this.#reserveAtMs) {\n      let id, at',
    "now !== this.#reserveAtMs) {\n      let id, at",
  ],
};

MUTANTS.native = {
  "the rest of the block is kept": [
    "onSharedState",
    "this.#nextByCore(now, how) : (this.#untilMs > 0 && this.#dropBlock(), ",
    "this.#nextByCore(now, how) : (",
  ],
  "no line": ["asksNothing", "this.#isStatic && sharedLines[this.#handle] || null", "void 0"],
  "a line for fewer IDs": [
    "keepsNoBuffers",
    "this.#alone + this.#reservations > 64",
    "this.#alone + this.#reservations > 63",
  ],
  "any word": ["onSharedState", "halves2[1] * 2 ** 32 + halves2[0] < first", "halves2[1] >= 0"],
  "the word is not written": ["onSharedState", "swap(word2, 0, before, whole2[0])", "swap(word2, 0, before, before)"],
  "the word stays at the first of its tick": ["onSharedState", "halves2[0] = first | 1", "halves2[0] = first"],
  "the upper half of the word is not written": ["inEveryLayout", ", halves2[1] = first / 2 ** 32", ""],
  "the node id is left out": ["inEveryLayout", " | line.nodeLow", ""],
  "the upper half of the node id is left out": ["inEveryLayout", " | line.nodeHigh", ""],
  "a fraction counts": [
    "inEveryLayout",
    "tick = floor((now - line.epochMs) / line.tickMs)",
    "tick = (now - line.epochMs) / line.tickMs",
  ],
  "the time field has no end": ["inEveryLayout", "untilMs < line.endMs ? untilMs : line.endMs", "untilMs"],
  "the reading is not told": ["countsSteps", "seenMs[0] = now;", ""],
  "a step back is not told": ["countsStepsAfterRefusals", "seenMs[0] <= now && ", ""],
  "a closed generator keeps its line": ["staysClosed", "this.#line = 0, this.#swap = void 0", "this.#line = 0"],
  "the start of the window is not compared": ["beginsLater", " || load2(window, 0) !== line.from", ""],
  "the end of the window is not compared": ["endsWithOlderContents", " || load2(window, 1) < line.until", ""],
  "the end of the window is not read": ["underLease", " && startMs + line.tickMs <= line.untilMs", ""],
  "views are made by what is global": ["givesNobodyTheMemory", "word: new Ids(", "word: new BigUint64Array("],
  "a call is made by what is global": ["hasOwnViews", "tick = floor((now - line", "tick = Math.floor((now - line"],
  "a function of the language is called as it is now": [
    "givesNobodyTheMemory",
    "swap(word2",
    "Atomics.compareExchange(word2",
  ],
  "lines are in an object that inherits": [
    "givesNobodyTheMemory",
    "sharedLines = /* @__PURE__ */ Object.create(null)",
    "sharedLines = {}",
  ],
  "a clock may show anything": [
    "refusesObjects",
    'typeof now == "number" && now !== this.#reserveAtMs) {\n      let line',
    "now !== this.#reserveAtMs) {\n      let line",
  ],
};

test("a line that breaks a rule is caught", async (context) => {
  const { main, mend, breakRule } = mutablePackage(program);
  for (const [backend, mutants] of Object.entries(MUTANTS)) {
    mend();
    const { want, got } = await outcomeOf("onSharedState", backend, main);
    assert.deepEqual(got, want);
    for (const [name, [scenario, before, after]] of Object.entries(mutants)) {
      breakRule(before, after);
      // A program that crashes is not caught: it says nothing of IDs.
      const { want, got } = await outcomeOf(scenario, backend, main);
      assert.notDeepEqual(got, want, `${backend}, ${name}: not caught by ${scenario}`);
      context.diagnostic(`${backend}, ${name}: caught`);
    }
  }
});
