// `npm test`: installs and builds what is missing, then runs every suite and prints a line with the duration of each.
//
//   npm test                      every suite
//   npm test -- rust workerd      those suites
//   npm test -- --list            their names
//   npm run test:long             every suite, the long ones included
//   npm run ready                 formats and applies lint fixes first, then every suite
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { checkColumns } from "./columns.mjs";
import { checkDenied, denier, deny, testPackedCrates } from "./crates.mjs";
import { instructions, whyNotComparable } from "./instructions.mjs";
import { moduleCycles } from "./module-cycles.mjs";
import { formatOthers, fuzz, fuzzer, mutants, mutator, noPanic } from "./proofs.mjs";
import { OTHER_SYSTEMS, rustTarget, rustTools, setUp } from "./setup.mjs";
import { isLinuxX64Gnu, root, run, runBeside, step } from "./shell.mjs";
import {
  browser,
  etcd,
  faketime,
  fileSystems,
  mariadb,
  miri,
  pgbouncer,
  postgres,
  redis,
  runtimes,
  tools,
  valgrind,
  valkey,
  workersTools,
  zookeeper,
} from "./tools.mjs";

const bin = `${root}node_modules/.bin`;
const wasm = ["--target", "wasm32-unknown-unknown"];
const REPORTER = `--test-reporter=${root}scripts/dots.mjs`;
const cargo = (...args) => run("cargo", args);
const testFiles = (folder) =>
  readdirSync(`${root}tests-js/${folder}`)
    .filter((name) => name.endsWith(".test.mjs"))
    .map((name) => `${root}tests-js/${folder}/${name}`);

/**
 * Runs cargo on the loom models, in a target folder of their own: their `--cfg` flag would otherwise rebuild everything, here and
 * again for the next suite.
 */
function cargoLoom(command, ...args) {
  const target = `${process.env.CARGO_TARGET_DIR ?? `${root}target`}/loom`;
  const chosen = ["-p", "frazil", "--features", "loom,page", "--profile", "loom", "--target-dir", target];
  run("cargo", [command, "--locked", "--quiet", ...chosen, ...args], {
    env: { ...process.env, RUSTFLAGS: "--cfg frazil_loom" },
  });
}

/** Runs tests of the core under Miri. */
function cargoMiri(flags, ...args) {
  run("cargo", ["+nightly", "miri", "test", "--locked", "--quiet", "-p", "frazil", "--all-features", ...args], {
    env: { ...process.env, MIRIFLAGS: flags },
  });
}

/**
 * The arguments of Node that run the tests of a folder, or one of its files, which start the processes that they test themselves.
 * A test that takes longer than `limitMs` counts as hanging. `serial`: one file at a time (default: as many as there are processors,
 * less one).
 */
function folderArguments(folder, { file = "", limitMs = 120_000, serial = false } = {}) {
  const chosen = testFiles(folder).filter((path) => path.endsWith(file));
  const concurrency = serial ? ["--test-concurrency=1"] : [];
  return ["--test", `--test-timeout=${limitMs}`, REPORTER, ...concurrency, ...chosen];
}

/** Runs the tests of a folder. */
const testFolder = (folder, options) => run(process.execPath, folderArguments(folder, options));

/** Runs the tests of a folder beside another suite. */
const inFolder = (folder, options) => ({ beside: () => folderArguments(folder, options) });

/** The same, on a backend. */
const onBackend = (folder, backend) => ({ env: { FRAZIL_BACKEND: backend }, ...inFolder(folder) });

/** Runs the tests of crates/wasm in a runtime. They are compiled first; the limit holds for the whole file. */
const wasmBindgen = (file) => inFolder("runtimes/wasm-bindgen", { file, limitMs: 900_000 });

/** Runs the property tests of the core with that many cases each. */
const oracle = (cases) =>
  run("cargo", ["test", "--locked", "--quiet", "--release", "-p", "frazil", "--test", "oracle", "--test", "text"], {
    env: { ...process.env, PROPTEST_CASES: String(cases) },
  });

/** Runs one of the exhaustive or random tests of the core, optimised. It prints what it covered, and fails if that was too little. */
const coreTest = (name, env = {}) =>
  run(
    "cargo",
    [
      ...["test", "--locked", "--quiet", "--release", "-p", "frazil", "--test", name],
      ...["--", "--nocapture", "--test-threads=1"],
    ],
    { env: { ...process.env, ...env } },
  );

