// The incidents have their trouble, and without it nothing is wrong with them: by the slow auditor, for the exact kinds of findings.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Layout } from "frazil";
import { differences } from "./differences.mjs";
import { withFolder, writeIncident } from "./files.mjs";
import { LAYOUTS } from "./fleet.mjs";
import { CLEAN_NAMES, cleanFleet, incident, NAMES } from "./incidents.mjs";
import { audit, EXACT, read } from "./reference.mjs";

const COUNT = 20_000;
const isExact = ({ kind }) => EXACT.includes(kind);

/** What the slow auditor finds in the file of an incident. */
const audited = (made, { broken, gzip } = {}) =>
  withFolder((folder) => {
    const rows = read(writeIncident(made, folder, { gzip }), made.format);
    const isInOrder = made.order === "arrival";
    return audit(rows, { layout: made.layout, nowMs: made.nowMs, isInOrder }, broken);
  });

const exactly = ({ expected, also }) => ({ expected: expected.filter(isExact), also });

describe("each incident", () => {
  for (const name of NAMES) {
    test(`${name}: what must be found is there, and without its trouble nothing is`, async () => {
      const made = incident(name, { count: COUNT });
      assert.equal(made.rows.length, COUNT);
      assert.ok(made.expected.length > 0);
      assert.deepEqual(differences(await audited(made, { gzip: true }), exactly(made)), []);
      const clean = incident(name, { count: COUNT, trouble: false });
      assert.deepEqual(clean.expected, []);
      assert.deepEqual(await audited(clean), []);
    });
  }

  test("the same seed gives the same rows, and another one others", () => {
    const [one, same, other] = [1, 1, 2].map((seed) => incident(NAMES[0], { count: 100, seed }).rows.ids.join());
    assert.equal(one, same);
    assert.notEqual(one, other);
  });
});

describe("clean fleets", () => {
  for (const name of CLEAN_NAMES)
    test(`${name}: nothing is found in 20 of them`, async () => {
      for (let seed = 1; seed <= 20; seed++)
        assert.deepEqual(await audited(cleanFleet(name, { count: 2000, seed })), [], `seed ${seed}`);
    });
});

describe("a broken auditor is caught", () => {
  for (const [broken, name] of [
    ["neighbours", "two processes with one node id for a while"],
    ["anyNode", "a node id of two hosts"],
    ["lastRow", "a clock in 1970"],
  ])
    test(broken, async () => {
      // Sooner or later the last row is of the node with the trouble.
      const seeds = Array.from({ length: 40 }, (_, seed) => seed);
      const found = [];
      for (const seed of seeds) {
        const made = incident(name, { count: 2000, seed });
        found.push(...differences(await audited(made, { broken }), exactly(made)));
      }
      assert.ok(found.length > 0);
    });
});

describe("a wrong report is caught", () => {
  const made = incident("a node id of two hosts", { count: COUNT });
  const [right] = made.expected;
  const report = { ...right, certainty: "exact", node: right.nodes[0], nodes: undefined };
  const wrong = {
    "nothing is found": [],
    "another kind": [{ ...report, kind: "repeats" }],
    "another node": [{ ...report, node: report.node + 1 }],
    "one too few": [{ ...report, count: report.count - 1 }],
    "another host": [{ ...report, hosts: ["api-00", "api-01"] }],
    "another time": [{ ...report, toMs: report.toMs + 1 }],
    "something else besides": [report, { kind: "future", certainty: "exact", count: 1 }],
    "another node besides": [report, { ...report, node: report.node + 1 }],
  };
  test("the right one is not", () => assert.deepEqual(differences([report], made), []));
  for (const [name, findings] of Object.entries(wrong))
    test(name, () => assert.ok(differences(findings, made).length > 0));
});

test("the layouts of the fleets are those of the package", () => {
  for (const [name, { epochMs, tickMs, ...bits }] of Object.entries(LAYOUTS)) {
    const layout = Layout.named(name);
    assert.deepEqual([epochMs, tickMs], [layout.epochMs, layout.tickMs]);
    const node = 2 ** bits.nodeBits - 2;
    const id =
      (9n << BigInt(bits.timeShift)) | (BigInt(node) << BigInt(bits.nodeShift)) | (3n << BigInt(bits.sequenceShift));
    const decoded = layout.decode(id);
    assert.deepEqual([decoded.timestampMs, decoded.node, decoded.sequence], [epochMs + 9 * tickMs, node, 3]);
  }
});
