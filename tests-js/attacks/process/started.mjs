// Programs in a Node of their own, and copies of the package: what the attacks on a whole process share.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const require = createRequire(import.meta.url);
const carrier = `frazil-${process.platform}-${process.arch}-gnu`;

/** The root of the repository: what a program started there imports is what these tests import. */
export const root = fileURLToPath(new URL("../../../", import.meta.url));
export const installed = dirname(realpathSync(require.resolve("frazil/package.json")));

/** The file that Node loads. */
export const entry = join(installed, "dist/node.cjs");

/** The folder of the addon that is installed here, if there is one. */
export const addon = (() => {
  try {
    return dirname(realpathSync(require.resolve(`${carrier}/package.json`)));
  } catch {
    return undefined;
  }
})();
export const needsAddon = { skip: addon === undefined && "needs the addon" };
/** Backends find each other by what only Linux shows of a process. */
export const needsLinux = {
  skip: (addon === undefined || process.platform !== "linux") && "needs Linux and the addon",
};

/** A folder with a copy of the package, removed at the end; with a link to the addon that is installed, or a copy of it, beside it. */
export function copyPackage(beside = "nothing") {
  const folder = mkdtempSync(join(tmpdir(), "frazil-attack-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["package.json", "dist"]) cpSync(join(installed, name), join(folder, name), { recursive: true });
  if (beside === "nothing") return folder;
  mkdirSync(join(folder, "node_modules"));
  const place = join(folder, "node_modules", carrier);
  if (beside === "link") symlinkSync(addon, place);
  else cpSync(addon, place, { recursive: true });
  return folder;
}

/** Runs an ES module in a Node of its own, on no backend in particular, and returns what it writes, as JSON. */
export async function inProcess(script, { flags = [], env = {}, cwd = root } = {}) {
  const args = ["--no-warnings", ...flags, "--input-type=module", "--eval", script];
  const options = { cwd, env: { ...process.env, FRAZIL_BACKEND: undefined, ...env }, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return JSON.parse(stdout);
}

/** How many of the IDs were there before. */
export const repeats = (ids) => ids.length - new Set(ids).size;
