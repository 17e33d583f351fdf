// What the attacks on a whole process share: programs in new Node processes, and copies of the package.
import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyPackage, installed, inNewProcess as run } from "../package-copy.mjs";

export { repeats } from "../../generator/broken-generators.mjs";
export { copyPackage };
export const root = fileURLToPath(new URL("../../../", import.meta.url));

export const addonPackage = `frazil-${process.platform}-${process.arch}-gnu`;

/** The file of the package that Node loads. */
export const entry = join(installed, "dist/node.cjs");

/** The folder of the installed addon, or `undefined` if there is none. */
const addon = (() => {
  try {
    return dirname(realpathSync(createRequire(import.meta.url).resolve(`${addonPackage}/package.json`)));
  } catch {
    return undefined;
  }
})();
/** The file of the installed addon. */
export const addonFile = addon && join(addon, "frazil.node");
export const needsAddon = { skip: addon === undefined && "needs the native addon" };
/** The backends of a process detect each other by information that only Linux offers. */
export const needsLinux = {
  skip: (addon === undefined || process.platform !== "linux") && "needs Linux and the native addon",
};

/** Creates a copy of the package that finds the installed addon; returns its folder, which is removed at the end. */
export function copyPackageWithAddon() {
  const folder = copyPackage();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(addon, join(folder, "node_modules", addonPackage));
  return folder;
}

/** Runs an ES module in a new Node process, without FRAZIL_BACKEND, and parses what it writes as JSON. */
export const inNewProcess = (script, { flags = [], env = {}, ...rest } = {}) =>
  run(script, { flags: ["--no-warnings", ...flags], env: { FRAZIL_BACKEND: undefined, ...env }, ...rest });
