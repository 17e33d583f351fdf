// What suites run: cargo, Node's test runner on folders of `tests-js`, and the checks of other scripts.
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { promisify } from "node:util";
import { isLinuxX64Gnu, root, run } from "../shell.mjs";

export const WASM_TARGET = ["--target", "wasm32-unknown-unknown"];
const REPORTER = `--test-reporter=${root}scripts/test/reporter.mjs`;
const FILE_LIMIT = `--import=${root}scripts/test/file-limit.mjs`;

export const cargo = (...args) => run("cargo", args);
/** Names each program of tests, with a dot for each of its tests. */
export const cargoTest = (...args) => cargo("test", "--locked", ...args, "--", "--quiet");

/** Runs a program where no other one locks the directories above its state files. */
const OWN_ROOT = `${root}scripts/test/own-root.mjs`;

/** Runs the tests of the crate that keeps state files. */
export const stateFileTests = (...args) =>
  run(process.execPath, [OWN_ROOT, "cargo", "test", "--locked", "-p", "frazil-local", ...args, "--", "--quiet"]);

/** Runs the files of its `tests` folder at the same time, since they wait most of it. Shows the output of each when it has ended. */
export async function stateFileTestsAtOnce() {
  const build = ["test", "--locked", "--quiet", "-p", "frazil-local", "--test", "*", "--no-run"];
  const messages = execFileSync("cargo", [...build, "--message-format=json-render-diagnostics"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const programs = messages
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ profile, executable }) => profile?.test && executable);
  const names = readdirSync(`${root}crates/local/tests`).filter((name) => name.endsWith(".rs"));
  if (programs.length !== names.length) throw new Error(`cargo has built ${programs.length} of ${names.length} tests`);
  const failed = [];
  const runProgram = async ({ target, executable }) => {
    const args = [OWN_ROOT, executable, "--quiet"];
    const running = promisify(execFile)(process.execPath, args, { cwd: `${root}crates/local`, maxBuffer: 2 ** 28 });
    const { stdout, stderr, message } = await running.catch((error) => error);
    process.stdout.write(`${target.name}\n${stdout}${stderr}`);
    if (message !== undefined) failed.push(target.name);
  };
  await Promise.all(programs.map(runProgram));
  if (failed.length > 0) throw new Error(`tests of frazil-local failed: ${failed.join(", ")}`);
}

/**
 * Runs cargo on the loom models, in their own target folder: their `--cfg` flag would otherwise rebuild everything, here and again for
 * the next suite.
 */
export function cargoLoom(command, ...args) {
  const target = `${process.env.CARGO_TARGET_DIR ?? `${root}target`}/loom`;
  const chosen = ["-p", "frazil", "--features", "loom,abi", "--profile", "loom", "--target-dir", target];
  run("cargo", [command, "--locked", "--quiet", ...chosen, ...args], {
    env: { ...process.env, RUSTFLAGS: "--cfg frazil_loom" },
  });
}

function cargoMiri(flags, ...args) {
  run("cargo", ["+nightly", "miri", "test", "--locked", "--quiet", "-p", "frazil", "--all-features", ...args], {
    env: { ...process.env, MIRIFLAGS: flags },
  });
}

/** Runs tests of the core under Miri, with that many seeds. s390x is big-endian. */
export function miriTests(seeds, { docs = false } = {}) {
  cargoMiri(`-Zmiri-many-seeds=0..${seeds}`, "--test", "threads");
  const bigEndian = ["--target", "s390x-unknown-linux-gnu"];
  cargoMiri("", ...bigEndian, "--test", "registry", "--test", "threads");
  // The doc examples read the wall clock, which Miri allows only without isolation.
  if (docs) cargoMiri("-Zmiri-disable-isolation", ...bigEndian, "--doc");
}

const OPTIMISED = ["test", "--locked", "--quiet", "--release", "-p", "frazil"];
const OPTIMISED_TESTS = [
  "ceiling_simulation",
  "exhaustive",
  "lease_model",
  "lease_simulation",
  "oracle",
  "segment_simulation",
  "text",
];
const named = (tests) => tests.flatMap((name) => ["--test", name]);

