// The client for Workers as one script: the shipped sources and the binding of workerd, with the runtime handed to it. Every isolate
// evaluates the script anew, so each has module variables and a WebAssembly instance of its own.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const sources = fileURLToPath(new URL("../../npm/frazil/src/", import.meta.url));
const wasm = fileURLToPath(new URL("../../npm/frazil/dist/frazil.wasm", import.meta.url));

/** What the runtime gives a script. */
const RUNTIME = ["Date", "performance", "setTimeout", "clearTimeout", "crypto", "globalThis"];

const GIVEN = {
  "#host": "export const { waitUntil } = host; export const requireWorkers = () => {}; export class DurableObject {}",
  "./workerd-wasm.mjs": "export default { default: host.module };",
};

/**
 * Compiles the script. `changes` are lines that are replaced, in the files of these names, to make it wrong on purpose. Returns a
 * function that evaluates it: `host` has the module and `waitUntil`, and `runtime` the globals by name.
 */
export async function compile({ files = [], changes = [] } = {}) {
  const left = new Set(changes);
  const plugin = {
    name: "isolate",
    setup(build) {
      build.onResolve({ filter: /^#host$|^\.\/workerd-wasm\.mjs$/ }, ({ path }) => ({ path, namespace: "given" }));
      build.onResolve({ filter: /^#binding$/ }, () => ({ path: `${sources}binding/workerd.ts` }));
      build.onResolve({ filter: /^frazil$/ }, () => ({ path: `${sources}index.ts` }));
      build.onLoad({ filter: /./, namespace: "given" }, ({ path }) => ({ contents: GIVEN[path] }));
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!files.includes(basename(path))) return undefined;
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
  const { outputFiles } = await esbuild.build({
    entryPoints: [`${sources}workers/leased.ts`],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "simulated",
    platform: "neutral",
    target: "es2022",
    tsconfigRaw: "{}",
    plugins: [plugin],
    logLevel: "silent",
  });
  if (left.size > 0) throw new Error(`the sources have no line ${[...left].map(([before]) => before).join(" | ")}`);
  const script = new Function("host", ...RUNTIME, `${outputFiles[0].text}\nreturn simulated.leased;`);
  const module = new WebAssembly.Module(readFileSync(wasm));
  return (host, runtime) => script({ ...host, module }, ...RUNTIME.map((name) => runtime[name]));
}
