// The suites that `npm run test:all` adds. The fields of a suite are those of `suites.mjs`.
import { OTHER_SYSTEMS, rustTarget } from "../setup.mjs";
import { root, run } from "../shell.mjs";
import {
  browser,
  cryptography,
  denier,
  etcd,
  faketime,
  fileSystems,
  fuzzer,
  go,
  java,
  mariadb,
  miri,
  orms,
  pgbouncer,
  postgres,
  postgres18,
  redis,
  runtimes,
  siteTools,
  sqlEngines,
  tools,
  valgrind,
  valkey,
  workersTools,
  zookeeper,
} from "../tools.mjs";
import {
  cargo,
  cargoLoom,
  cargoTest,
  coreTest,
  coreTestsOf,
  LONG_CORE_TESTS,
  miriTests,
  onBackend,
  oracle,
  runTests,
  stateFileTests,
  stateFileTestsAtOnce,
  testsOf,
  WASM_TARGET,
  whyNoAddon,
} from "./commands.mjs";
import { ATTACKS, FAILURES, MILLIONS, QUICK_FILES, README } from "./quick-suites.mjs";

/** The lease stores that have a server, and what their tests need. */
export const SERVERS = {
  postgres: [postgres],
  mysql: [mariadb],
  redis: [redis, valkey],
  etcd: [etcd],
  zookeeper: [zookeeper],
};

async function lintRust() {
  (await import("../checks/module-cycles.mjs")).moduleCycles();
  const clippy = (...args) => cargo("clippy", "--locked", "--quiet", ...args);
  const strict = ["--", "-D", "warnings"];
  const plain = ["frazil", "frazil-audit", "frazil-local", "frazil-reference", "xtask"].flatMap((name) => ["-p", name]);
  clippy(...plain, "--all-targets", "--all-features", ...strict);
  for (const target of OTHER_SYSTEMS) {
    await rustTarget(target);
    clippy("-p", "frazil-local", "-p", "frazil-napi", "--target", target, ...strict);
  }
  cargoLoom("clippy", "--lib", "--test", "loom", ...strict);
  clippy("-p", "frazil-napi", "--all-targets", ...strict);
  clippy("-p", "frazil-no-panic", ...strict);
  clippy("-p", "frazil-instructions", "--all-features", ...strict);
  for (const name of ["frazil-wasm", "frazil-wasm-audit", "frazil-wasm-public"])
    clippy("-p", name, ...WASM_TARGET, ...strict);
  clippy("-p", "frazil-wasm", "--tests", "--features", "std", ...WASM_TARGET, ...strict);
}

/** The tests that the quick suite `core` and the optimised tests of the core leave out. */
async function testRust() {
  coreTestsOf(LONG_CORE_TESTS);
  cargoTest("-p", "frazil", "--all-features", "--doc");
  cargoTest("-p", "frazil-audit");
  // Without the `std` feature no random key can be drawn.
  cargoTest("-p", "frazil", "--no-default-features", "--test", "registry");
  await stateFileTestsAtOnce();
  stateFileTests("--doc");
  // The rule of two copies of the addon. The rest of it runs only in Node.
  cargoTest("-p", "frazil-napi", "--test", "copies");
  cargoTest("-p", "frazil-reference", "-p", "xtask");
  cargo("check", "--locked", "--quiet", "-p", "frazil", "--no-default-features", ...WASM_TARGET);
}

/** Lets processes draw numbers of segments from a store while faults strike them, for that many seconds. */
export const segmentsProcesses = (store, seconds) => ({
  waits: true,
  requires: [runtimes, ...SERVERS[store]],
  env: { FRAZIL_SEGMENTS_STORE: store, FRAZIL_SEGMENTS_S: String(seconds) },
  ...testsOf("segment/processes/processes.test.mjs", { limitMs: 1000 * (3 * seconds + 300) }),
});

/** Lets processes mint under leases while faults strike them: for that many seconds, and then for half as many. */
export const nemesis = (store, seconds) => ({
  waits: true,
  requires: [runtimes, faketime, ...SERVERS[store]],
  env: { FRAZIL_NEMESIS_STORE: store, FRAZIL_NEMESIS_S: String(seconds) },
  ...testsOf("lease/processes", { limitMs: 1000 * (4 * seconds + 300) }),
});

/** Loads isolates of a Worker while faults strike them: for that many seconds, and then a broken object. */
export const workersLoad = (seconds) => ({
  requires: [runtimes],
  env: { FRAZIL_WORKERS_LOAD_S: String(seconds) },
  run: () => runTests("workers/load", { limitMs: 1000 * (3 * seconds + 300) }),
});

