// Deno, with no permission at all: WebAssembly, since an addon would need several.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tools } from "../../../scripts/tools.mjs";
import { expectedCounts, inNewProcess, root } from "../bundle-and-run.mjs";
import { assertThreadsAreRefused } from "../threads.mjs";

// The cache stays in the repository, and Deno does not check for a newer version.
const env = { DENO_DIR: `${root}.cache/deno`, DENO_NO_UPDATE_CHECK: "1" };

test("Deno without permissions: vectors and minting on WebAssembly", async () => {
  const { vectors, minting } = await inNewProcess(tools.deno, { before: ["run", "--no-prompt", "--no-remote"], env });
  assert.deepEqual(vectors, await expectedCounts());
  assert.equal(minting.backend, "wasm");
  assert.deepEqual(minting.refusals, [], "Deno can block");
  assert.ok(minting.waitedMs > 0);
});

// docs/safety.md: 31
test("Deno: a static node id is refused in web workers and in threads of node:worker_threads", () =>
  assertThreadsAreRefused(tools.deno, "inline.mjs", { before: ["run", "--no-prompt", "--allow-read"], env }));
