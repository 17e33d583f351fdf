// A second copy of the package, like two versions in one dependency tree, and programs in new processes.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { slot } from "../vectors/generated-tables.mjs";

/** The root of the repository: a program that is started there imports the same packages as these tests. */
const root = fileURLToPath(new URL("../../", import.meta.url));
export const installed = dirname(realpathSync(createRequire(import.meta.url).resolve("frazil/package.json")));

/** Copies the package into a new folder, which is removed when the process ends, and returns the folder. */
export function copyPackage() {
  const folder = mkdtempSync(join(tmpdir(), "frazil-copy-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["package.json", "dist"]) cpSync(join(installed, name), join(folder, name), { recursive: true });
  return folder;
}

/** Runs an ES module in a new Node process, and parses what it writes as JSON. */
export async function inNewProcess(script, { flags = [], env = {}, cwd = root } = {}) {
  const args = [...flags, "--input-type=module", "--eval", script];
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return JSON.parse(stdout);
}

/**
 * The beginning of a program that imports the package: `numbers()` returns the slots of the package's frame, which is otherwise
 * private.
 */
export const CATCH_NUMBERS = `
  const views = [];
  globalThis.Float64Array = class extends Float64Array {
    constructor(...given) {
      super(...given);
      views.push(this);
    }
  };
  const numbers = () => views.findLast(({ length }) => length >= ${slot.NUMBERS});
  const { Snowflake } = await import("frazil");
`;
