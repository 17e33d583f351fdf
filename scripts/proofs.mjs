// The proofs that take more than `cargo test`: nothing on the minting path panics, and no input that a fuzzer thinks of breaks
// a promise. docs/proofs.md says what they show and what not.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { installDebian, noDebian } from "./setup.mjs";
import { ask, root, run, step } from "./shell.mjs";

const target = process.env.CARGO_TARGET_DIR ?? `${root}target`;

/** A program of crates.io, built here once and kept among cargo's own. */
function program(name, version) {
  const there = () => ask("cargo", [name, "--version"])?.endsWith(` ${version}`);
  const crate = `cargo-${name}`;
  return async () => {
    if (there()) return;
    const args = ["install", "--locked", "--quiet", "--force", "--version", version, crate];
    await step(`installing ${crate} ${version}`, () => run("cargo", args));
  };
}

/** libFuzzer, which is built from its C++ sources. */
export const fuzzer = {
  unable() {
    if (process.platform === "win32") return "libFuzzer is not built for Windows here";
    if (ask("c++", ["--version"]) !== undefined) return undefined;
    const reason = noDebian();
    return reason && `a C++ compiler is missing (apt-get install g++: ${reason})`;
  },
  async install() {
    if (ask("c++", ["--version"]) === undefined) await step("installing g++", () => installDebian("g++"));
    await program("fuzz", "0.13.2")();
  },
};

/** Runs a program with its output kept, and says how it ended. */
function keep(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  if (error) throw new Error(`${program} could not be run: ${error.message}`, { cause: error });
  return { status, output: stdout + stderr };
}

/** Links crates/no-panic, and then its twin, which must not link. */
export function noPanic() {
  const link = ["build", "--locked", "--quiet", "--profile", "no-panic", "-p", "frazil-no-panic"];
  run("cargo", link);
  const { status, output } = keep("cargo", [...link, "--features", "twin"]);
  const found = [...output.matchAll(/detected panic in function `(.*?)`/g)].map(([, name]) => name);
  if (status === 0 || !found.includes("twin") || found.some((name) => name !== "twin"))
    throw new Error(`crates/no-panic does not see the panic of its twin:\n${output}`);
}

const fuzzFolder = "crates/core/fuzz";
const manifest = ["--manifest-path", `${root}${fuzzFolder}/Cargo.toml`];

/** Formats the fuzz targets, which are a workspace of their own. */
export const formatFuzz = (...options) => run("cargo", ["fmt", ...manifest, ...options]);

/**
 * Fuzzes each target for some seconds, from the inputs that are kept. Its twin, which has a mistake, must be found out in
 * the same time, from nothing.
 */
export function fuzz(seconds) {
  const built = `${target}/fuzz`;
  const lint = [...manifest, "--target-dir", built, "--locked", "--quiet", "--all-features"];
  run("cargo", ["clippy", ...lint, "--", "-D", "warnings"]);
  const found = mkdtempSync(`${tmpdir()}/frazil-fuzz-`);
  // Without a sanitizer the stable compiler serves, and the core has no unsafe code for one to watch.
  const options = ["--fuzz-dir", fuzzFolder, "--sanitizer", "none", "--target-dir", built];
  const limits = [`-max_total_time=${seconds}`, "-max_len=384", "-timeout=10"];
  const targets = readdirSync(`${root}${fuzzFolder}/targets`).map((file) => file.replace(".rs", ""));
  for (const name of targets) {
    mkdirSync(`${found}/${name}`);
    const kept = `${root}${fuzzFolder}/corpus/${name}`;
    const { status, output } = keep("cargo", [
      "fuzz",
      "run",
      ...options,
      name,
      `${found}/${name}`,
      kept,
      "--",
      ...limits,
    ]);
    if (status !== 0) throw new Error(`fuzzing ${name} found something:\n${output}`);
    const [, runs] = /^Done (\d+) runs/m.exec(output);
    process.stdout.write(
      `${name}: ${Number(runs).toLocaleString("en")} inputs, ${readdirSync(`${found}/${name}`).length} new\n`,
    );
  }
  for (const name of targets) {
    mkdirSync(`${found}/twin/${name}`, { recursive: true });
    const twin = ["fuzz", "run", ...options, "--features", "twin", name, `${found}/twin/${name}`];
    const { status, output } = keep("cargo", [...twin, "--", ...limits, `-artifact_prefix=${found}/twin/`]);
    const [, tries] = /^#(\d+)[^\n]*\n(?=[^#]*panicked at targets)/m.exec(output) ?? [];
    if (status === 0 || !output.includes(`panicked at targets/${name}.rs`))
      throw new Error(`fuzzing does not find the mistake of the twin of ${name}:\n${output}`);
    process.stdout.write(
      `${name}: the twin is found out${tries ? ` within ${Number(tries).toLocaleString("en")} inputs` : ""}\n`,
    );
  }
  rmSync(found, { recursive: true });
}
