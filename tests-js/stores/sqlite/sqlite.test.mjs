// SQLite: the contract through each client that docs/stores.md names, in its runtime, and what can go wrong with files.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CLIENTS, holdContract, passedIn } from "./programs.mjs";

// Most of each is waiting.
describe("the contract", { concurrency: true }, () => {
  for (const [name, program, client] of CLIENTS) {
    test(`${client} in ${name} keeps it`, async () => {
      const { held, skipped, failures } = await holdContract("main.mjs", program, client);
      assert.deepEqual(failures, []);
      assert.deepEqual(skipped, ["a jump of the store's clock costs time only"]);
      assert.ok(held > 40, `${held} scenarios`);
    });
  }
});

test("traps", async () => {
  assert.ok((await passedIn("traps.mjs")) >= 10);
});

// docs/safety.md: 27, 28, 29
test("one file by two paths, and file systems without times of birth", async () => {
  assert.ok((await passedIn("one-path.mjs")) >= 1);
});
