// Segments in SQLite: the contract through each client, in its runtime, and what can go wrong with files.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scenarios } from "frazil/testing/segment-contract";
import { CLIENTS, holdContract, passedIn } from "./programs.mjs";

for (const [name, program, client] of CLIENTS) {
  // docs/safety.md: 28, 29
  test(`${client} in ${name} keeps the contract of segments`, async () => {
    const { held, skipped, failures } = await holdContract("segments-main.mjs", program, client);
    assert.deepEqual(failures, []);
    assert.deepEqual([held, skipped], [scenarios.length, []]);
  });
}

// docs/safety.md: 28, 29
test("files that are restored, and four processes at once", async () => {
  assert.ok((await passedIn("segments-files.mjs")) >= 6);
});
