// Runs in Node: starts `threads-main.mjs` in a runtime, and asserts that a static node id on WebAssembly is refused in worker threads.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const main = fileURLToPath(new URL("threads-main.mjs", import.meta.url));

/** `file`: the file of the package. `before`: the arguments before that of the program. */
export async function assertThreadsAreRefused(program, file, { before = [], env = {} } = {}) {
  const entry = new URL(`../../npm/frazil/dist/${file}`, import.meta.url).href;
  const options = { env: { ...process.env, FRAZIL_BACKEND: "wasm", ...env }, timeout: 60_000 };
  const { stdout } = await promisify(execFile)(program, [...before, main, entry], options);
  const minted = { shared: "bigint", unshared: "bigint", simulated: "bigint" };
  const refused = { ...minted, shared: "NATIVE_REQUIRED" };
  assert.deepEqual(JSON.parse(stdout), { main: minted, web: refused, node: refused });
}
