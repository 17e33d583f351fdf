import assert from "node:assert/strict";
import { test } from "node:test";
import { startBrowser } from "../chromium/browser.mjs";
import { unwrap } from "../json-result.mjs";
import { checkReport, compileTests } from "./compile.mjs";

const folder = await compileTests(["page", "worker-main"]);

test("crates/wasm/tests in Chromium, on a page and in a dedicated worker", async () => {
  const browser = await startBrowser(folder);
  try {
    const { answer, pageErrors } = await browser.open("page");
    assert.deepEqual(pageErrors, []);
    const { page, worker } = unwrap(answer);
    checkReport(unwrap(page));
    checkReport(unwrap(worker));
  } finally {
    await browser.close();
  }
});
