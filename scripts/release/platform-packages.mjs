// What a release asks of the platform packages: that every one is built as it is released, and that its addon passes inspection. A separate
// file, since tests-js/packaging/release.test.mjs replaces it in a copy of the checkout.

import { platformNamed } from "../platforms/index.mjs";
import { inspectPlatformPackages } from "../platforms/inspect.mjs";
import { run } from "../shell.mjs";

/** Builds the package and every platform package. */
export const buildPlatformPackages = () => run("npm", ["run", "--silent", "build:platforms"]);

/** Inspects the addon of the platform package in a folder of `npm/`. Throws if it is refused; `platforms/inspect.mjs` has the rules. */
export function inspectPlatformPackage({ folder }) {
  inspectPlatformPackages([platformNamed(folder)]);
}