/** Lets processes draw numbers of segments from a store while faults strike them, for that many seconds. */
const segmentsProcesses = (store, seconds) => ({
  env: { FRAZIL_SEGMENTS_STORE: store, FRAZIL_SEGMENTS_S: String(seconds) },
  ...inFolder("segments/processes", { file: "processes.test.mjs", limitMs: 1000 * (3 * seconds + 120) }),
});

/** Runs the tests of the state file. The stress test ("storm") lasts that many seconds. */
const stateFile = (seconds, options) => ({
  env: { FRAZIL_STORM_S: String(seconds) },
  // One file at a time: a process in a mount namespace of its own keeps the mounts of concurrent tests busy.
  ...inFolder("local", { limitMs: 300_000, serial: true, ...options }),
});

/** Holds SqliteStore to the contract with better-sqlite3, which npm compiles from its sources: that takes a minute or two. */
function betterSqlite3() {
  const folder = `${root}.cache/better-sqlite3`;
  run("npm", ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "better-sqlite3@12.11.1"]);
  process.env.FRAZIL_BETTER_SQLITE3 = `${folder}/node_modules/better-sqlite3`;
  testFolder("stores/sqlite");
}

/** Lets processes mint under leases while faults strike them: for that many seconds, and then for half as many. */
const nemesis = (store, seconds) => ({
  env: { FRAZIL_NEMESIS_STORE: store, FRAZIL_NEMESIS_S: String(seconds) },
  ...inFolder("nemesis", { limitMs: 1000 * (4 * seconds + 300) }),
});

/** Loads isolates of a Worker while faults strike them: for that many seconds, and then a broken object. */
const workersLoad = (seconds) => {
  process.env.FRAZIL_WORKERS_LOAD_S = String(seconds);
  testFolder("workers-load", { limitMs: 1000 * (3 * seconds + 120) });
};

/** The permission to mount file systems. It cannot be installed. */
const mounts = {
  whyUnavailable: () =>
    process.platform === "linux" && process.getuid() === 0 ? undefined : "mounting needs Linux and root",
  install() {},
};

const whyNoAddon = () => (isLinuxX64Gnu ? undefined : "the tests of the addon run on Linux x64 with glibc");

/** The lease stores that have a server, and what their tests need. */
const SERVERS = {
  postgres: [postgres],
  mysql: [mariadb],
  redis: [redis, valkey],
  etcd: [etcd],
  zookeeper: [zookeeper],
};

/**
 * Every suite:
 *
 * - `name`, and `run`, which throws if a test fails;
 * - `long`: whether only `npm run test:long` or its name runs it;
 * - `requires`: tools without which the suite is skipped;
 * - `optional`: tools without which the suite skips some of its tests;
 * - `whyUnavailable`: returns the reason why the suite cannot run on this machine, or `undefined`;
 * - `beside`: in place of `run`, the arguments of a Node that runs the suite. It waits for fences, flushes, servers and programs that it
 *   starts most of the time, or need not be alone on the machine. It runs at the same time as a neighbour in this list that has `beside`
 *   as well;
 * - `under`: returns that Node, if it is not the one that runs this;
 * - `env`: environment variables of that Node.
 */
