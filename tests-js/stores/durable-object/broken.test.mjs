// Deliberately broken objects: the contract must catch each of them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Bench, scenarios } from "frazil/testing/lease-contract";
import { caught, initIn, OVERLAPS } from "../kit/segments.mjs";
import { WorkerServer } from "../workerd/server.mjs";

/** The defects, and a scenario that catches each. */
const CAUGHT = {
  "a write to a row is lost": "64 clients take 1,024 node ids, each once",
  "the fence is lost": "a fence holds acquisitions back, and windows begin behind it",
  "the grant of a row does not matter": "every node id is granted once, then none is free until the first ends",
  "rows that are held count as free": "every node id is granted once, then none is free until the first ends",
  "the nonce of a renewal is not written": "a retried renewal is accepted",
  "a window begins at 0": "an expired node id is granted from the end of its window",
};

describe("broken objects", () => {
  for (const [defect, name] of Object.entries(CAUGHT)) {
    test(`${defect}: "${name}" catches it`, async () => {
      const server = await WorkerServer.start({ defect });
      try {
        const store = server.store("OBJECTS", { nodes: { from: 0, to: 1023 } });
        const bench = new Bench({ store, init: (scope) => store.init({ ...scope, layout: "default" }) });
        const { run } = scenarios.find((scenario) => scenario.name === name);
        await assert.rejects(() => run(bench), { name: "AssertionError" });
      } finally {
        await server.stop();
      }
    });
  }

  test(`the record of a tag is not written: "${OVERLAPS}" catches it`, async () => {
    const server = await WorkerServer.start({ defect: "the record of a tag is not written" });
    try {
      const store = server.store("OBJECTS");
      await caught(OVERLAPS, { store, init: initIn(store) });
    } finally {
      await server.stop();
    }
  });
});
