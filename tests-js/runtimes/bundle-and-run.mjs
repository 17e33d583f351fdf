// Runs in Node: bundles the program for a runtime, starts the runtime if it is a process, and returns its result.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { unwrap } from "./json-result.mjs";

/** The root of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

// Inside the repository, so that a process finds the package, by its own export conditions.
mkdirSync(`${root}.cache`, { recursive: true });
const scratch = mkdtempSync(`${root}.cache/runtimes-`);
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

/** A process that takes longer counts as hanging. */
const HANG_MS = 120_000;

/** Bundles files of this folder as ES modules and returns the output folder. A warning is a failure. */
export async function bundle(entries, options) {
  const outdir = mkdtempSync(`${scratch}/bundle-`);
  const { warnings } = await build({
    entryPoints: entries.map((entry) => fileURLToPath(new URL(entry, import.meta.url))),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    target: "es2022",
    tsconfigRaw: "{}", // that of the sources would map frazil to them
    logLevel: "silent",
    ...options,
  });
  assert.deepEqual(warnings, []);
  return outdir;
}

// For a process the package stays an import, so that the runtime chooses the entry by its export conditions.
const processes = {
  platform: "node",
  external: ["frazil", "frazil/*"],
};

/** Runs `process-main.mjs` with the program of a runtime. `before` and `after` are arguments before and after the file. */
export async function inNewProcess(program, { before = [], after = [], env = {} } = {}) {
  const folder = await bundle(["process-main.mjs"], processes);
  const { FRAZIL_BACKEND: _, ...inherited } = process.env;
  const args = [...before, `${folder}/process-main.mjs`, `${folder}/state`, ...after];
  const { stdout, stderr, status, error } = spawnSync(program, args, {
    encoding: "utf8",
    env: { ...inherited, ...env },
    timeout: HANG_MS,
  });
  if (error) throw error;
  assert.equal(stderr, "");
  assert.equal(status, 0);
  return unwrap(JSON.parse(stdout));
}

let counts;

/** The number of cases of each file of vectors, as counted in this Node. */
export async function expectedCounts() {
  counts ??= (await import(`${await bundle(["checks.mjs"], processes)}/checks.mjs`)).checkVectors();
  return counts;
}
