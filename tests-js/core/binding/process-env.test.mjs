// docs/internals/claims.md: 21
// WebAssembly marks the process in `process.env`, which a program may replace with a copy, freeze or clear.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { entry, inNewProcess, needsLinux, repeats } from "./node-process.mjs";

const worker = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { Snowflake } = require(workerData.path);
  Date.now = () => workerData.now;
  try {
    parentPort.postMessage({ ids: new Snowflake({ node: 5 }).nextManyStrings(2000) });
  } catch ({ code }) {
    parentPort.postMessage({ code });
  }
`;

const program = (before, after) => `
  import { createRequire } from "node:module";
  import { Worker } from "node:worker_threads";
  const path = ${JSON.stringify(entry)};
  const { Snowflake } = createRequire(import.meta.url)(path);
  const now = Date.now() + 500;
  Date.now = () => now;
  process.env.FRAZIL_BACKEND = "wasm";
  ${before}
  const minted = () => {
    try {
      return { ids: new Snowflake({ node: 5 }).nextManyStrings(2000) };
    } catch (error) {
      return { code: String(error.code) };
    }
  };
  const results = [minted()];
  ${after}
  const options = { eval: true, execArgv: [], env: { FRAZIL_BACKEND: "native" }, workerData: { path, now } };
  const thread = new Worker(${JSON.stringify(worker)}, options);
  results.push(await new Promise((resolve, reject) => thread.once("message", resolve).once("error", reject)));
  process.stdout.write(JSON.stringify(results));
`;

describe("WebAssembly in the main thread and the addon in a worker thread never both mint", needsLinux, () => {
  for (const [how, before, after = ""] of [
    ["process.env is unchanged", ""],
    ["process.env was replaced by a copy", "process.env = { ...process.env };"],
    ["process.env was replaced by a frozen copy", "process.env = Object.freeze({ ...process.env });"],
    ["process.env was cleared afterwards", "", "for (const name in process.env) delete process.env[name];"],
  ]) {
    test(`if ${how}`, async () => {
      const results = await inNewProcess(program(before, after));
      assert.equal(repeats(results.flatMap(({ ids = [] }) => ids)), 0);
      assert.notEqual(results[0].code, "undefined", "every refusal must have a code");
      assert.ok(results.some(({ code }) => code === "STATE_CONFLICT"));
    });
  }
});
