// A second copy of the package, like two versions in one dependency tree, and programs in new processes.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { transformSync } from "esbuild";
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

/** A copy of the package, with its addons, whose rules can be broken, for a program that is copied beside it (`main`). */
export function mutablePackage(program) {
  const folder = copyPackage();
  const main = join(folder, basename(program));
  cpSync(program, main);
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["linux-x64-gnu", "linux-arm64-gnu"])
    symlinkSync(join(dirname(installed), name), join(folder, "node_modules", `frazil-${name}`));
  const file = join(folder, "dist", "node.cjs");
  // With the white space that the build has removed.
  const built = transformSync(readFileSync(file, "utf8"), { minifySyntax: true }).code;
  return {
    folder,
    main,
    mend: () => writeFileSync(file, built),
    /** Replaces what the built code has once, and undoes what was replaced before. */
    breakRule(before, after) {
      assert.equal(built.split(before).length, 2, `the built code has ${before} once`);
      const broken = built.replace(before, () => after);
      writeFileSync(file, broken);
    },
  };
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
