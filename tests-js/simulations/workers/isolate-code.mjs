// The client for Workers as one script: the shipped sources and the binding of workerd, with the runtime handed to it. Every isolate
// evaluates the script anew, so each has its own module variables and WebAssembly instance.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundleChanged, sources } from "../changed-sources.mjs";

const wasm = fileURLToPath(new URL("../../../npm/frazil/dist/frazil.wasm", import.meta.url));

/** What the runtime gives a script. */
const RUNTIME = ["Date", "setTimeout", "clearTimeout", "queueMicrotask", "crypto", "globalThis"];

const GIVEN = {
  "cloudflare:workers": "export const { waitUntil } = host; export class DurableObject {}",
  "./workerd-wasm.mjs": "export default { default: host.module };",
};

const given = {
  name: "isolate",
  setup(build) {
    build.onResolve({ filter: /^cloudflare:workers$|^\.\/workerd-wasm\.mjs$/ }, ({ path }) => ({
      path,
      namespace: "given",
    }));
    build.onResolve({ filter: /^#binding$/ }, () => ({ path: `${sources}core/binding/workerd.ts` }));
    build.onResolve({ filter: /^#decoding$/ }, () => ({ path: `${sources}layout/small.ts` }));
    build.onResolve({ filter: /^frazil$/ }, () => ({ path: `${sources}index.ts` }));
    build.onLoad({ filter: /./, namespace: "given" }, ({ path }) => ({ contents: GIVEN[path] }));
  },
};

/**
 * Compiles the script of a file, such as `workers/leased.ts`, with changes that make it wrong on purpose. Returns a function that
 * evaluates it and returns the exports: `host` has `waitUntil`, and `runtime` the globals by name.
 */
export async function compile(entry, broken) {
  const { outputFiles } = await bundleChanged(broken, {
    entryPoints: [`${sources}${entry}`],
    write: false,
    format: "iife",
    globalName: "simulated",
    tsconfigRaw: "{}",
    plugins: [given],
  });
  const script = new Function("host", ...RUNTIME, `${outputFiles[0].text}\nreturn simulated;`);
  const module = new WebAssembly.Module(readFileSync(wasm));
  return (host, runtime) => script({ ...host, module }, ...RUNTIME.map((name) => runtime[name]));
}
