// The suites that `npm run test:long` adds. The fields of a suite are those of `suites.mjs`.
import { root, run } from "../shell.mjs";
import { fuzzer, miri, mutator, runtimes } from "../tools.mjs";
import { consumers, nemesis, SERVERS, segmentsProcesses, stateFile, workersLoad } from "./all-suites.mjs";
import { coreTest, miriTests, oracle, runTests } from "./commands.mjs";

/** Holds SqliteStore to the contract with better-sqlite3, which npm compiles from its sources: that takes a minute or two. */
function betterSqlite3() {
  const folder = `${root}.cache/better-sqlite3`;
  run("npm", ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "better-sqlite3@12.11.1"]);
  process.env.FRAZIL_BETTER_SQLITE3 = `${folder}/node_modules/better-sqlite3`;
  runTests("stores/sqlite");
}

export const LONG_SUITES = [
  { name: "exhaustive-all", run: () => coreTest("exhaustive", { FRAZIL_EXHAUSTIVE_ALL: "1" }) },
  { name: "oracle-million", run: () => oracle(1_000_000) },
  { name: "miri-long", requires: [miri], run: () => miriTests(64, { docs: true }) },
  { name: "fuzz-long", requires: [fuzzer], run: async () => (await import("../checks/cargo.mjs")).fuzz(300) },
  { name: "mutants", requires: [mutator], run: async () => (await import("../checks/cargo.mjs")).mutants() },
  { name: "local-storm", ...stateFile(120, "local/storm.test.mjs") },
  ...["postgres", "mysql", "redis"].map((name) => ({
    name: `segments-processes-${name}-long`,
    ...segmentsProcesses(name, 180),
  })),
  ...Object.keys(SERVERS).map((name) => ({ name: `nemesis-${name}-long`, ...nemesis(name, 400) })),
  { name: "stores-better-sqlite3", requires: [runtimes], run: betterSqlite3 },
  { name: "reproducible", run: () => runTests("scripts/reproducible.test.mjs", { limitMs: 1_800_000 }) },
  // It writes the record, docs/proofs/consumers.md.
  { name: "consumers-long", ...consumers("--record") },
  { name: "workers-load-long", ...workersLoad(180) },
];
