// Bun: the native addon, by import and by require.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tools } from "../../../scripts/tools.mjs";
import { expectedCounts, inNewProcess } from "../bundle-and-run.mjs";
import { assertThreadsAreRefused } from "../threads.mjs";
import { assertTurnsEnd } from "../turns.mjs";

for (const [backend, env] of Object.entries({ native: {}, wasm: { FRAZIL_BACKEND: "wasm" } })) {
  test(`Bun: vectors and minting, backend ${backend}, and require gives what import gives`, async () => {
    const { vectors, minting, requireIsImport } = await inNewProcess(tools.bun, { after: ["require"], env });
    assert.deepEqual(vectors, await expectedCounts());
    assert.equal(minting.backend, backend);
    assert.deepEqual(minting.refusals, [], "Bun can block");
    assert.ok(minting.waitedMs > 0);
    assert.equal(requireIsImport, true);
  });
}

for (const file of ["node.cjs", "inline.mjs"]) {
  // docs/internals/claims.md: 31
  test(`Bun, ${file} on WebAssembly: a static node id is refused in web workers and in threads of node:worker_threads`, () =>
    assertThreadsAreRefused(tools.bun, file));

  test(`Bun, ${file}: a turn of freshness: "turn" ends with an await, a timer and a request`, () =>
    assertTurnsEnd(tools.bun, file));
}