/** Runs tests of the core, optimised. All such tests are compiled at once, which takes less than one by one. */
function optimised(tests, args, env) {
  // As in a build without optimisation, a number that is too large is a panic.
  const checked = { ...process.env, CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS: "true" };
  run("cargo", [...OPTIMISED, "--no-run", ...named(OPTIMISED_TESTS)], { env: checked });
  run("cargo", [...OPTIMISED, ...named(tests), ...args], { env: { ...checked, ...env } });
}

/** Runs the property tests of the core with that many cases each. */
export const oracle = (cases) => optimised(["oracle", "text"], [], { PROPTEST_CASES: String(cases) });

/** The tests of the core that no other suite runs; and `text`, which is quick without optimisation too. */
function coreTests() {
  const folder = `${root}crates/core/tests`;
  return readdirSync(folder)
    .filter((name) => name.endsWith(".rs") || existsSync(`${folder}/${name}/main.rs`))
    .map((name) => name.replace(".rs", ""))
    .filter((name) => name === "text" || !["loom", ...OPTIMISED_TESTS].includes(name));
}

/** Parts of the names of the core's tests that compute for seconds each. The suite `rust` runs them. */
export const LONG_CORE_TESTS = ["a_million_", "two_million_", "any_readings_of_both_clocks_"];

const CORE = ["test", "--locked", "-p", "frazil", "--all-features", "--lib"];

/** Runs the tests of `coreTests`, and those in the crate, but those whose names contain one of the texts. */
export const coreTestsBut = (texts) =>
  cargo(...CORE, ...named(coreTests()), "--", "--quiet", ...texts.flatMap((text) => ["--skip", text]));

/** Runs those that it leaves. */
export const coreTestsOf = (texts) => cargo(...CORE, ...named(coreTests()), "--", "--quiet", ...texts);

/**
 * Runs an exhaustive or random test of the core. It prints what it covered, and fails if that was too little. Each test has its own
 * threads, except `lease_model`, whose tests run at the same time.
 */
export const coreTest = (name, env) =>
  optimised([name], ["--", "--nocapture", ...(name === "lease_model" ? [] : ["--test-threads=1"])], env);

/** The files of tests that a path below `tests-js` stands for: its own, or those in the folder, but not in the folders there. */
function testsAt(path) {
  if (path.endsWith(".test.mjs")) return [path];
  const names = readdirSync(`${root}tests-js/${path}`).filter((name) => name.endsWith(".test.mjs"));
  if (names.length === 0) throw new Error(`tests-js/${path} has no tests`);
  return names.map((name) => `${path}/${name}`);
}

/**
 * The arguments of Node that run tests: those at `paths`, one or several, less the files that `except` names. A test that takes longer
 * than `limitMs` counts as hanging. `serial`: one file at a time (default: one for each processor but one). `ownRoot`: the tests open
 * state files.
 */
function testArguments(paths, { except = [], limitMs = 300_000, serial = false, ownRoot = false } = {}) {
  const chosen = [paths].flat().flatMap(testsAt);
  const files = chosen.filter((path) => !except.includes(path)).map((path) => `${root}tests-js/${path}`);
  for (const file of files) if (!existsSync(file)) throw new Error(`there is no ${file}`);
  const concurrency = serial ? ["--test-concurrency=1"] : [];
  const through = ownRoot ? [OWN_ROOT, process.execPath] : [];
  return [...through, FILE_LIMIT, "--test", `--test-timeout=${limitMs}`, REPORTER, ...concurrency, ...files];
}

/** Runs the tests at paths, in a suite that does more. */
export const runTests = (paths, options) => run(process.execPath, testArguments(paths, options));

/** A suite that runs the tests at paths. */
export const testsOf = (paths, options) => ({ nodeArguments: () => testArguments(paths, options) });

/** The same, on a backend. */
export const onBackend = (paths, backend, options) => ({
  ...(backend === "native" && { whyUnavailable: whyNoAddon }),
  env: { FRAZIL_BACKEND: backend },
  ...testsOf(paths, options),
});

export const whyNoAddon = () => (isLinuxX64Gnu ? undefined : "the tests of the addon run on Linux x64 with glibc");
