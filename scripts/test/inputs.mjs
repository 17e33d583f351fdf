// The tracked files that each suite reads, coarse on purpose. `npm run test:all -- --check-inputs` runs each suite with nothing else. This
// file is no input: a change of one list leaves the rows of the other suites.

/** Files that are there and do not count: this one, and what suites write or only CI reads. */
export const NOT_INPUTS = [
  "scripts/test/inputs.mjs",
  "docs/proofs/passed.json",
  "docs/proofs/flakes.json",
  "docs/proofs/consumers.md",
  "docs/proofs/mutants.md",
];

/** The runner, and what all suites have in common. */
export const RUNNER = [
  "package.json",
  "package-lock.json",
  "scripts/setup.mjs",
  "scripts/shell.mjs",
  "scripts/tools.mjs",
  "scripts/test",
];

/** Cargo reads the manifest of each crate. */
const CRATES = ["Cargo.toml", "Cargo.lock", "crates"];

/** The inputs of the addon, the module and the package. */
const PACKAGE = [...CRATES, "npm", "scripts/build", "scripts/platforms/index.mjs", "LICENSE-MIT", "LICENSE-APACHE"];

/** What tests in JavaScript have in common. */
const TESTS = [
  ...PACKAGE,
  "tests-js/package.json",
  "tests-js/package-lock.json",
  ...["base", "core", "generator", "local", "pages", "processes", "vectors"].map((name) => `tests-js/${name}`),
];

/** Tests that start servers, or a Worker. */
const WITH_SERVERS = [...TESTS, "tests-js/stores"];
const SIMULATIONS = [...TESTS, "tests-js/lease", "tests-js/simulations"];
const PAGES = ["docs", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples"];
const MIGRATING = [...WITH_SERVERS, "docs/guides/migrating"];
const RUNTIMES = [...TESTS, "tests-js/runtimes"];
const PACKED = [...WITH_SERVERS, ...RUNTIMES, ...PAGES, "tests-js/packaging", "scripts"];
const STORES = [
  ...MIGRATING,
  "tests-js/cli/cli.mjs",
  "tests-js/segment",
  "docs/reference/stores.md",
  "docs/reference/stores",
  "docs/guides/segments.md",
  "docs/guides/serverless.md",
  "docs/guides/leases.md",
];
const PROCESSES = [...WITH_SERVERS, "tests-js/segment", "docs/guides/segments.md"];

const OF_SUITE = {
  ...Object.fromEntries(
    [
      "oracle",
      "exhaustive",
      "lease-model",
      "lease-simulation",
      "segment-simulation",
      "ceiling-simulation",
      "rust-docs",
      "loom",
    ].map((name) => [name, CRATES]),
  ),
  "lint-rust": [...CRATES, "scripts/checks/module-cycles.mjs"],
  rust: [...CRATES, "npm/frazil/src/generated"],
  crates: [
    ...CRATES,
    "scripts/release/crates.mjs",
    "scripts/packages.mjs",
    "scripts/release/versions.mjs",
    // The version stands in these as well.
    "examples",
    "npm",
    "LICENSE-MIT",
    "LICENSE-APACHE",
  ],
  deny: [...CRATES, "deny.toml", "scripts/release/crates.mjs", "scripts/packages.mjs", "scripts/release/versions.mjs"],
  miri: CRATES,
  "no-panic": [...CRATES, "scripts/checks/cargo.mjs"],
  fuzz: [...CRATES, "scripts/checks/cargo.mjs"],
  mutants: [...CRATES, "scripts/checks/cargo.mjs", ".cargo"],
  instructions: [
    ...CRATES,
    "scripts/checks/instructions.mjs",
    "tests-js/scripts/instructions.test.mjs",
    "docs/reference/benchmarks/instructions.json",
  ],
  leases: [...TESTS, "tests-js/lease", "tests-js/stores", "docs/guides/leases.md"],
  segments: PROCESSES,
  "workers-simulation": SIMULATIONS,
  "segmented-simulation": SIMULATIONS,
  "lease-driver-simulation": SIMULATIONS,
  "suites-failures": ["tests-js/scripts/test/failures.test.mjs"],
  attacks: [...TESTS, "tests-js/layout", "tests-js/text"],
  millions: [...TESTS, "tests-js/lease", "tests-js/segment"],
  "clock-steps": TESTS,
  transport: [...WITH_SERVERS, ...PAGES, "tests-js/transport"],
  "typed-orms": [...WITH_SERVERS, "tests-js/typed/orms"],
  typed: [...TESTS, "tests-js/typed", "tests-js/types", "docs/guides/typed-ids.md"],
  sql: [...WITH_SERVERS, "tests-js/sql"],
  "pages-databases": [...WITH_SERVERS, ...PAGES],
  "sql-next": [...WITH_SERVERS, "tests-js/sql"],
  swaps: RUNTIMES,
  "swaps-arm64": [...RUNTIMES, "scripts/platforms"],
  local: [...TESTS, "scripts/platforms/test-local.mjs", "docs/guides/local.md", "docs/proofs/local-platforms.json"],
  packaging: [...PACKED, ".ci", ".github", "tests-js/types", "tests-js/consumers", "biome.jsonc", ".gitignore"],
  workers: [...WITH_SERVERS, "tests-js/workers", "tests-js/transport", "docs/guides/workers.md"],
  stores: [...STORES, "tests-js/cli/cli.mjs"],
  "public-languages": [...WITH_SERVERS, "tests-js/public/languages", "docs/guides/public-ids.md"],
  migrating: MIGRATING,
  serverless: [...WITH_SERVERS, "tests-js/lease", "docs/guides/serverless.md"],
  nemesis: [...WITH_SERVERS, "tests-js/lease"],
  "url-shortener": [...WITH_SERVERS, "tests-js/url-shortener", "tests-js/packaging", "scripts", "examples"],
  "typed-api": [
    ...WITH_SERVERS,
    ...["packaging", "runtimes/chromium", "typed-api", "url-shortener"].map((name) => `tests-js/${name}`),
    "scripts",
    "examples",
  ],
  site: [
    ...TESTS,
    ...PAGES,
    "site",
    "scripts/site",
    "scripts/packages.mjs",
    "scripts/release/repository.mjs",
    "tests-js/runtimes/chromium/browser.mjs",
    "tests-js/site",
  ],
  cli: [...TESTS, "tests-js/cli", "docs/reference/cli.md", "docs/guides/public-ids.md"],
  audit: [
    ...WITH_SERVERS,
    "tests-js/audit",
    "tests-js/simulations/world.mjs",
    "tests-js/cli/cli.mjs",
    "docs/guides/audit.md",
  ],
  node22: RUNTIMES,
  bun: RUNTIMES,
  deno: RUNTIMES,
  "workers-tools": [...PACKED, "tests-js/workers/tools", "tests-js/types"],
  "wasm-bindgen": RUNTIMES,
  consumers: [...PACKED, "tests-js/consumers", "tests-js/types"],
  "workers-load": [...WITH_SERVERS, "tests-js/workers/load"],
  reproducible: [...PACKED, "tests-js/scripts/reproducible.test.mjs"],
};

/** The inputs of a suite: those of its name, or of the longest name that it begins with. */
export function inputsOf({ name }) {
  const found = Object.keys(OF_SUITE)
    .filter((prefix) => name === prefix || name.startsWith(`${prefix}-`))
    .sort((a, b) => b.length - a.length)[0];
  if (found === undefined) throw new Error(`scripts/test/inputs.mjs has no inputs of ${name}`);
  return [...new Set(OF_SUITE[found])];
}
