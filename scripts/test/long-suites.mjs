// The suites that `npm run test:long` adds. The fields of a suite are those of `suites.mjs`.
import { root, run } from "../shell.mjs";
import { arm64Libraries, fuzzer, miri, mutator, qemu, runtimes } from "../tools.mjs";
import { consumers, nemesis, SERVERS, segmentsProcesses, stateFile, workersLoad } from "./all-suites.mjs";
import { coreTest, miriTests, oracle, runTests, testsOf, whyNoAddon } from "./commands.mjs";

/** Runs tests with variables that no other suite gets. */
const runWith = (env, paths, options) =>
  run(process.execPath, testsOf(paths, options).nodeArguments(), { env: { ...process.env, ...env } });

/** Holds SqliteStore to the contract with better-sqlite3, which npm compiles from its sources: that takes a minute or two. */
function betterSqlite3() {
  const folder = `${root}.cache/better-sqlite3`;
  run("npm", ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "better-sqlite3@12.11.1"]);
  runWith({ FRAZIL_BETTER_SQLITE3: `${folder}/node_modules/better-sqlite3` }, "stores/sqlite");
}

/** The suite `swaps` on ARM64, in each engine of `core/binding/proven-engines.ts`. With a tenth of the IDs, since qemu is slow. */
async function swapsOnArm64() {
  const { underQemu } = await import("../platforms/runtimes.mjs");
  const nodes = {};
  for (const version of ["20.20.2", "22.23.3", "24.22.0"])
    nodes[`Node ${version} for ARM64`] = (await underQemu(version)).command;
  run(process.execPath, [`${root}scripts/platforms/build.mjs`, "linux-arm64-gnu"]);
  runWith({ FRAZIL_TEST_NODES: JSON.stringify(nodes) }, "generator/swaps", { limitMs: 3_600_000 });
}

export const LONG_SUITES = [
  { name: "exhaustive-all", run: () => coreTest("exhaustive", { FRAZIL_EXHAUSTIVE_ALL: "1" }) },
  { name: "oracle-million", run: () => oracle(1_000_000) },
  { name: "miri-long", requires: [miri], run: () => miriTests(64, { docs: true }) },
  { name: "fuzz-long", requires: [fuzzer], run: async () => (await import("../checks/cargo.mjs")).fuzz(300) },
  { name: "mutants", requires: [mutator], run: async () => (await import("../checks/cargo.mjs")).mutants() },
  { name: "swaps-arm64", whyUnavailable: whyNoAddon, requires: [qemu, arm64Libraries], run: swapsOnArm64 },
  { name: "local-storm", ...stateFile(120, "local/storm.test.mjs") },
  ...["postgres", "mysql", "redis"].map((name) => ({
    name: `segments-processes-${name}-long`,
    ...segmentsProcesses(name, 180),
  })),
  ...Object.keys(SERVERS).map((name) => ({ name: `nemesis-${name}-long`, ...nemesis(name, 400) })),
  { name: "stores-better-sqlite3", requires: [runtimes], run: betterSqlite3 },
  // Ten million IDs of each incident.
  {
    name: "audit-long",
    run: () => runWith({ FRAZIL_AUDIT_IDS: "10000000" }, "audit/audit.test.mjs", { limitMs: 7_200_000 }),
  },
  { name: "reproducible", run: () => runTests("scripts/reproducible.test.mjs", { limitMs: 1_800_000 }) },
  // It writes the record, docs/proofs/consumers.md.
  { name: "consumers-long", ...consumers("--record") },
  { name: "workers-load-long", ...workersLoad(180) },
];
