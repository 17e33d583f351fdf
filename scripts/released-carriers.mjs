// What a release asks of the carriers: that every one is built as it is released, and that its addon passes inspection (what it imports,
// the versions that it needs, its signature; `xtask inspect` has the rules).
import { join } from "node:path";
import { run } from "./shell.mjs";

/** Builds the package and every carrier. */
export const buildCarriers = () => run("npm", ["run", "--silent", "build:platforms"]);

/** Inspects the addon of the carrier in a folder of `npm/`. Throws if it is refused. */
export function inspectCarrier({ folder, path }) {
  run("cargo", ["run", "--locked", "--quiet", "-p", "xtask", "--", "inspect", folder, join(path, "frazil.node")]);
}
