// The proofs that take more than `cargo test`: nothing on the minting path panics, no input that a fuzzer thinks of breaks
// a promise, and no change of the code goes unnoticed by the tests. docs/proofs.md says what they show and what not.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

export const mutator = { unable: () => undefined, install: program("mutants", "27.1.0") };

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

/** The mutants that a run of cargo-mutants names in one of its lists. */
function listed(folder, list) {
  const text = readFileSync(`${folder}/mutants.out/${list}.txt`, "utf8");
  return text.split("\n").filter((line) => line !== "");
}

/** The mutants that .cargo/mutants.toml leaves out, because docs/proofs.md explains them. */
function explained() {
  const names = (...options) => ask("cargo", ["mutants", "--list", "--colors", "never", ...options]).split("\n");
  const config = readFileSync(`${root}.cargo/mutants.toml`, "utf8");
  const files = [...config.matchAll(/^ {2}"(crates\/.*)",$/gm)].flatMap(([, file]) => ["--file", file]);
  const tested = new Set(names());
  return names("--no-config", ...files).filter((name) => !tested.has(name));
}

/**
 * Changes the core in every small way that cargo-mutants knows, and runs its tests each time: first those that notice
 * most, then all of them on what is left. Writes the record, and fails where a change goes unnoticed.
 */
export function mutants() {
  const folder = `${target}/mutants`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // The copies that are tested have a build folder of their own, and few cases find a mutant as well as many.
  const { CARGO_TARGET_DIR: _, ...env } = { ...process.env, PROPTEST_CASES: "500" };
  const test = (...options) => {
    const all = ["mutants", "--no-shuffle", "--colors", "never", "--output", folder, ...options];
    const { status, error } = spawnSync("cargo", all, { cwd: root, env, stdio: ["ignore", "ignore", "inherit"] });
    // 2: some were missed; 3: some never came to an end, which is a way to be noticed.
    if (error || ![0, 2, 3].includes(status)) throw new Error(`cargo mutants failed: ${error?.message ?? status}`);
  };
  test("--", ...["kept", "machine", "oracle", "registry", "vectors"].flatMap((name) => ["--test", name]));
  const first = { caught: listed(folder, "caught"), unviable: listed(folder, "unviable") };
  // Long enough for a busy machine: what ends in that time has to fail.
  test("--iterate", "--timeout", "120");
  const lists = {
    caught: [...first.caught, ...listed(folder, "caught")],
    "never ended": listed(folder, "timeout"),
    "did not compile": [...first.unviable, ...listed(folder, "unviable")],
    explained: explained(),
    missed: listed(folder, "missed"),
  };
  const files = [...new Set(Object.values(lists).flatMap((list) => list.map((name) => name.split(":")[0])))].sort();
  const row = (cells) => `| ${cells.join(" | ")} |\n`;
  const named = (list) => lists[list].map((name) => `* \`${name}\`\n`).join("");
  const versions = [ask("cargo", ["mutants", "--version"]), ask("rustc", ["--version"]).replace(/ \(.*/, "")];
  writeFileSync(
    `${root}docs/proofs/mutants.md`,
    `# Mutants, ${new Date().toISOString().slice(0, 10)}\n\n` +
      `Written by \`npm run test:long -- mutants\` with ${versions.join(" and ")}. [Proofs](../proofs.md) says why those that\n` +
      `are explained are no defects.\n\n` +
      row(["file", ...Object.keys(lists)]) +
      row(["---", ...Object.keys(lists).map(() => "---:")]) +
      files
        .map((file) =>
          row([
            `\`${file}\``,
            ...Object.values(lists).map((list) => list.filter((name) => name.startsWith(`${file}:`)).length),
          ]),
        )
        .join("") +
      `\n## Explained\n\n${named("explained")}` +
      (lists.missed.length > 0 ? `\n## Missed\n\n${named("missed")}` : ""),
  );
  if (lists.missed.length > 0)
    throw new Error(`the tests do not notice ${lists.missed.length} changes:\n${lists.missed.join("\n")}`);
}
