// Programs in a Node of their own, and copies of the package: what the attacks on a whole process share.
import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyPackage, installed, inProcess as run } from "../../api/package-copy.mjs";

export { repeats } from "../../api/broken-generators.mjs";
export { copyPackage };
export const root = fileURLToPath(new URL("../../../", import.meta.url));

const carrier = `frazil-${process.platform}-${process.arch}-gnu`;

/** The file that Node loads. */
export const entry = join(installed, "dist/node.cjs");

/** The folder of the addon that is installed here, if there is one. */
const addon = (() => {
  try {
    return dirname(realpathSync(createRequire(import.meta.url).resolve(`${carrier}/package.json`)));
  } catch {
    return undefined;
  }
})();
export const needsAddon = { skip: addon === undefined && "needs the addon" };
/** Backends find each other by what only Linux shows of a process. */
export const needsLinux = {
  skip: (addon === undefined || process.platform !== "linux") && "needs Linux and the addon",
};

/** A folder with a copy of the package that finds the installed addon, removed at the end. */
export function copyPackageWithAddon() {
  const folder = copyPackage();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(addon, join(folder, "node_modules", carrier));
  return folder;
}

/** Runs an ES module in a Node of its own, on no backend in particular, and returns what it writes, as JSON. */
export const inProcess = (script, { flags = [], env = {}, ...rest } = {}) =>
  run(script, { flags: ["--no-warnings", ...flags], env: { FRAZIL_BACKEND: undefined, ...env }, ...rest });
