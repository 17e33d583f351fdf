// docs/proofs/passed.json: for each suite the inputs and versions that it last passed with. Only the runner writes it, and only after a
// pass. CI runs the suites whose row is not that of the checkout, and a sample of the others.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { ask, PLATFORM_NAME, root } from "../shell.mjs";
import { inputsOf, NOT_INPUTS, RUNNER } from "./inputs.mjs";

const PASSED = "docs/proofs/passed.json";

/** How many seconds of suites that have a row CI runs all the same. */
const SAMPLE_S = 600;

/** Variables that change what or how much a suite tests. */
const VARIABLES =
  /^(PROPTEST_|FRAZIL_|LOOM_|MIRI|RUST_TEST_|RUSTFLAGS$|RUSTDOCFLAGS$|RUSTC|CARGO_(BUILD|ENCODED|PROFILE|TARGET)_|LD_(PRELOAD|AUDIT)$)/;
/** Those that do not. `.ci/run` sets the first. */
const OTHERS = ["CARGO_PROFILE_DEV_DEBUG", "CARGO_TARGET_DIR"];

/** Files that would change what tools do for every suite. There may be none. */
const SETTINGS = [".cargo", ".gitattributes", ".npmrc", "clippy.toml", "rust-toolchain", "rust-toolchain.toml"];

const digest = (value) => createHash("sha256").update(value).digest("hex").slice(0, 16);

/** The output of git. Its error has what git says. */
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 }).trimEnd();

const isInput = (path) => !NOT_INPUTS.includes(path);

/** The files of a suite in a commit, as lines of mode, hash and path. */
function committed(paths) {
  const lines = git("ls-tree", "-r", "-z", "HEAD", "--", ...paths, ...SETTINGS).split("\0");
  const files = lines.map((line) => /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line)).filter((match) => match !== null);
  for (const path of paths)
    if (!files.some(([, , , name]) => name === path || name.startsWith(`${path}/`)))
      throw new Error(`scripts/test/inputs.mjs: ${path} is not in the repository`);
  return files.filter(([, , , name]) => isInput(name)).map(([, mode, hash, name]) => `${mode} ${hash} ${name}`);
}

let compiler;

/** The versions of what runs a suite. Those of packages are in lock files, which are inputs. */
function versionsOf({ requires = [], optional = [] }) {
  const tools = [...requires, ...optional]
    .map(({ version }) => (typeof version === "function" ? version() : version))
    .filter(Boolean);
  compiler ??= ask("rustc", ["--version"]);
  const isRoot = process.getuid?.() === 0;
  return JSON.stringify([process.version, compiler, PLATFORM_NAME, isRoot, ...new Set(tools)]);
}

export const inputsKeyOf = (suite) => digest(committed([...RUNNER, ...inputsOf(suite)]).join("\n"));

/** The conditions in a row under which a suite has passed: a hash of its inputs, and one of the versions of what is installed. */
export const keyOf = (suite) => `${inputsKeyOf(suite)} ${digest(versionsOf(suite))}`;

/** Whether a suite has passed with the inputs of this checkout. The versions may be others, or not be installed yet. */
export const hasPassedWithInputs = (suite, rows) => rows.get(suite.name)?.key.split(" ")[0] === inputsKeyOf(suite);

/** The files whose changes git overlooks, by the output of `git ls-files -v`. */
export const hiddenFilesIn = (listing) => (listing.match(/^([a-z]|S) .*$/gm) ?? []).map((line) => line.slice(2));

/** Why a pass of a suite gives no row now, or `undefined`. */
export function whyNoRow(suite, env = process.env) {
  const set = Object.keys(env).filter((name) => VARIABLES.test(name) && !OTHERS.includes(name));
  if (set.length > 0) return `${set.join(", ")} may change what is tested`;
  const paths = [...RUNNER, ...inputsOf(suite), ...SETTINGS];
  if (ask("git", ["rev-parse", "HEAD"]) === undefined) return "git cannot read this checkout";
  const hidden = hiddenFilesIn(git("ls-files", "-v", "--", ...paths));
  if (hidden.length > 0) return `git is told to overlook changes of ${hidden.join(", ")}`;
  const changed = git("status", "--porcelain", "--no-renames", "--untracked-files=all", "-z", "--", ...paths)
    .split("\0")
    .map((entry) => entry.slice("XY ".length))
    .filter((path) => path !== "" && isInput(path));
  return changed.length > 0 ? `not committed: ${changed.join(", ")}` : undefined;
}

/** The rows in a text of the file. Those of a merge conflict are dropped: their names are there twice. */
export function parseRows(text) {
  const rows = new Map();
  const twice = new Set();
  for (const line of text.split("\n")) {
    const [, name, row] = /^ {2}"([\w-]+)": (\{.*\}),?$/.exec(line) ?? [];
    if (name === undefined) continue;
    if (rows.has(name)) twice.add(name);
    try {
      rows.set(name, JSON.parse(row));
    } catch {
      // Written by hand. The suite has no row.
      twice.add(name);
    }
  }
  for (const name of twice) rows.delete(name);
  return rows;
}

/** The text of the file: a sorted line for each suite, so that two branches that ran other suites merge. */
export const printRows = (rows) =>
  `{\n${[...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, row]) => `  "${name}": ${JSON.stringify(row)}`)
    .join(",\n")}\n}\n`;

export const readRows = () => parseRows(existsSync(`${root}${PASSED}`) ? readFileSync(`${root}${PASSED}`, "utf8") : "");

/** Writes the row of a suite that has passed. Only the key is ever compared. */
export function writeRow({ name }, key, seconds, names) {
  const rows = readRows();
  for (const old of rows.keys()) if (!names.includes(old)) rows.delete(old);
  const [processor] = cpus();
  rows.set(name, {
    key,
    commit: git("rev-parse", "--short=12", "HEAD"),
    date: new Date().toISOString().slice(0, 10),
    seconds: Math.ceil(seconds),
    machine: `${cpus().length} × ${processor?.model.trim()}`,
  });
  writeFileSync(`${root}${PASSED}`, printRows(rows));
}

/**
 * The suites that CI runs: those without a row of their key, or without a key (`due`), and a `sample` of the others, so that a wrong row is
 * found. Which ones depends on the commit's tree: a second run of a commit repeats them.
 */
export function chooseDue(suites, rows, keys, tree) {
  const matches = ({ name }) => rows.has(name) && rows.get(name).key === keys.get(name);
  const order = (name) => digest(`${tree} ${name}`);
  const others = suites.filter(matches).sort((a, b) => (order(a.name) < order(b.name) ? -1 : 1));
  let left = SAMPLE_S;
  // The first whatever it takes, so that each suite has its turn.
  const sample = others.filter(({ name }, at) => {
    const { seconds } = rows.get(name);
    if (at > 0 && seconds > left) return false;
    left -= seconds;
    return true;
  });
  return { due: suites.filter((suite) => !matches(suite)), sample };
}

export const treeNow = () => git("rev-parse", "HEAD^{tree}");