/** The tests of the state file. The stress test ("storm") lasts that many seconds. */
export const stateFile = (seconds, paths = "local") => ({
  waits: true,
  whyUnavailable: whyNoAddon,
  env: { FRAZIL_STORM_S: String(seconds) },
  // One file at a time: a process in a mount namespace keeps the mounts of concurrent tests busy.
  ...testsOf(paths, { serial: true, ownRoot: true }),
});

/** Installs and runs the packed package in each tool and runtime. FRAZIL_CONSUMERS names single ones. */
export const consumers = (half) => ({
  whyUnavailable: whyNoAddon,
  requires: [runtimes, browser],
  run: () => {
    try {
      run(process.execPath, [`${root}tests-js/consumers/run.mjs`, half]);
    } finally {
      runTests("consumers");
    }
  },
});

/** Builds the site, and reads it in Chromium. */
async function testSite() {
  run(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "-p", "site"]);
  await (await import("../site/index.mjs")).buildSite();
  // Each page is opened three times. The limit ends what hangs.
  runTests("site", { limitMs: 900_000 });
}

/** The tests at paths that are not quick. */
const othersOf = (paths, options) => testsOf(paths, { ...options, except: [...QUICK_FILES, ...README] });

/** Tests of a store, with a limit that ends what hangs. */
const store = (name, ...requires) => ({
  name: `stores-${name}`,
  waits: true,
  requires: [runtimes, ...requires],
  ...othersOf(`stores/${name}`),
});

