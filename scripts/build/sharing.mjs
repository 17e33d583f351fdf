// For esbuild: what a bundle imports from another file of `dist` rather than contain it.
import { readFileSync } from "node:fs";
import { posix, relative } from "node:path";
import { ENTRIES, sourceOf } from "./bundles.mjs";
import { root } from "../shell.mjs";

const src = `${root}npm/frazil/src`;

/** The sources that a shared file of this name exports, such as `base/errors`. */
function exportedBy(name) {
  const path = sourceOf(name);
  const names = readFileSync(`${src}/../${path}`, "utf8").matchAll(/from "(\..*)\.js"/g);
  return Array.from(names, ([, source]) => posix.join(posix.dirname(posix.relative("src", path)), source));
}

/**
 * An import of a source becomes one of the file that has it: of the shared file of the bundle, of another entry where the bundle takes
 * what entries export, of the file that has the packages of the addon, and in CommonJS of that which has the text of the module.
 */
export function sharing({ file, format, shares, takesEntries }) {
  const extension = format === "esm" ? "mjs" : "cjs";
  const files = new Map();
  if (takesEntries) for (const entry of ENTRIES) files.set(`${entry}/index`, `${entry}.${extension}`);
  if (shares) for (const source of exportedBy(shares)) files.set(source, `${shares}.${extension}`);
  if (file.startsWith("native.")) files.set("native/addons", "native-addons.cjs");
  if (format === "cjs") files.set("core/binding/wasm-text", "wasm-text.cjs");
  return {
    name: "sharing",
    setup(build) {
      build.onResolve({ filter: /^\..*\.js$/ }, ({ path, resolveDir }) => {
        const source = posix.join(relative(src, resolveDir).replaceAll("\\", "/"), path).replace(/\.js$/, "");
        const found = files.get(source);
        if (found === undefined) return undefined;
        const from = posix.relative(posix.dirname(file), found);
        return { path: from.startsWith(".") ? from : `./${from}`, external: true, sideEffects: false };
      });
    },
  };
}
