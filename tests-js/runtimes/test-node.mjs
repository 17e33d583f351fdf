// The tests of a Node release: both backends, by import and by require.
import assert from "node:assert/strict";
import { test } from "node:test";
import { expectedCounts, inNewProcess } from "./bundle-and-run.mjs";

export function testNode(name, program) {
  for (const [backend, env] of Object.entries({ native: {}, wasm: { FRAZIL_BACKEND: "wasm" } })) {
    test(`${name}: vectors and minting, backend ${backend}, and require gives what import gives`, async () => {
      const { vectors, minting, requireIsImport } = await inNewProcess(program, { after: ["require"], env });
      assert.deepEqual(vectors, await expectedCounts());
      assert.equal(minting.backend, backend);
      assert.deepEqual(minting.refusals, [], "Node can block");
      assert.ok(minting.waitedMs > 0);
      assert.equal(requireIsImport, true);
    });
  }
}
