// The shipped sources with lines changed, to make them wrong on purpose: what the checkers of the simulations must find.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

export const sources = fileURLToPath(new URL("../../npm/frazil/src/", import.meta.url));

/**
 * Bundles sources. `changes` are pairs of what stands in these files and what stands there instead; each must stand in
 * one of them, once. `options` are esbuild's.
 */
export async function bundleChanged({ files = [], changes = [] } = {}, { plugins = [], external = [], ...options }) {
  const left = new Set(changes);
  const patch = {
    name: "patch",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!files.includes(relative(sources, path))) return undefined;
        let contents = readFileSync(path, "utf8");
        for (const change of changes) {
          const [before, after] = change;
          if (contents.split(before).length !== 2) continue;
          contents = contents.replace(before, () => after);
          left.delete(change);
        }
        return { contents, loader: "ts" };
      });
    },
  };
  const built = await esbuild.build({
    bundle: true,
    platform: "neutral",
    target: "es2022",
    logLevel: "silent",
    ...options,
    // As in scripts/build/index.mjs.
    external: [...external, "node:*"],
    plugins: [...plugins, patch],
  });
  if (left.size > 0) throw new Error(`the sources have no line ${[...left].map(([before]) => before).join(" | ")}`);
  return built;
}
