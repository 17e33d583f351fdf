// The contract itself: a correct store passes every scenario, and each broken one is caught by its scenario.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench, leaseContract, scenarios } from "frazil/testing/lease-contract";
import { DEFECTS, openNaiveLeases } from "./kit/naive-lease-store.mjs";

leaseContract({ name: "a naive store", open: async () => openNaiveLeases() });

const mutants = Object.entries(DEFECTS).flatMap(([defect, caughtBy]) =>
  [caughtBy].flat().map((name) => [defect, name]),
);
for (const [defect, scenario] of mutants) {
  test(`${defect}: "${scenario}" catches it`, async () => {
    const { run } = scenarios.find(({ name }) => name === scenario);
    await assert.rejects(() => run(new Bench(openNaiveLeases(defect))), { name: "AssertionError" });
  });
}

test("every scenario catches a broken store", () => {
  const caught = new Set(mutants.map(([, scenario]) => scenario));
  // The churn of skewed clients repeats what others test one by one.
  const exempt = ["windows never overlap, with clients a window and a half apart"];
  const idle = scenarios.map(({ name }) => name).filter((name) => !caught.has(name) && !exempt.includes(name));
  assert.deepEqual(idle, []);
});
