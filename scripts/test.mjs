// `npm test`: sets up and builds what is missing, then runs every suite, a line and the minutes for each.
//
//   npm test                      every suite
//   npm test -- rust workerd      those suites
//   npm test -- --list            their names
//   npm run test:long             the long ones too
//   npm run ready                 formats and mends first, then every suite
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { formatFuzz, fuzz, fuzzer, mutants, mutator, noPanic } from "./proofs.mjs";
import { OTHER_SYSTEMS, rustTarget, rustTools, setUp } from "./setup.mjs";
import { isLinuxX64Gnu, root, run, step } from "./shell.mjs";
import { browser, faketime, fileSystems, miri, runtimes, tools } from "./tools.mjs";

const bin = `${root}node_modules/.bin`;
const wasm = ["--target", "wasm32-unknown-unknown"];
const cargo = (...args) => run("cargo", args);
const files = (folder) =>
  readdirSync(`${root}tests-js/${folder}`)
    .filter((name) => name.endsWith(".test.mjs"))
    .map((name) => `${root}tests-js/${folder}/${name}`);

/** Runs cargo on the models of loom, whose cfg would otherwise make it build everything anew, here and for the next suite. */
function cargoLoom(command, ...args) {
  const target = `${process.env.CARGO_TARGET_DIR ?? `${root}target`}/loom`;
  const chosen = ["-p", "frazil", "--features", "loom,page", "--profile", "loom", "--target-dir", target];
  run("cargo", [command, "--locked", "--quiet", ...chosen, ...args], {
    env: { ...process.env, RUSTFLAGS: "--cfg frazil_loom" },
  });
}

/** Runs tests of the core in Miri. */
function cargoMiri(flags, ...args) {
  run("cargo", ["+nightly", "miri", "test", "--locked", "--quiet", "-p", "frazil", "--all-features", ...args], {
    env: { ...process.env, MIRIFLAGS: flags },
  });
}

/** Runs the tests of a folder of tests-js on a backend. */
function node(folder, backend) {
  run(process.execPath, ["--test", "--test-timeout=120000", "--test-reporter=dot", ...files(folder)], {
    env: { ...process.env, FRAZIL_BACKEND: backend },
  });
}

/** Runs the tests of a folder, or one of its files, that start what they test themselves. What takes so long hangs. */
function start(folder, { file = "", under = process.execPath, limitMs = 120_000, serial = false } = {}) {
  const chosen = files(folder).filter((path) => path.endsWith(file));
  const apart = serial ? ["--test-concurrency=1"] : [];
  run(under, ["--test", `--test-timeout=${limitMs}`, "--test-reporter=dot", ...apart, ...chosen]);
}

/** Runs the tests of crates/wasm in a runtime. They compile first, and the limit is that of a whole file. */
const wasmBindgen = (file) => start("runtimes/wasm-bindgen", { file, limitMs: 900_000 });

/** Runs the properties of the core, with that many cases each. */
const oracle = (cases) =>
  run("cargo", ["test", "--locked", "--quiet", "--release", "-p", "frazil", "--test", "oracle", "--test", "text"], {
    env: { ...process.env, PROPTEST_CASES: String(cases) },
  });

/** Runs the comparison of every state of small layouts; it says how many calls that were, and fails where they are too few. */
const exhaustive = () =>
  run("cargo", [
    ...["test", "--locked", "--quiet", "--release", "-p", "frazil", "--test", "exhaustive"],
    ...["--", "--nocapture", "--test-threads=1"],
  ]);

/** Runs the tests of the state file, with storms of that many seconds. */
const stateFile = (seconds, options) => {
  process.env.FRAZIL_STORM_S = String(seconds);
  // One file after the other: a process in mounts of its own holds those of the others too.
  start("local", { limitMs: 300_000, serial: true, ...options });
};

/** Why file systems cannot be mounted here, if so. */
const mounts = {
  unable: () => (process.platform === "linux" && process.getuid() === 0 ? undefined : "mounting takes Linux, and root"),
  install() {},
};

const needsAddon = () =>
  isLinuxX64Gnu ? undefined : `there is no native addon for ${process.platform}-${process.arch} yet`;

/**
 * Every suite: its name, what it does, the tools that it needs, or that some of its tests want, and why it cannot run here,
 * if so.
 */