const SUITES = [
  {
    name: "format",
    run: () => {
      cargo("fmt", "--all", "--check");
      formatOthers("--check");
      run(`${bin}/biome`, ["ci", "--error-on-warnings", "."]);
      checkColumns();
    },
  },
  {
    name: "promises",
    run: () => {
      run(process.execPath, [`${root}scripts/promises.mjs`]);
      testFolder("promises");
    },
  },
  {
    name: "lint-rust",
    run: async () => {
      moduleCycles();
      const strict = ["--", "-D", "warnings"];
      cargo(
        "clippy",
        "--locked",
        "--quiet",
        "-p",
        "frazil",
        "-p",
        "frazil-local",
        "-p",
        "frazil-reference",
        "-p",
        "xtask",
        "--all-targets",
        "--all-features",
        ...strict,
      );
      for (const target of OTHER_SYSTEMS) {
        await rustTarget(target);
        cargo(
          "clippy",
          "--locked",
          "--quiet",
          "-p",
          "frazil-local",
          "-p",
          "frazil-napi",
          "--target",
          target,
          ...strict,
        );
      }
      cargoLoom("clippy", "--lib", "--test", "loom", ...strict);
      cargo("clippy", "--locked", "--quiet", "-p", "frazil-napi", "--all-targets", ...strict);
      cargo("clippy", "--locked", "--quiet", "-p", "frazil-no-panic", ...strict);
      cargo("clippy", "--locked", "--quiet", "-p", "frazil-instructions", "--all-features", ...strict);
      cargo("clippy", "--locked", "--quiet", "-p", "frazil-wasm", ...wasm, ...strict);
      const withTests = ["--tests", "--features", "std"];
      cargo("clippy", "--locked", "--quiet", "-p", "frazil-wasm", ...withTests, ...wasm, ...strict);
    },
  },
  {
    name: "rust",
    run: () => {
      cargo("test", "--locked", "--quiet", "-p", "frazil", "--all-features");
      // Without the `std` feature no random key can be drawn.
      cargo("test", "--locked", "--quiet", "-p", "frazil", "--no-default-features", "--test", "registry");
      cargo("test", "--locked", "--quiet", "-p", "frazil-local");
      // The rule of two copies of the addon. The rest of it runs only in Node.
      cargo("test", "--locked", "--quiet", "-p", "frazil-napi", "--test", "copies");
      cargo("test", "--locked", "--quiet", "-p", "frazil-reference", "-p", "xtask");
      cargo("check", "--locked", "--quiet", "-p", "frazil", "--no-default-features", ...wasm);
    },
  },
  {
    name: "oracle",
    run: () => oracle(100_000),
  },
  // Every state of small layouts; every history of a small fleet; 10,000 simulations each, with their broken twins.
  ...["exhaustive", "lease-model", "lease-simulation", "segment-simulation", "ceiling-simulation"].map((name) => ({
    name,
    run: () => coreTest(name.replace("-", "_")),
  })),
  { name: "exhaustive-all", long: true, run: () => coreTest("exhaustive", { FRAZIL_EXHAUSTIVE_ALL: "1" }) },
  {
    name: "oracle-million",
    long: true,
    run: () => oracle(1_000_000),
  },
  {
    name: "rust-docs",
    run: () =>
      run(
        "cargo",
        ["doc", "--locked", "--quiet", "-p", "frazil", "-p", "frazil-local", "--all-features", "--no-deps"],
        {
          env: { ...process.env, RUSTDOCFLAGS: "-D warnings" },
        },
      ),
  },
  { name: "crates", run: testPackedCrates },
  { name: "denied", run: checkDenied },
  { name: "deny", long: true, requires: [denier], run: deny },
  { name: "loom", run: () => cargoLoom("test", "--test", "loom") },
  {
    name: "miri",
    requires: [miri],
    run: () => {
      cargoMiri(`-Zmiri-many-seeds=0..${values.long ? 64 : 16}`, "--test", "threads");
      // s390x is big-endian. The doc examples read the wall clock, which Miri allows only without isolation.
      const bigEndian = ["--target", "s390x-unknown-linux-gnu"];
      cargoMiri("", ...bigEndian, "--test", "registry", "--test", "threads");
      if (values.long) cargoMiri("-Zmiri-disable-isolation", ...bigEndian, "--doc");
    },
  },
  { name: "no-panic", run: noPanic },
  {
    name: "instructions",
    whyUnavailable: whyNotComparable,
    requires: [valgrind],
    run: () => {
      testFolder("instructions");
      instructions();
    },
  },
  { name: "fuzz", requires: [fuzzer], run: () => fuzz(values.long ? 300 : 10) },
  { name: "mutants", long: true, requires: [mutator], run: mutants },
  { name: "types", ...onBackend("types", "wasm") },
  { name: "vectors-native", whyUnavailable: whyNoAddon, ...onBackend("vectors", "native") },
  { name: "vectors-wasm", ...onBackend("vectors", "wasm") },
  { name: "api-native", whyUnavailable: whyNoAddon, ...onBackend("api", "native") },
  { name: "api-wasm", ...onBackend("api", "wasm") },
  {
    name: "leases-native",
    whyUnavailable: whyNoAddon,
    requires: [runtimes],
    ...onBackend("leases", "native"),
  },
  { name: "leases-wasm", requires: [runtimes], ...onBackend("leases", "wasm") },
  {
    name: "segments-native",
    whyUnavailable: whyNoAddon,
    requires: [runtimes],
    ...onBackend("segments", "native"),
  },
  { name: "segments-wasm", requires: [runtimes], ...onBackend("segments", "wasm") },
  { name: "workers-simulation", ...inFolder("workers-simulation", { limitMs: 300_000 }) },
  { name: "segmented-simulation", ...inFolder("segmented-simulation", { limitMs: 300_000 }) },
  { name: "lease-driver-simulation", ...inFolder("lease-driver-simulation", { limitMs: 300_000 }) },
  { name: "attacks-native", whyUnavailable: whyNoAddon, ...onBackend("attacks", "native") },
  { name: "attacks-wasm", ...onBackend("attacks", "wasm") },
  { name: "clock-steps", whyUnavailable: whyNoAddon, requires: [faketime], ...inFolder("clock-steps") },
  {
    name: "transport",
    requires: [runtimes, postgres],
    under: () => tools.node24,
    ...inFolder("transport"),
  },
  {
    name: "pages",
    requires: [runtimes, postgres, mariadb],
    under: () => tools.node24,
    ...inFolder("pages"),
  },
  // The longest first from here on, so that none is left to run alone.
  {
    name: "local",
    whyUnavailable: whyNoAddon,
    requires: [faketime, fileSystems, mounts],
    ...stateFile(20),
  },
  // A release is packed and published more than thirty times, on a machine that may have other work: the limit ends what hangs.
  {
    name: "packaging",
    optional: [runtimes, browser],
    ...inFolder("packaging", { limitMs: 900_000 }),
  },
  {
    name: "workers",
    requires: [runtimes],
    ...inFolder("workers", { limitMs: 300_000 }),
  },
  {
    name: "stores",
    requires: [runtimes, postgres, mariadb, redis],
    ...inFolder("stores", { limitMs: 300_000 }),
  },
  ...Object.entries({
    ...SERVERS,
    postgres: [postgres, pgbouncer],
    mysql: [mariadb, faketime],
    redis: [...SERVERS.redis, faketime],
    sqlite: [],
  }).map(([name, requires]) => ({
    name: `stores-${name}`,
    requires: [runtimes, ...requires],
    ...inFolder(`stores/${name}`, { limitMs: 300_000 }),
  })),
  ...["durable-object", "d1"].map((name) => ({
    name: `stores-${name}`,
    requires: [runtimes],
    ...inFolder(`stores/${name}`, { limitMs: 300_000 }),
  })),
  {
    name: "moving-in",
    requires: [runtimes, faketime, mariadb, zookeeper],
    ...inFolder("moving-in", { limitMs: 300_000 }),
  },
  {
    name: "serverless",
    requires: [runtimes, postgres],
    ...inFolder("serverless", { limitMs: 300_000 }),
  },
  {
    name: "segments-slow",
    requires: [runtimes, postgres],
    ...inFolder("segments/processes", { file: "slow.test.mjs" }),
  },
  {
    name: "local-storm",
    long: true,
    whyUnavailable: whyNoAddon,
    ...stateFile(120, { file: "storm.test.mjs" }),
  },
  { name: "segments-processes", requires: [runtimes, postgres], ...segmentsProcesses("postgres", 18) },
  ...["postgres", "mysql", "redis"].map((name) => ({
    name: `segments-processes-${name}-long`,
    long: true,
    requires: [runtimes, ...SERVERS[name]],
    ...segmentsProcesses(name, 180),
  })),
  ...Object.entries(SERVERS).flatMap(([name, servers]) => {
    const requires = [runtimes, faketime, ...servers];
    return [
      { name: `nemesis-${name}`, requires, ...nemesis(name, 27) },
      { name: `nemesis-${name}-long`, long: true, requires, ...nemesis(name, 400) },
    ];
  }),
  {
    name: "url-shortener",
    requires: [runtimes, browser, postgres],
    ...inFolder("url-shortener", { limitMs: 300_000 }),
  },
  { name: "stores-better-sqlite3", long: true, requires: [runtimes], run: betterSqlite3 },
  { name: "attacks-process", ...inFolder("attacks/process") },
  { name: "cli", ...inFolder("cli") },
  {
    name: "readme",
    whyUnavailable: whyNoAddon,
    env: { FRAZIL_BACKEND: "native" },
    ...inFolder("readme"),
  },
  { name: "node22", whyUnavailable: whyNoAddon, requires: [runtimes], ...inFolder("runtimes/node22") },
  { name: "node24", whyUnavailable: whyNoAddon, requires: [runtimes], ...inFolder("runtimes/node24") },
  { name: "bun", whyUnavailable: whyNoAddon, requires: [runtimes], ...inFolder("runtimes/bun") },
  { name: "deno", requires: [runtimes], ...inFolder("runtimes/deno") },
  { name: "workers-tools", requires: [runtimes, workersTools], ...inFolder("workers-tools") },
  { name: "workerd", requires: [runtimes], under: () => tools.node24, ...inFolder("runtimes/workerd") },
  { name: "chromium", requires: [runtimes, browser], ...inFolder("runtimes/chromium") },
  { name: "wasm-bindgen-node", ...wasmBindgen("node.test.mjs") },
  {
    name: "wasm-bindgen-chromium",
    requires: [runtimes, browser],
    ...wasmBindgen("chromium.test.mjs"),
  },
  { name: "reproducible", long: true, run: () => testFolder("reproducible", { limitMs: 1_800_000 }) },
  {
    name: "consumers",
    whyUnavailable: whyNoAddon,
    requires: [runtimes, browser],
    // The long half writes the record, docs/proofs/consumers.md. FRAZIL_CONSUMERS names single ones.
    run: () => {
      const half = values.long ? "--record" : "--fast";
      try {
        run(process.execPath, [`${root}tests-js/consumers/run.mjs`, half]);
      } finally {
        testFolder("consumers");
      }
    },
  },
  { name: "workers-load", requires: [runtimes], run: () => workersLoad(20) },
  { name: "workers-load-long", long: true, requires: [runtimes], run: () => workersLoad(180) },
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: "boolean" }, long: { type: "boolean" }, fix: { type: "boolean" } },
});
const defaultSuites = SUITES.filter(({ long }) => values.long || !long);
if (values.list) {
  process.stdout.write(`${SUITES.map(({ name, long }) => (long ? `${name} (long)` : name)).join("\n")}\n`);
  process.exit(0);
}
const unknown = positionals.filter((name) => !SUITES.some((suite) => suite.name === name));
if (unknown.length > 0) throw new Error(`unknown suite: ${unknown.join(", ")}; npm test -- --list names all suites`);

