// What is published: the npm packages in `npm/*` and the crates that do not say `publish = false`. Everything that has to be the same
// in all of them (versions, the address of the repository) goes over these lists.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./shell.mjs";

export const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

/**
 * The npm packages of a checkout: `folder` (in `npm/`), `path`, `manifest`, and whether it is a platform package, which contains the
 * addon of one platform. The platform packages come first, since `frazil` depends on them.
 */
export function packages(checkout = root) {
  return readdirSync(join(checkout, "npm"))
    .sort()
    .map((folder) => ({ folder, path: join(checkout, "npm", folder) }))
    .filter(({ path }) => existsSync(join(path, "package.json")))
    .map(({ folder, path }) => ({ folder, path, manifest: readJson(join(path, "package.json")) }))
    .map((each) => ({ ...each, isPlatform: each.manifest.name !== "frazil" }))
    .sort((left, right) => Number(right.isPlatform) - Number(left.isPlatform));
}

/** The crates of a checkout: `name`, `path` of the Cargo.toml, its `text`, and whether the crate goes to crates.io. */
export function crates(checkout = root) {
  return readdirSync(join(checkout, "crates"))
    .sort()
    .map((folder) => join(checkout, "crates", folder, "Cargo.toml"))
    .filter((path) => existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, "utf8") }))
    .map(({ path, text }) => ({
      name: /^name = "(.*)"$/m.exec(text)[1],
      path,
      text,
      isPublished: !/^publish = false$/m.test(text),
    }));
}