const SUITES = [
  {
    name: "format",
    run: () => {
      cargo("fmt", "--all", "--check");
      formatFuzz("--check");
      run(`${bin}/biome`, ["ci", "--error-on-warnings", "."]);
    },
  },
  {
    name: "promises",
    run: () => {
      run(process.execPath, [`${root}scripts/promises.mjs`]);
      start("promises");
    },
  },
  {
    name: "lint-rust",
    run: async () => {
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
        cargo("clippy", "--locked", "--quiet", "-p", "frazil-local", "--target", target, ...strict);
      }
      cargoLoom("clippy", "--lib", "--test", "loom", ...strict);
      cargo("clippy", "--locked", "--quiet", "-p", "frazil-napi", "--all-targets", ...strict);
      cargo("clippy", "--locked", "--quiet", "-p", "frazil-no-panic", ...strict);
      cargo("clippy", "--locked", "--quiet", "-p", "frazil-wasm", ...wasm, ...strict);
      const withTests = ["--tests", "--features", "std"];
      cargo("clippy", "--locked", "--quiet", "-p", "frazil-wasm", ...withTests, ...wasm, ...strict);
    },
  },
  {
    name: "rust",
    run: () => {
      cargo("test", "--locked", "--quiet", "-p", "frazil", "--all-features");
      // Where no key can be drawn.
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
  { name: "exhaustive", run: exhaustive },
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
  { name: "loom", run: () => cargoLoom("test", "--test", "loom") },
  {
    name: "miri",
    needs: [miri],
    run: () => {
      cargoMiri(`-Zmiri-many-seeds=0..${values.long ? 64 : 16}`, "--test", "threads");
      // The other order of bytes. The examples of the documentation read the wall clock, which Miri allows only when told.
      const bigEndian = ["--target", "s390x-unknown-linux-gnu"];
      cargoMiri("", ...bigEndian, "--test", "registry", "--test", "threads");
      if (values.long) cargoMiri("-Zmiri-disable-isolation", ...bigEndian, "--doc");
    },
  },
  { name: "no-panic", run: noPanic },
  { name: "fuzz", needs: [fuzzer], run: () => fuzz(values.long ? 300 : 10) },
  { name: "mutants", long: true, needs: [mutator], run: mutants },
  { name: "types", run: () => node("types", "wasm") },
  { name: "vectors-native", unable: needsAddon, run: () => node("vectors", "native") },
  { name: "vectors-wasm", run: () => node("vectors", "wasm") },
  { name: "api-native", unable: needsAddon, run: () => node("api", "native") },
  { name: "api-wasm", run: () => node("api", "wasm") },
  { name: "attacks-native", unable: needsAddon, run: () => node("attacks", "native") },
  { name: "attacks-wasm", run: () => node("attacks", "wasm") },
  { name: "clock-steps", unable: needsAddon, needs: [faketime], run: () => start("clock-steps") },
  { name: "local", unable: needsAddon, needs: [faketime, fileSystems, mounts], run: () => stateFile(20) },
  { name: "local-storm", long: true, unable: needsAddon, run: () => stateFile(120, { file: "storm.test.mjs" }) },
  { name: "attacks-process", run: () => start("attacks/process") },
  { name: "readme", unable: needsAddon, run: () => node("readme", "native") },
  { name: "packaging", wants: [runtimes, browser], run: () => start("packaging") },
  { name: "node22", unable: needsAddon, needs: [runtimes], run: () => start("runtimes/node22") },
  { name: "node24", unable: needsAddon, needs: [runtimes], run: () => start("runtimes/node24") },
  { name: "bun", unable: needsAddon, needs: [runtimes], run: () => start("runtimes/bun") },
  { name: "deno", needs: [runtimes], run: () => start("runtimes/deno") },
  { name: "workerd", needs: [runtimes], run: () => start("runtimes/workerd", { under: tools.node24 }) },
  { name: "chromium", needs: [runtimes, browser], run: () => start("runtimes/chromium") },
  { name: "wasm-bindgen-node", run: () => wasmBindgen("node.test.mjs") },
  {
    name: "wasm-bindgen-chromium",
    needs: [runtimes, browser],
    run: () => wasmBindgen("chromium.test.mjs"),
  },
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: "boolean" }, long: { type: "boolean" }, fix: { type: "boolean" } },
});
const offered = SUITES.filter(({ long }) => values.long || !long);
if (values.list) {
  process.stdout.write(`${SUITES.map(({ name, long }) => (long ? `${name} (long)` : name)).join("\n")}\n`);
  process.exit(0);
}
const unknown = positionals.filter((name) => !SUITES.some((suite) => suite.name === name));
if (unknown.length > 0) throw new Error(`no suite is called ${unknown.join(", ")}: npm test -- --list names them`);

await setUp();
await rustTools();
if (values.fix) {
  cargo("fmt", "--all");
  formatFuzz();
  run(`${bin}/biome`, ["check", "--write", "."]);
}
await build();

const chosen = positionals.length > 0 ? SUITES.filter(({ name }) => positionals.includes(name)) : offered;
const failed = [];
const leftOut = [];
for (const suite of chosen) {
  const { needs = [], wants = [] } = suite;
  const reason = [suite, ...needs].map((whole) => whole.unable?.()).find((reason) => reason !== undefined);
  if (reason !== undefined) {
    leftOut.push(`${suite.name}: ${reason}`);
    continue;
  }
  try {
    for (const tool of [...needs, ...wants]) if (tool.unable() === undefined) await tool.install();
    await step(suite.name, suite.run);
  } catch (error) {
    failed.push(suite.name);
    process.stderr.write(`${error.message}\n`);
  }
}
if (leftOut.length > 0) {
  process.stdout.write(
    `\nLeft out here:\n${leftOut.map((line) => `  ${line}\n`).join("")}Where it can be had: npm test -- NAME\n`,
  );
}
if (failed.length > 0) process.stdout.write(`\nFailed: ${failed.join(", ")}. Again: npm test -- ${failed.join(" ")}\n`);
process.stdout.write(
  `\n${chosen.length - failed.length - leftOut.length} passed, ${failed.length} failed, ${leftOut.length} skipped\n`,
);
// In CI nothing is left out.
process.exitCode = failed.length > 0 || (process.env.CI && leftOut.length > 0) ? 1 : 0;
