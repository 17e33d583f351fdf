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
 * Replaces the import of a source by an import of the file that contains it: the shared file of the bundle (`shares`), another entry
 * (`takesEntries`), `native-addons.cjs`, or in CommonJS `wasm-text.cjs`.
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
