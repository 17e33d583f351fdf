// For esbuild: what a bundle imports from another file of `dist` rather than contain it.
import { readFileSync } from "node:fs";
import { posix, relative } from "node:path";
import { root } from "../shell.mjs";
import { ENTRIES, sourceOf } from "./bundles.mjs";

const src = `${root}npm/frazil/src`;

/** The sources that a shared file of this name exports, such as `base/errors`. */
function exportedBy(name) {
  const path = sourceOf(name);
  const names = readFileSync(`${src}/../${path}`, "utf8").matchAll(/from "(\..*)\.js"/g);
  return Array.from(names, ([, source]) => posix.join(posix.dirname(posix.relative("src", path)), source));
}

/**
 * Replaces the import of a source by an import of the file that contains it: the shared file of the bundle (`shares`), another entry
 * (`takesEntries`), `native-addons.cjs`, or in CommonJS `wasm-text.cjs`. And that of `frazil`, if the bundle names another file.
 */
export function sharing({ file, format, shares = [], takesEntries, frazil }) {
  const extension = format === "esm" ? "mjs" : "cjs";
  const files = new Map();
  if (takesEntries) for (const entry of ENTRIES) files.set(`${entry}/index`, `${entry}.${extension}`);
  for (const name of shares) for (const source of exportedBy(name)) files.set(source, `${name}.${extension}`);
  if (frazil) files.set("frazil", frazil);
  if (file.startsWith("native.")) files.set("native/addons", "native-addons.cjs");
  if (format === "cjs") files.set("core/binding/wasm-text", "wasm-text.cjs");
  return {
    name: "sharing",
    setup(build) {
      build.onResolve({ filter: /^frazil$|^\..*\.js$/ }, ({ path, resolveDir }) => {
        const source = posix.join(relative(src, resolveDir).replaceAll("\\", "/"), path).replace(/\.js$/, "");
        const found = files.get(path === "frazil" ? path : source);
        if (found === undefined) return undefined;
        const from = posix.relative(posix.dirname(file), found);
        return { path: from.startsWith(".") ? from : `./${from}`, external: true, sideEffects: false };
      });
    },
  };
}