export const ALL_SUITES = [
  // The longest of those without `nodeArguments`.
  { name: "site", requires: [runtimes, browser, siteTools], run: testSite },
  { name: "lint-rust", run: lintRust },
  { name: "rust", run: testRust },
  { name: "oracle", run: () => oracle(100_000) },
  // Every state of small layouts; every history of a small fleet; 10,000 simulations each, with their mutants.
  ...["exhaustive", "lease-model", "lease-simulation", "segment-simulation", "ceiling-simulation"].map((name) => ({
    name,
    run: () => coreTest(name.replace("-", "_")),
  })),
  {
    name: "rust-docs",
    run: () =>
      run(
        "cargo",
        ["doc", "--locked", "--quiet", "-p", "frazil", "-p", "frazil-local", "--all-features", "--no-deps"],
        { env: { ...process.env, RUSTDOCFLAGS: "-D warnings" } },
      ),
  },
  { name: "crates", run: async () => (await import("../release/crates.mjs")).testPackedCrates() },
  { name: "deny", requires: [denier], run: async () => (await import("../release/crates.mjs")).deny() },
  { name: "loom", run: () => cargoLoom("test", "--test", "loom") },
  { name: "miri", requires: [miri], run: () => miriTests(16) },
  { name: "no-panic", run: async () => (await import("../checks/cargo.mjs")).noPanic() },
  {
    name: "instructions",
    whyUnavailable: async () => (await import("../checks/instructions.mjs")).whyNotComparable(),
    requires: [valgrind],
    run: async () => {
      runTests("scripts/instructions.test.mjs");
      (await import("../checks/instructions.mjs")).instructions();
    },
  },
  { name: "fuzz", requires: [fuzzer], run: async () => (await import("../checks/cargo.mjs")).fuzz(10) },
  { name: "leases-wasm", requires: [runtimes], waits: true, ...onBackend("lease", "wasm", { except: MILLIONS }) },
  { name: "segments-wasm", requires: [runtimes], waits: true, ...onBackend("segment", "wasm", { except: MILLIONS }) },
  { name: "suites-failures", ...testsOf(FAILURES) },
  // They only compute. The limit ends what hangs.
  ...["workers", "segmented", "lease-driver"].map((name) => ({
    name: `${name}-simulation`,
    ...testsOf(`simulations/${name}`, { limitMs: 900_000 }),
  })),
  { name: "attacks-native", ...onBackend(ATTACKS, "native") },
  { name: "attacks-wasm", ...onBackend(ATTACKS, "wasm") },
  { name: "millions-native", ...onBackend(MILLIONS, "native") },
  { name: "millions-wasm", ...onBackend(MILLIONS, "wasm") },
  {
    name: "clock-steps",
    waits: true,
    whyUnavailable: whyNoAddon,
    requires: [faketime],
    ...testsOf("generator/clock-steps"),
  },
  {
    name: "swaps",
    whyUnavailable: whyNoAddon,
    requires: [runtimes],
    ...testsOf("generator/swaps", { limitMs: 900_000 }),
  },
  {
    name: "transport",
    waits: true,
    requires: [runtimes, postgres],
    node: tools.node24,
    ...othersOf("transport"),
  },
  {
    name: "typed-orms",
    waits: true,
    requires: [runtimes, orms, postgres, mariadb],
    node: tools.node24,
    ...testsOf("typed/orms"),
  },
  {
    name: "sql",
    waits: true,
    requires: [runtimes, postgres, mariadb, sqlEngines],
    node: tools.node24,
    ...testsOf("sql"),
  },
  {
    name: "pages-databases",
    waits: true,
    requires: [runtimes, postgres, mariadb],
    node: tools.node24,
    ...othersOf("pages"),
  },
  { name: "sql-next", waits: true, requires: [runtimes, postgres, pgbouncer], ...testsOf("sql/next") },
  {
    name: "sql-next-18",
    waits: true,
    requires: [runtimes, postgres, postgres18],
    env: { FRAZIL_POSTGRES: tools.postgres18 },
    ...testsOf(["columns", "crashes", "installs", "leases", "moves"].map((name) => `sql/next/${name}.test.mjs`)),
  },
  { name: "local", ...stateFile(20), optional: [faketime, fileSystems] },
  // A release is packed and published several times, on a machine that may have other work: the limit ends what hangs.
  { name: "packaging", optional: [runtimes, browser], ...testsOf("packaging", { limitMs: 900_000 }) },
  { name: "workers", waits: true, requires: [runtimes], ...testsOf("workers") },
  {
    name: "stores",
    waits: true,
    requires: [runtimes, postgres, mariadb, redis, etcd],
    ...othersOf(["stores", "stores/kit"]),
  },
  store("postgres", postgres, pgbouncer),
  store("mysql", mariadb, faketime),
  store("redis", redis, valkey, faketime),
  store("etcd", etcd),
  store("zookeeper", zookeeper),
  store("sqlite"),
  store("durable-object"),
  store("d1"),
  {
    name: "public-languages",
    waits: true,
    requires: [runtimes, postgres, cryptography, go, java],
    ...testsOf("public/languages"),
  },
  {
    name: "migrating",
    waits: true,
    requires: [runtimes, faketime, mariadb, zookeeper],
    ...testsOf("stores/migrating", { limitMs: 600_000 }),
  },
  {
    name: "serverless",
    waits: true,
    requires: [runtimes, postgres],
    ...testsOf("lease/serverless"),
  },
  {
    name: "segments-slow",
    waits: true,
    requires: [runtimes, postgres],
    ...testsOf("segment/processes/slow.test.mjs"),
  },
  { name: "segments-processes", ...segmentsProcesses("postgres", 18) },
  ...Object.keys(SERVERS).map((name) => ({ name: `nemesis-${name}`, ...nemesis(name, 27) })),
  {
    name: "url-shortener",
    waits: true,
    requires: [runtimes, browser, postgres],
    ...testsOf("url-shortener"),
  },
  {
    name: "typed-api",
    waits: true,
    requires: [runtimes, browser, postgres],
    node: tools.node24,
    ...testsOf("typed-api"),
  },
  { name: "attacks-process", ...testsOf("core/binding", { ownRoot: true }) },
  { name: "cli", ...othersOf("cli", { ownRoot: true }) },
  // A million IDs of each incident. The limit ends what hangs.
  {
    name: "audit",
    waits: true,
    requires: [runtimes, postgres, sqlEngines],
    ...testsOf("audit", { limitMs: 900_000 }),
  },
  { name: "node22", whyUnavailable: whyNoAddon, requires: [runtimes], ...testsOf("runtimes/node22") },
  { name: "bun", whyUnavailable: whyNoAddon, requires: [runtimes], ...testsOf("runtimes/bun") },
  { name: "deno", requires: [runtimes], ...testsOf("runtimes/deno") },
  { name: "workers-tools", waits: true, requires: [runtimes, workersTools], ...testsOf("workers/tools") },
  // It compiles its tests within the limit.
  { name: "wasm-bindgen", ...testsOf("runtimes/wasm-bindgen", { limitMs: 900_000 }) },
  { name: "consumers", ...consumers("--fast") },
  { name: "workers-load", ...workersLoad(20) },
];
