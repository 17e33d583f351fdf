// A WebAssembly module that trapped inside a call: later calls are refused, and collecting its generators must not end the
// process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { entry, inNewProcess } from "./node-process.mjs";

/** Overwrites the module's memory, so that its next call traps; then lets a generator that has minted be collected. */
const script = `
  import { createRequire } from "node:module";
  const { Snowflake } = createRequire(import.meta.url)(${JSON.stringify(entry)});
  let t = Date.now();
  let ids = new Snowflake({ node: 1, now: () => t, maxLeadMs: 1000 });
  const kept = new Snowflake({ node: 2, now: () => t });
  ids.next();
  const { binding } = globalThis[Symbol.for("frazil")].connect();
  new Uint8Array(binding.memory.buffer).fill(0xff);
  const codes = [];
  for (const call of [() => kept.stats(), () => kept.next(), () => ids.next()]) {
    t += 1;
    try { call(); } catch (error) { codes.push(error.code ?? error.name); }
  }
  ids = undefined;
  for (let turn = 0; turn < 10; turn++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  process.stdout.write(JSON.stringify(codes));
`;

test("collecting a generator after WebAssembly trapped does not end the process", async () => {
  const codes = await inNewProcess(script, { flags: ["--expose-gc"], env: { FRAZIL_BACKEND: "wasm" } });
  assert.deepEqual(codes, ["WASM_UNAVAILABLE", "WASM_UNAVAILABLE", "WASM_UNAVAILABLE"]);
});
