// The possible layouts of real IDs, most likely first.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Layout } from "frazil";
import { load } from "../vectors/generated-tables.mjs";

const { readingsOf, sureness, whyNot } = await load("layouts", "likely");
const { published } = JSON.parse(
  readFileSync(new URL("../../crates/core/vectors/layouts.json", import.meta.url), "utf8"),
);
/** What fits depends on the time. */
const NOW_MS = Date.parse("2026-11-28T12:00Z");
const LAYOUTS = Layout.names.map((name) => [name, Layout.named(name)]);
const readings = (id, mentioned, layouts = LAYOUTS) => readingsOf(BigInt(id), layouts, NOW_MS, new Set(mentioned));

/** Of 2012, when Discord did not exist: its fields are those of an ID of Discord of 2016. */
const AMBIGUOUS = "204697221847986177";

test("the layout of each published ID is the most likely one, with its time", () => {
  for (const { id, layout, timestampMs } of published) {
    const [first] = readings(id, id === AMBIGUOUS ? ["twitter"] : []);
    assert.deepEqual([first.name, first.timestampMs], [layout, timestampMs], id);
  }
});

test("one published ID needs the text around it", () => {
  assert.equal(readings(AMBIGUOUS)[0].name, "discord");
  const [first] = readings(AMBIGUOUS, ["twitter"]);
  assert.deepEqual([first.name, first.reasons[0]], ["twitter", "the text names twitter"]);
});

test("no layout is named that gives a time after tomorrow or on the first day of its epoch", () => {
  for (const { id } of published)
    for (const [name, layout] of LAYOUTS) {
      const isNamed = readings(id).some((reading) => reading.name === name);
      const fits = layout.tryParse(BigInt(id)) !== undefined && whyNot(layout, BigInt(id), NOW_MS) === undefined;
      assert.equal(isNamed, fits, `${id} as ${name}`);
    }
  const { epochMs } = Layout.named("default");
  const at = (ms) => BigInt(ms - epochMs) << 22n;
  const whyNotAt = (ms) => whyNot(Layout.named("default"), at(ms), NOW_MS);
  const DAY_MS = 86_400_000;
  assert.match(whyNotAt(epochMs + DAY_MS - 1), /first day/);
  assert.equal(whyNotAt(epochMs + DAY_MS), undefined);
  assert.equal(whyNotAt(NOW_MS + DAY_MS), undefined);
  assert.match(whyNotAt(NOW_MS + DAY_MS + 1), /not come yet/);
});

test("how sure the first is depends on the second", () => {
  const all = readings(published[0].id);
  const [first] = all;
  const at = (bits) => ({ ...first, evidence: first.evidence - bits });
  assert.deepEqual([[], [first], [first, at(3.1)], [first, at(3)]].map(sureness), [
    "none",
    "only",
    "likely",
    "possible",
  ]);
});

test("few random numbers have an only layout: what speaks against it counts", () => {
  // Of 63 bits, by the multiplier of Knuth's MMIX.
  let state = 1n;
  const random = () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return state >> 1n;
  };
  const all = Array.from({ length: 2000 }, () => sureness(readings(random())));
  assert.ok(all.filter((one) => one === "only").length < 100, `${all.filter((one) => one === "only").length}`);
  assert.ok(all.filter((one) => one === "possible").length > 500);
  // The readme of uid-generator.
  assert.equal(sureness(readings("180363646902239241").slice(0, 1)), "only");
});
