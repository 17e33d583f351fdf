// docs/internals/claims.md: 31
// WebAssembly in worker threads where `process.getBuiltinModule` is missing, as it is in Node 21 and 22.0 to 22.2.
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { entry, inNewProcess, repeats } from "./node-process.mjs";

const file = (name) => JSON.stringify(pathToFileURL(join(entry, "..", name)));

/** Mints in the main thread and in two worker threads at the same clock time: returns the IDs and the refusals. */
const program = (name, options) => `
  import { Worker } from "node:worker_threads";
  const script = ${JSON.stringify(`
    import { parentPort, workerData } from "node:worker_threads";
    ${mint(name, options)}
    parentPort.postMessage(await mint(workerData));
  `)};
  ${mint(name, options)}
  const now = Date.now() + 500;
  const results = [await mint(now)];
  for (let thread = 0; thread < 2; thread++) {
    const worker = new Worker(new URL("data:text/javascript," + encodeURIComponent(script)), { workerData: now });
    results.push(await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject)));
  }
  process.stdout.write(JSON.stringify(results));
`;

const mint = (name, options) => `
  async function mint(now) {
    const loaded = await import(${file(name)});
    const { Snowflake } = loaded.default ?? loaded;
    Date.now = () => now;
    // Loads the backend, which may need the function as well.
    new Snowflake({ node: 5, now: Date.now }).next();
    process.getBuiltinModule = undefined;
    try {
      return { ids: new Snowflake(${options}).nextManyStrings(1000) };
    } catch ({ code, message, hint }) {
      return { code, message, hint };
    }
  }
`;

const run = (name, options) => inNewProcess(program(name, options), { env: { FRAZIL_BACKEND: "wasm" } });

describe("where process.getBuiltinModule is missing, WebAssembly refuses a static node id", () => {
  test("in worker threads, as it does elsewhere", async () => {
    const results = await run("node.cjs", "{ node: 5 }");
    for (const { code, message } of results.slice(1)) {
      assert.equal(code, "NATIVE_REQUIRED");
      assert.match(message, /WebAssembly in a worker thread shares no state/);
    }
  });

  for (const name of ["inline.cjs", "inline.mjs"]) {
    test(`in every thread, with ${name}, which has no other way to find out`, async () => {
      for (const { code, message, hint } of await run(name, "{ node: 5 }")) {
        assert.equal(code, "NATIVE_REQUIRED");
        assert.match(message, /it is unknown whether this is a worker thread/);
        assert.match(hint, /Update Node, or pass unshared: true/);
      }
    });
  }

  test("but not with unshared: true, and the checker catches the repeats of that", async () => {
    const results = await run("inline.mjs", "{ node: 5, unshared: true }");
    assert.equal(repeats(results.flatMap(({ ids }) => ids)), 2000);
  });
});
