// The side of Node: bundles what a runtime is to run, starts it, and takes its report.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { unwrap } from "./json-result.mjs";

/** The root of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

// Within the repository, so that a process finds the package as its conditions say.
mkdirSync(`${root}.cache`, { recursive: true });
const scratch = mkdtempSync(`${root}.cache/runtimes-`);
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

/** What takes so long hangs. */
const HANG_MS = 120_000;

/** Bundles files of this folder as ES modules and returns the folder they are in. A warning is a failure. */
export async function bundle(entries, options) {
  const outdir = mkdtempSync(`${scratch}/bundle-`);
  const { warnings } = await build({
    entryPoints: entries.map((entry) => fileURLToPath(new URL(entry, import.meta.url))),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    target: "es2022",
    logLevel: "silent",
    ...options,
  });
  assert.deepEqual(warnings, []);
  return outdir;
}

// For a process the package stays an import: which of its entries is taken is up to the runtime.
const processes = { platform: "node", external: ["frazil", "frazil/decode", "frazil/text"] };

/** Runs `process-main.mjs` in a runtime that is a process: the program, what stands before and after the file, and the backend. */
export async function inProcess(program, { before = [], after = [], env = {} } = {}) {
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

/** How many cases the vectors have: as this Node counts them. */
export async function expectedCounts() {
  counts ??= (await import(`${await bundle(["checks.mjs"], processes)}/checks.mjs`)).checkVectors();
  return counts;
}
