// `npx frazil audit` finds nothing in clean fleets and in published IDs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Layout } from "frazil";
import { auditOf } from "./command.mjs";
import { withFolder, writeIncident } from "./files.mjs";
import { CLEAN_NAMES, cleanFleet } from "./incidents.mjs";

/** How many of each: 200 in all. */
const FLEETS = 40;
const COUNT = 5000;
/** The chance of a false alarm of this test. */
const CHANCE = 1e-6;

/** The probability of `least` alarms or more, of `fleets` with that rate. */
function tailOf(least, fleets, rate) {
  let [below, term] = [0, (1 - rate) ** fleets];
  for (let alarms = 0; alarms < least; alarms++) {
    below += term;
    term *= (((fleets - alarms) / (alarms + 1)) * rate) / (1 - rate);
  }
  return Math.max(0, 1 - below);
}

/** Whether that many alarms of that rate are believable. */
const isBelievable = (alarms, fleets, rate) => alarms === 0 || tailOf(alarms, fleets, rate) > CHANCE;

const auditedFleet = (made) => withFolder((folder) => auditOf(made, writeIncident(made, folder)));
const problems = (report) => report.findings.filter(({ certainty }) => certainty !== "informational");

describe(`${FLEETS * CLEAN_NAMES.length} clean fleets`, () => {
  /** By kind: the alarms, and the largest rate that one states. */
  const alarms = new Map();
  for (const name of CLEAN_NAMES)
    test(`${name}: no exact finding in ${FLEETS} of them`, async () => {
      for (let seed = 1; seed <= FLEETS; seed++) {
        const made = cleanFleet(name, { count: COUNT, seed });
        const found = problems(await auditedFleet(made));
        const texts = found
          .filter(({ certainty }) => certainty === "exact")
          .map(({ kind, message }) => `${kind}: ${message}`);
        assert.deepEqual(texts, [], `seed ${seed}, ${made.order}, ${made.columns}`);
        for (const kind of new Set(found.map((one) => one.kind))) {
          const rate = Math.max(...found.filter((one) => one.kind === kind).map((one) => one.falseAlarmRate));
          const so = alarms.get(kind) ?? { count: 0, rate: 0 };
          alarms.set(kind, { count: so.count + 1, rate: Math.max(so.rate, rate) });
        }
      }
    });

  test("statistical findings are no more frequent than they say", () => {
    for (const [kind, { count, rate }] of alarms)
      assert.ok(isBelievable(count, FLEETS * CLEAN_NAMES.length, rate), `${kind}: ${count} alarms at ${rate}`);
  });

  test("alarms that are too frequent are found", () => {
    assert.ok(isBelievable(2, 200, 0.01));
    assert.ok(!isBelievable(2, 200, 1e-6));
    assert.ok(!isBelievable(20, 200, 0.01));
  });
});

describe("a layout that is not given", () => {
  for (const name of ["default", "twitter", "sonyflake", "baidu"])
    test(`${name}: the report says that it is guessed, and finds nothing`, async () => {
      for (let seed = 101; seed <= 105; seed++) {
        const { layout, ...made } = cleanFleet(name, { count: COUNT, seed });
        const report = await auditedFleet(made);
        assert.equal(report.layout.guessed, true);
        assert.ok(report.layout.score > 0 && report.layout.reason.length > 0);
        // No other layout gives IDs of UidGenerator a time that has come.
        assert.equal(typeof report.layout.runnerUp?.name, name === "baidu" ? "undefined" : "string");
        // The layouts `twitter` and `leaf` have the same times.
        assert.equal(report.layout.epochMs, Layout.named(layout).epochMs, `seed ${seed}: ${report.layout.name}`);
        assert.deepEqual(problems(report), [], `seed ${seed}`);
      }
    });
});

/** Published IDs with their sources. */
const { published } = JSON.parse(
  readFileSync(new URL("../../crates/core/vectors/layouts.json", import.meta.url), "utf8"),
);

describe("published IDs", () => {
  for (const layout of new Set(published.map((one) => one.layout)))
    test(`${layout}: no alarm`, async () => {
      const ids = published.filter((one) => one.layout === layout).map(({ id }) => BigInt(id));
      const rows = { ids, length: ids.length };
      const made = { layout, rows, columns: ["id"], format: "lines", nowMs: Date.UTC(2026, 10, 29) };
      assert.deepEqual(problems(await auditedFleet(made)), []);
    });
});
