// The contracts of leases and segments through clients of SQLite, each in its runtime.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { scenarios } from "frazil/testing/segment-contract";
import { holdContract } from "./programs.mjs";

/** A database in a file cannot have its own clock, or a failover between a read and a write. */
const NOT_OF_FILES = [
  "an acquisition that was decided before a failover is not written after it",
  "an acquisition that was decided before a fence is not written after it",
  "a renewal that was decided before a failover is not written after it",
  "a jump of the store's clock costs time only",
];

/** Declares the tests that hold clients to both contracts. */
export function holdClients(clients) {
  // Most of each is waiting.
  describe("the contract", { concurrency: true }, () => {
    for (const [name, program, client] of clients) {
      test(`${client} in ${name} keeps it`, async () => {
        const { held, skipped, failures } = await holdContract("main.mjs", program, client);
        assert.deepEqual(failures, []);
        assert.deepEqual(skipped, NOT_OF_FILES);
        assert.ok(held > 40, `${held} scenarios`);
      });
    }
  });
  for (const [name, program, client] of clients) {
    // docs/internals/claims.md: 28, 29
    test(`${client} in ${name} keeps the contract of segments`, async () => {
      const { held, skipped, failures } = await holdContract("segments-main.mjs", program, client);
      assert.deepEqual(failures, []);
      assert.deepEqual([held, skipped], [scenarios.length, []]);
    });
  }
}
