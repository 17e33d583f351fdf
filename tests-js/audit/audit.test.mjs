// `npx frazil audit` finds the trouble of each incident, at its place, and nothing that is not there. FRAZIL_AUDIT_IDS: the IDs of each.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { auditOf, certaintyOf } from "./command.mjs";
import { differences } from "./differences.mjs";
import { withFolder, writeIncident } from "./files.mjs";
import { LAYOUTS, Rows } from "./fleet.mjs";
import { incident, NAMES } from "./incidents.mjs";
import { audit, EXACT, read } from "./reference.mjs";

const COUNT = Number(process.env.FRAZIL_AUDIT_IDS ?? 1_000_000);

/** The report on an incident. Every second one comes through a pipe, every third one has gzip, and the others go through files on disk. */
const reportOn = (made, at) =>
  withFolder((folder) => {
    const options = at % 3 === 0 ? [] : ["--memory", "2M"];
    return auditOf(made, writeIncident(made, folder, { gzip: at % 3 === 0 }), { isPiped: at % 2 === 0, options });
  });

describe(`each incident, in ${COUNT} IDs`, () => {
  for (const [at, name] of NAMES.entries()) {
    test(`${name}: it is found where it is, with its numbers, and nothing else`, async () => {
      const made = incident(name, { count: COUNT });
      const report = await reportOn(made, at);
      assert.deepEqual(differences(report.findings, made), []);
      const others = made.otherLines?.size ?? 0;
      assert.deepEqual([report.rows, report.ids], [COUNT + others, COUNT]);
      assert.equal(report.distinct, new Set(made.rows.ids).size);
    });
    test(`${name}: without its trouble nothing is found`, async () => {
      const made = incident(name, { count: COUNT, trouble: false });
      assert.deepEqual(differences((await reportOn(made, at)).findings, made), []);
    });
  }
});

/** The exact findings of some kinds, with what both auditors say of them: by kind, the sum of their numbers and their nodes. */
function summary(findings) {
  const kinds = {};
  for (const { kind, count, node, nodes = node === undefined ? [] : [node] } of findings) {
    if (!EXACT.includes(kind)) continue;
    kinds[kind] ??= { count: 0, nodes: new Set() };
    kinds[kind].count += count;
    for (const one of nodes) kinds[kind].nodes.add(one);
  }
  return Object.fromEntries(
    Object.keys(kinds)
      .toSorted()
      .map((kind) => [kind, [kinds[kind].count, [...kinds[kind].nodes].toSorted((a, b) => a - b)]]),
  );
}

/** Kinds in which the engine sees more than the slow auditor, which reads a negative ID as one of a time before the epoch. */
const WITHOUT_DOUBT = ["repeats", "shared_node", "negative", "peak", "unreadable", "future"];

describe("the slow auditor agrees in small files", () => {
  const only = (all) => Object.fromEntries(Object.entries(all).filter(([kind]) => WITHOUT_DOUBT.includes(kind)));
  for (const name of NAMES)
    test(name, async () => {
      for (const seed of [2, 3, 4]) {
        const made = incident(name, { count: 5000, seed });
        await withFolder(async (folder) => {
          const path = writeIncident(made, folder);
          const slow = audit(read(path, made.format), { ...made, isInOrder: made.order === "arrival" });
          const { findings } = await auditOf(made, path);
          assert.deepEqual(only(summary(findings)), only(summary(slow)), `seed ${seed}`);
        });
      }
    });
});

test("more node ids than the memory holds are a finding, and repeats are found all the same", async () => {
  const [layout, nodes] = [LAYOUTS.baidu, 300_000];
  const rows = new Rows(nodes + 1);
  for (let at = 0; at <= nodes; at++) {
    const node = Math.min(at, nodes - 1);
    rows.add(layout, 56_000_000, node * 2 ** layout.nodeShift, { host: 0, writtenMs: 0, commitMs: 0 });
  }
  const made = { layout: "baidu", rows, columns: ["id"], format: "lines", nowMs: Date.UTC(2018, 5, 1) };
  const { findings } = await withFolder((folder) =>
    auditOf(made, writeIncident(made, folder), { options: ["--memory", "1M"] }),
  );
  const expected = [{ kind: "repeats", count: 1, nodes: [nodes - 1] }, { kind: "capped" }];
  assert.deepEqual(differences(findings, { expected }), []);
});

test("every kind of the incidents is one that the command line knows as exact, statistical or informational", () => {
  const kinds = NAMES.flatMap((name) => incident(name, { count: 5000 }).expected.map(({ kind }) => kind));
  const certainties = new Set(kinds.map(certaintyOf));
  assert.deepEqual([...certainties].toSorted(), ["exact", "informational", "statistical"]);
  assert.ok(new Set(kinds).size >= 14, `${[...new Set(kinds)]}`);
});
