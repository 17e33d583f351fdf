// docs/internals/claims.md: 21
// If the kernel refuses named memory, and on macOS, the mark of the addon is an open file without a name.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { preloadedLibrary } from "../../processes/preloaded.mjs";
import { entry, inNewProcess, needsLinux } from "./node-process.mjs";

/** The addon opens a generator in a worker thread, and WebAssembly another one in the main thread. */
const program = (options) => `
  import { execFileSync } from "node:child_process";
  import { readFileSync } from "node:fs";
  import { createRequire } from "node:module";
  import { Worker } from "node:worker_threads";
  const require = createRequire(import.meta.url);
  const outcome = ${outcome};
  const workerData = { path: ${JSON.stringify(entry)}, options: ${JSON.stringify(options)} };
  const env = { ...process.env, FRAZIL_BACKEND: "native" };
  const script = \`
    const { parentPort, workerData } = require("node:worker_threads");
    const outcome = ${outcome};
    parentPort.postMessage(outcome(require, workerData));
    parentPort.on("message", () => {});
  \`;
  const worker = new Worker(script, { eval: true, execArgv: [], env, workerData });
  const results = [await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject))];
  process.env.FRAZIL_BACKEND = "wasm";
  results.push(outcome(require, { ...workerData, options: { node: 5 } }));
  // A child that is started meanwhile has no mark of its parent.
  const child = "require(" + JSON.stringify(workerData.path) + "); process.stdout.write((" + outcome + ")(require, " + JSON.stringify({ ...workerData, options: { node: 5 } }) + "))";
  results.push(execFileSync(process.execPath, ["--eval", child], { env: process.env, encoding: "utf8" }));
  await worker.terminate();
  process.stdout.write(JSON.stringify({ results, maps: readFileSync("/proc/self/maps", "latin1").includes("frazil-native") }));
`;

/** Mints: returns the backend, or the code of the refusal. */
function outcome(require, { path, options }) {
  try {
    const ids = new (require(path).Snowflake)(options);
    ids.next();
    return ids.backend;
  } catch (error) {
    return String(error.code);
  }
}

describe("if memfd_create is refused", needsLinux, () => {
  const library = preloadedLibrary(new URL("no-memfd.c", import.meta.url));
  const run = (options) => inNewProcess(program(options), { env: { LD_PRELOAD: library } });

  test("WebAssembly that starts after the addon is refused, and a child of the process is not", async () => {
    const { results, maps } = await run({ node: 5 });
    assert.equal(maps, false, "the memory must have been refused");
    assert.deepEqual(results, ["native", "STATE_CONFLICT", "wasm"]);
  });

  test("an addon that holds no node id is in nobody's way", async () => {
    const refused = await run({ node: 5000 });
    assert.deepEqual(refused.results, ["INVALID_NODE", "wasm", "wasm"]);
    const { results } = await run({ node: 5, unshared: true });
    assert.deepEqual(results, ["native", "wasm", "wasm"]);
  });
});
