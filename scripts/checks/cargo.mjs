// The checks that need more than `cargo test`: neither minting nor a public ID panics (no-panic), no input that a fuzzer finds
// breaks a claim (cargo-fuzz), and the tests notice every small change of the code (cargo-mutants). docs/internals/verification.md
// says what each shows and what it does not show.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { ask, root, run } from "../shell.mjs";

const target = process.env.CARGO_TARGET_DIR ?? `${root}target`;

/** Runs a program and returns its exit code and its output. */
function capture(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  if (error) throw new Error(`${program} could not be run: ${error.message}`, { cause: error });
  return { status, output: stdout + stderr };
}

/** Lets the optimiser unroll the loops of AES and inline their callers: then it sees that no index is out of range. */
const LOOK_FURTHER = ["-C", "llvm-args=-unroll-threshold=10000 -inline-threshold=5000"];

/** Links crates/no-panic. Its mutant, which has a function that can panic, must not link. */
export function noPanic() {
  const link = ["rustc", "--locked", "--quiet", "--profile", "no-panic", "-p", "frazil-no-panic"];
  run("cargo", [...link, "--", ...LOOK_FURTHER]);
  const { status, output } = capture("cargo", [...link, "--features", "mutant", "--", ...LOOK_FURTHER]);
  const found = [...output.matchAll(/detected panic in function `(.*?)`/g)].map(([, name]) => name);
  if (status === 0 || !found.includes("mutant") || found.some((name) => name !== "mutant"))
    throw new Error(`crates/no-panic does not detect the panic of its mutant:\n${output}`);
}

const fuzzFolder = "crates/core/fuzz";
const manifest = ["--manifest-path", `${root}${fuzzFolder}/Cargo.toml`];

/** Formats the fuzz targets and the benchmark, which are separate workspaces. */
export function formatOthers(...options) {
  for (const folder of [fuzzFolder, "crates/core/bench"])
    run("cargo", ["fmt", "--manifest-path", `${root}${folder}/Cargo.toml`, ...options]);
}

/**
 * Fuzzes each target for some seconds, starting from the stored corpus. In the same time, starting from an empty corpus, the
 * fuzzer must find the mistake in the target's mutant.
 */
export function fuzz(seconds) {
  const built = `${target}/fuzz`;
  const lint = [...manifest, "--target-dir", built, "--locked", "--quiet", "--all-features"];
  run("cargo", ["clippy", ...lint, "--", "-D", "warnings"]);
  const found = mkdtempSync(`${tmpdir()}/frazil-fuzz-`);
  // Without a sanitizer the stable compiler suffices; the core has no unsafe code that one could check.
  const options = ["--fuzz-dir", fuzzFolder, "--sanitizer", "none", "--target-dir", built];
  const limits = [`-max_total_time=${seconds}`, "-max_len=384", "-timeout=10"];
  const targets = readdirSync(`${root}${fuzzFolder}/targets`).map((file) => file.replace(".rs", ""));
  for (const name of targets) {
    mkdirSync(`${found}/${name}`);
    const corpus = `${root}${fuzzFolder}/corpus/${name}`;
    const { status, output } = capture("cargo", [
      "fuzz",
      "run",
      ...options,
      name,
      `${found}/${name}`,
      corpus,
      "--",
      ...limits,
    ]);
    if (status !== 0) throw new Error(`fuzzing ${name} found a failing input:\n${output}`);
    const [, runs] = /^Done (\d+) runs/m.exec(output);
    process.stdout.write(
      `${name}: ${Number(runs).toLocaleString("en")} inputs, ${readdirSync(`${found}/${name}`).length} new\n`,
    );
  }
  for (const name of targets) {
    mkdirSync(`${found}/mutant/${name}`, { recursive: true });
    const mutant = ["fuzz", "run", ...options, "--features", "mutant", name, `${found}/mutant/${name}`];
    const { status, output } = capture("cargo", [...mutant, "--", ...limits, `-artifact_prefix=${found}/mutant/`]);
    const [, tries] = /^#(\d+)[^\n]*\n(?=[^#]*panicked at targets)/m.exec(output) ?? [];
    if (status === 0 || !output.includes(`panicked at targets/${name}.rs`))
      throw new Error(`fuzzing does not find the mistake in the mutant of ${name}:\n${output}`);
    process.stdout.write(
      `${name}: the mutant's mistake was found${tries ? ` within ${Number(tries).toLocaleString("en")} inputs` : ""}\n`,
    );
  }
  rmSync(found, { recursive: true });
}

/** The mutants in one of the lists that a run of cargo-mutants wrote. */
function listed(folder, list) {
  const text = readFileSync(`${folder}/mutants.out/${list}.txt`, "utf8");
  return text.split("\n").filter((line) => line !== "");
}

/** The mutants that .cargo/mutants.toml excludes, and explains why they are equivalent. */
function explained() {
  const names = (...options) => ask("cargo", ["mutants", "--list", "--colors", "never", ...options]).split("\n");
  const config = readFileSync(`${root}.cargo/mutants.toml`, "utf8");
  const files = [...config.matchAll(/^ {2}"(crates\/.*)",$/gm)].flatMap(([, file]) => ["--file", file]);
  const tested = new Set(names());
  return names("--no-config", ...files).filter((name) => !tested.has(name));
}

/**
 * Changes the core in every small way that cargo-mutants knows, and runs its tests on each change: first the test files that
 * detect most mutants, then all tests on the mutants that are left. Writes the record, and fails if a mutant is missed.
 */
export function mutants() {
  const folder = `${target}/mutants`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // The tested copies have their own build folder. 500 cases per property find the same mutants as more do.
  const { CARGO_TARGET_DIR: _, ...env } = { ...process.env, PROPTEST_CASES: "500" };
  const test = (...options) => {
    const all = ["mutants", "--no-shuffle", "--colors", "never", "--output", folder, ...options];
    const { status, error } = spawnSync("cargo", all, { cwd: root, env, stdio: ["ignore", "ignore", "inherit"] });
    // Exit code 2: some were missed. 3: some timed out, which counts as detected.
    if (error || ![0, 2, 3].includes(status)) throw new Error(`cargo mutants failed: ${error?.message ?? status}`);
  };
  test("--", ...["keeper", "machine", "oracle", "registry", "vectors"].flatMap((name) => ["--test", name]));
  const first = { caught: listed(folder, "caught"), unviable: listed(folder, "unviable") };
  // 120 s suffice on a busy machine: a mutant that ends within them must fail a test.
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
      `Written by \`npm test -- mutants\` with ${versions.join(" and ")}. \`.cargo/mutants.toml\` says\n` +
      `why the explained ones are no defects.\n\n` +
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
    throw new Error(`the tests miss ${lists.missed.length} mutants:\n${lists.missed.join("\n")}`);
}