await setUp();
await rustTools();
if (values.fix) {
  cargo("fmt", "--all");
  formatOthers();
  run(`${bin}/biome`, ["check", "--write", "."]);
}
await build();

const chosen = positionals.length > 0 ? SUITES.filter(({ name }) => positionals.includes(name)) : defaultSuites;
const failed = [];
const skipped = [];

/** Counts a suite that failed, and shows why. */
function fail({ name }, reason) {
  failed.push(name);
  process.stderr.write(`${reason}\n`);
}

/** Installs what a suite needs. Resolves to whether it can run. */
async function isReady(suite) {
  const { requires = [], optional = [] } = suite;
  const reason = [suite, ...requires].map((part) => part.whyUnavailable?.()).find((reason) => reason !== undefined);
  if (reason !== undefined) {
    skipped.push(`${suite.name}: ${reason}`);
    return false;
  }
  try {
    for (const tool of [...requires, ...optional]) if (tool.whyUnavailable() === undefined) await tool.install();
    return true;
  } catch (error) {
    fail(suite, error.message);
    return false;
  }
}

for (let at = 0; at < chosen.length; ) {
  const suite = chosen[at];
  // Neighbours that run beside each other.
  const end = suite.beside ? chosen.findIndex(({ beside }, index) => index > at && !beside) : at + 1;
  const group = chosen.slice(at, end < 0 ? chosen.length : end);
  at += group.length;
  const ready = [];
  for (const each of group) if (await isReady(each)) ready.push(each);
  // One for each of the two processors that CI has.
  const inTurn = async () => {
    for (let each = ready.shift(); each !== undefined; each = ready.shift()) {
      const { name, beside, under, env, run } = each;
      const started = () => (beside ? runBeside(under?.() ?? process.execPath, beside(), env) : run());
      await step(name, started).catch((error) => fail({ name }, error.message));
    }
  };
  await Promise.all([inTurn(), inTurn()]);
}
if (skipped.length > 0) {
  process.stdout.write(
    `\nSkipped on this machine:\n${skipped.map((line) => `  ${line}\n`).join("")}Where they can run: npm test -- NAME\n`,
  );
}
if (failed.length > 0)
  process.stdout.write(`\nFailed: ${failed.join(", ")}. To repeat: npm test -- ${failed.join(" ")}\n`);
process.stdout.write(
  `\n${chosen.length - failed.length - skipped.length} passed, ${failed.length} failed, ${skipped.length} skipped\n`,
);
// In CI a skipped suite is a failure.
process.exitCode = failed.length > 0 || (process.env.CI && skipped.length > 0) ? 1 : 0;
