// The crates as they are published: packed, built and tested from their archives, and their dependencies checked by cargo-deny.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crates } from "../packages.mjs";
import { root, run } from "../shell.mjs";
import { denier } from "../tools.mjs";
import { versionOf } from "./versions.mjs";

const target = process.env.CARGO_TARGET_DIR ?? `${root}target`;

/**
 * Packs the crates as `cargo publish` would. Returns the name of each and the path of its archive. `allowDirty`: with changes that
 * are not committed.
 */
export function packCrates({ allowDirty = false } = {}) {
  const folder = `${target}/crates`;
  rmSync(`${folder}/package`, { recursive: true, force: true });
  const names = crates()
    .filter(({ isPublished }) => isPublished)
    .map(({ name }) => name);
  // Cargo's own check compiles each archive; `testPackedCrates` also runs the tests in it.
  const options = [
    "--locked",
    "--quiet",
    "--no-verify",
    "--target-dir",
    folder,
    ...(allowDirty ? ["--allow-dirty"] : []),
  ];
  run("cargo", ["package", ...options, ...names.flatMap((name) => ["-p", name])]);
  const archives = readdirSync(`${folder}/package`).filter((file) => file.endsWith(".crate"));
  return names.map((name) => {
    // Another crate can begin with the same name, but its version cannot begin with a letter.
    const archive = archives.find((file) => file.startsWith(`${name}-`) && /\d/.test(file[name.length + 1]));
    return { name, archive: `${folder}/package/${archive}` };
  });
}

/**
 * Builds and tests the archives in an empty folder, away from the workspace: with every feature, and the core without any. `tests` and the
 * vectors are not in an archive. The folder is its own workspace, only because frazil-local would otherwise look for the core on crates.io.
 */
export function testPackedCrates() {
  const packed = packCrates({ allowDirty: true });
  const folder = mkdtempSync(join(tmpdir(), "frazil-crates-"));
  try {
    // Without the times in the archive, which are always the same: cargo would take what it built of an earlier one.
    for (const { archive } of packed) run("tar", ["-xzmf", archive, "-C", folder]);
    const version = versionOf();
    const members = packed.map(({ name }) => `${name}-${version}`);
    writeFileSync(
      join(folder, "Cargo.toml"),
      `[workspace]\nresolver = "3"\nmembers = ${JSON.stringify(members)}\n` +
        `[patch.crates-io]\nfrazil = { path = "frazil-${version}" }\n`,
    );
    // The same versions of dependencies as in the workspace. Cargo drops the entries of the other crates.
    copyFileSync(`${root}Cargo.lock`, join(folder, "Cargo.lock"));
    // That of the workspace, where the other tests have left what these depend on.
    const env = { ...process.env, CARGO_TARGET_DIR: target };
    const cargo = (...args) => run("cargo", args, { cwd: folder, env });
    cargo("build", "--quiet", "-p", "frazil", "--no-default-features");
    for (const [name, ...features] of [["frazil", "--all-features"], ["frazil-local"]]) {
      const options = ["--quiet", "-p", name, ...features];
      cargo("test", ...options, "--lib");
      cargo("test", ...options, "--doc");
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs cargo-deny. Returns its exit code and what it printed. */
function cargoDeny(config, manifest, flags) {
  const args = ["--locked", "--config", config, "--manifest-path", `${root}${manifest}`, "check", ...flags];
  const { status, stdout, stderr, error } = spawnSync(denier.program, [...args, "licenses", "bans", "sources"], {
    cwd: root,
    encoding: "utf8",
  });
  if (error) throw new Error(`${denier.program} could not be run: ${error.message}`, { cause: error });
  return { status, output: stdout + stderr };
}

/** deny.toml with a change that must make the check fail, and the code of what it then finds. */
const MUTANTS = [
  { name: "a licence that is not allowed", from: /^ {2}"ISC",\n/m, to: "", code: "rejected" },
  { name: "two versions of a crate", from: /^ {2}\{ crate = "syn@2".*\n/m, to: "", code: "duplicate" },
  { name: "a crate that is banned", from: "[bans]\n", to: '[bans]\ndeny = ["siphasher"]\n', code: "banned" },
  {
    name: "another registry",
    from: "https://github.com/rust-lang/crates.io-index",
    to: "https://example.org/index",
    code: "source-not-allowed",
  },
  // So that the lists do not keep what nothing uses any more.
  {
    name: "a licence that nothing has",
    from: "allow = [\n",
    to: 'allow = [\n  "MPL-2.0",\n',
    code: "license-not-encountered",
  },
];

/** Checks the dependencies of the workspace and of the fuzz targets. Each mutant of deny.toml must be found. */
export function deny() {
  const strict = ["-D", "license-not-encountered", "-D", "unmatched-skip", "-A", "license-exception-not-encountered"];
  // What deny.toml allows for the workspace need not be there.
  const lenient = ["-A", "license-not-encountered", "-A", "unmatched-skip"];
  for (const [manifest, flags] of [
    ["Cargo.toml", strict],
    ["crates/core/fuzz/Cargo.toml", lenient],
  ]) {
    const { status, output } = cargoDeny(`${root}deny.toml`, manifest, flags);
    if (status !== 0) throw new Error(`cargo-deny refuses the dependencies of ${manifest}:\n${output}`);
  }
  const text = readFileSync(`${root}deny.toml`, "utf8");
  mkdirSync(`${root}.cache`, { recursive: true });
  const config = `${root}.cache/deny-mutant.toml`;
  for (const { name, from, to, code } of MUTANTS) {
    const changed = text.replace(from, to);
    if (changed === text) throw new Error(`the mutant of deny.toml with ${name} is deny.toml itself`);
    writeFileSync(config, changed);
    const { status, output } = cargoDeny(config, "Cargo.toml", strict);
    if (status === 0 || !output.includes(`error[${code}]`))
      throw new Error(`cargo-deny does not find ${name} (${code}):\n${output}`);
  }
  rmSync(config);
}
