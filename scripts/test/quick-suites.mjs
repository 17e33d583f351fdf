// The suites of `npm test`. The fields of a suite are those of `suites.mjs`.
import { dirname } from "node:path";
import { root, run } from "../shell.mjs";
import { browser, postgres, runtimes, tools } from "../tools.mjs";
import {
  cargo,
  coreTestsBut,
  LONG_CORE_TESTS,
  onBackend,
  runTests,
  stateFileTests,
  testsOf,
  whyNoAddon,
} from "./commands.mjs";

/** The rooms of the package whose tests run on both backends. */
const ROOMS = ["base", "core", "generator"];
/** Those that are the same on each backend, as are these files of the others: they run once. */
const ROOMS_ONCE = [
  "layout",
  "likely",
  "public/page.test.mjs",
  "public/public.test.mjs",
  "testing",
  "text",
  "transport/transport.test.mjs",
  "typed",
];
const ONCE = [
  "base/clock.test.mjs",
  // `base/bad-input.test.mjs` compares error texts on both backends.
  "base/errors.test.mjs",
  "base/mistakes.test.mjs",
  "base/printed-copies.test.mjs",
  "base/secrets.test.mjs",
  // It chooses the backend.
  "core/big-endian.test.mjs",
];
/** Thousands of leases and millions of calls. The suites `millions-*`. */
export const MILLIONS = ["generator/millions.test.mjs", "lease/leaks.test.mjs", "segment/many-waiting.test.mjs"];
/** The slow files of these: code of the caller that throws, lies, or calls back in the middle of a call. The suites `attacks-*`. */
export const ATTACKS = [
  "base/accessors-on-arrays.test.mjs",
  "base/hostile-input.test.mjs",
  "base/options-with-a-class.test.mjs",
  "base/polluted-prototypes.test.mjs",
  "core/other-realms.test.mjs",
  "generator/clocks-that-call-back.test.mjs",
  "generator/clocks-that-throw.test.mjs",
  "generator/closed-in-mid-call.test.mjs",
  "generator/detached-targets.test.mjs",
  "generator/filled-elements.test.mjs",
  "generator/forgotten-generators.test.mjs",
  "generator/handmade-signals.test.mjs",
  "generator/order-after-an-abort.test.mjs",
  "generator/reentrant-fill.test.mjs",
  "generator/turns.test.mjs",
  "layout/changed-layouts.test.mjs",
  "layout/decoded-copies.test.mjs",
  "text/lying-lists.test.mjs",
];
/** The programs of all pages, without servers. */
export const README = [
  "pages/architecture.test.mjs",
  "pages/errors.test.mjs",
  "pages/examples.test.mjs",
  "pages/links.test.mjs",
  "pages/readme.test.mjs",
];

/** What failures of suites mean: dozens of runs of Node's test runner. The suite `suites-failures`. */
export const FAILURES = "scripts/test/failures.test.mjs";

/** The quick files of folders whose other files are in suites of `test:all`. */
export const QUICK_FILES = [
  "cli/commands.test.mjs",
  // The record is no input of the suite that writes it.
  "consumers/record.test.mjs",
  "pages/migrating.test.mjs",
  "pages/types.test.mjs",
  // The contract with stores in memory, SQLite and Postgres.
  "stores/contract.test.mjs",
  "stores/segment-contract.test.mjs",
  "stores/sqlite/contract.test.mjs",
  "stores/postgres/contract.test.mjs",
  // In the suites of each backend.
  "transport/transport.test.mjs",
];
const quickOf = (folder, options) =>
  testsOf(
    QUICK_FILES.filter((path) => dirname(path) === folder),
    options,
  );

export const QUICK_SUITES = [
  // In a clone that was never built it is the build, so it is the first.
  { name: "start", run: () => runTests("scripts/start.test.mjs", { limitMs: 1_200_000 }) },
  {
    name: "format",
    run: async () => {
      cargo("fmt", "--all", "--check");
      (await import("../checks/cargo.mjs")).formatOthers("--check");
      run(`${root}node_modules/.bin/biome`, ["ci", "--error-on-warnings", "."]);
      (await import("../checks/columns.mjs")).checkColumns();
    },
  },
  {
    name: "claims",
    run: () => {
      run(process.execPath, [`${root}scripts/checks/claims.mjs`]);
      runTests(["scripts/mutants.test.mjs", "scripts/claims.test.mjs", "scripts/proofs.test.mjs"]);
    },
  },
  {
    name: "core",
    run: () => {
      coreTestsBut(LONG_CORE_TESTS);
      stateFileTests("--lib");
    },
  },
  // Those that wait beside those that compute.
  { name: "types", ...onBackend("types", "wasm") },
  { name: "vectors-native", ...onBackend("vectors", "native") },
  { name: "vectors-wasm", ...onBackend("vectors", "wasm") },
  { name: "api-native", ...onBackend(ROOMS, "native", { except: [...ATTACKS, ...ONCE, ...MILLIONS], ownRoot: true }) },
  { name: "stores-sqlite-contract", requires: [runtimes], waits: true, ...quickOf("stores/sqlite") },
  { name: "stores-postgres-contract", requires: [runtimes, postgres], waits: true, ...quickOf("stores/postgres") },
  { name: "api-wasm", ...onBackend([...ROOMS, ...ROOMS_ONCE], "wasm", { except: [...ATTACKS, ...MILLIONS] }) },
  { name: "leases-native", requires: [runtimes], waits: true, ...onBackend("lease", "native", { except: MILLIONS }) },
  {
    name: "readme",
    whyUnavailable: whyNoAddon,
    env: { FRAZIL_BACKEND: "native" },
    ...testsOf(README, { ownRoot: true }),
  },
  {
    name: "segments-native",
    requires: [runtimes],
    waits: true,
    ...onBackend("segment", "native", { except: MILLIONS }),
  },
  { name: "suites", ...testsOf("scripts/test", { except: [FAILURES] }) },
  { name: "workerd", requires: [runtimes], waits: true, node: tools.node24, ...testsOf("runtimes/workerd") },
  { name: "typed", requires: [runtimes], node: tools.node24, ...testsOf("typed/with") },
  { name: "cli-commands", ...quickOf("cli", { ownRoot: true }) },
  { name: "chromium", requires: [runtimes, browser], waits: true, ...testsOf("runtimes/chromium") },
  { name: "node24", whyUnavailable: whyNoAddon, requires: [runtimes], ...testsOf("runtimes/node24") },
  { name: "consumers-record", ...quickOf("consumers") },
  { name: "stores-contract", requires: [runtimes], waits: true, ...quickOf("stores") },
  { name: "pages", requires: [runtimes], waits: true, node: tools.node24, ...quickOf("pages") },
];
