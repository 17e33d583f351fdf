// The contract of segments itself: a correct store passes every scenario, and each broken one is caught by its scenario.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench, scenarios, segmentContract, whySkipped } from "frazil/testing/segment-contract";
import { DEFECTS, openNaiveSegments } from "./kit/naive-segment-store.mjs";

segmentContract({ name: "a naive store", open: async () => openNaiveSegments() });

const mutants = Object.entries(DEFECTS).flatMap(([defect, caughtBy]) =>
  [caughtBy].flat().map((name) => [defect, name]),
);
for (const [defect, scenario] of mutants) {
  test(`${defect}: "${scenario}" catches it`, async () => {
    const { run } = scenarios.find(({ name }) => name === scenario);
    await assert.rejects(() => run(new Bench(openNaiveSegments(defect))), { name: "AssertionError" });
  });
}

test("every scenario catches a broken store", () => {
  const caught = new Set(mutants.map(([, scenario]) => scenario));
  assert.deepEqual(
    scenarios.map(({ name }) => name).filter((name) => !caught.has(name)),
    [],
  );
});

test("a store that lacks something is not held to it, and to everything else", () => {
  const whyOf = (opened) => scenarios.map((scenario) => whySkipped(scenario, opened)).filter(Boolean);
  const { changeIncarnation, saveRecord, ...fixed } = openNaiveSegments();
  assert.deepEqual(whyOf({ ...fixed, changeIncarnation, saveRecord }), []);
  assert.deepEqual(
    whyOf({ ...fixed, saveRecord }),
    Array(3).fill("does not apply: the store was opened without changeIncarnation"),
  );
  assert.deepEqual(whyOf({ ...fixed, changeIncarnation }), ["does not apply: the store was opened without saveRecord"]);
  const lacking = { ...fixed, changeIncarnation, lacks: ["retries", "skips", "limits", "tags"] };
  assert.deepEqual(whyOf(lacking).length, 9);
});
