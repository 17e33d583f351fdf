// Chromium: a page, a dedicated worker, and pages whose policy forbids WebAssembly or allows it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bundle, expectedCounts } from "../bundle-and-run.mjs";
import { unwrap } from "../json-result.mjs";
import { startBrowser } from "./browser.mjs";

let browser;
before(async () => {
  const entries = ["page", "worker-page", "worker-main", "csp-page"].map((name) => `chromium/${name}.mjs`);
  browser = await startBrowser(await bundle(entries, { conditions: ["browser"] }));
});
after(() => browser?.close());

/** Opens a page that must report no errors, and returns its result. */
async function openWithoutErrors(script, headers) {
  const { answer, pageErrors } = await browser.open(script, headers);
  assert.deepEqual(pageErrors, []);
  return unwrap(answer);
}

/** On a thread that cannot block, the only refusal is that the sequence is full, with the time until it is worth retrying. */
function checkMinted({ backend, refusals, waitedMs }) {
  assert.equal(backend, "wasm");
  assert.deepEqual(
    refusals.filter((kind) => kind !== "SEQUENCE_EXHAUSTED 1"),
    [],
  );
  assert.ok(waitedMs > 0, "nextManyAsync waits");
}

test("a page: vectors and minting", async () => {
  const { vectors, minting, warnings } = await openWithoutErrors("page");
  assert.deepEqual(vectors, await expectedCounts());
  checkMinted(minting);
  const [[warning], ...others] = warnings;
  assert.match(warning, /^node is 9 in a page: tabs and workers with one node id repeat each other's IDs/);
  assert.deepEqual(others, [[], []]);
});

test("a dedicated worker: vectors and minting", async () => {
  const { isolated, ...answer } = await openWithoutErrors("worker-page");
  const { vectors, minting, warnings } = unwrap(answer);
  assert.equal(warnings, 1);
  assert.equal(isolated, false);
  assert.deepEqual(vectors, await expectedCounts());
  checkMinted(minting);
});

test("a dedicated worker of a cross-origin isolated page can block: next waits and is not refused", async () => {
  const headers = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };
  const { isolated, ...answer } = await openWithoutErrors("worker-page", headers);
  const { minting } = unwrap(answer);
  assert.equal(isolated, true);
  assert.deepEqual(minting.refusals, []);
  checkMinted(minting);
});

const decoded = {
  decoded: "2016-04-30T11:18:25.796Z",
  text: "0Czks0tP37X",
  layout: "2022-06-28T16:07:40.105Z",
  layoutAlone: "2022-06-28T16:07:40.105Z",
  layoutOfIds: 1_780_000_000_000,
};

test("script-src 'self': decoding, text and layouts work, minting is WASM_UNAVAILABLE with its cause", async () => {
  const { answer, pageErrors } = await browser.open("csp-page", { "content-security-policy": "script-src 'self'" });
  const { evaluates, refused, minting, ...works } = unwrap(answer);
  assert.equal(evaluates, false, "the policy must be in force");
  assert.deepEqual(works, decoded);
  assert.equal(refused.length, 5);
  for (const { says, advice, ...refusal } of refused) {
    assert.deepEqual(refusal, { ours: true, code: "WASM_UNAVAILABLE", cause: "CompileError" });
    assert.match(says, /^WASM_UNAVAILABLE: .*unsafe-eval/);
    assert.match(advice, /wasm-unsafe-eval/);
  }
  assert.equal(minting, undefined, "the checks of minting must fail where nothing can be minted");
  for (const pageError of pageErrors) assert.match(pageError, /Content Security Policy/);
});

test("script-src 'self' 'wasm-unsafe-eval': minting works", async () => {
  const { evaluates, refused, minting, ...works } = await openWithoutErrors("csp-page", {
    "content-security-policy": "script-src 'self' 'wasm-unsafe-eval'",
  });
  assert.equal(evaluates, false, "the policy must be in force");
  assert.deepEqual(works, decoded);
  for (const { returned } of refused) assert.match(returned, /^\d+$/);
  checkMinted(minting);
});
