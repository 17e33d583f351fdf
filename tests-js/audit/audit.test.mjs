// `npx frazil audit` finds the trouble of each incident, at its place, and nothing that is not there. FRAZIL_AUDIT_IDS: the IDs of each.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { auditOf, certaintyOf } from "./command.mjs";
import { differences } from "./differences.mjs";
import { withFolder, writeIncident } from "./files.mjs";
import { LAYOUTS, Rows } from "./fleet.mjs";
import { incident, NAMES } from "./incidents.mjs";
import { audit, read } from "./reference.mjs";

const COUNT = Number(process.env.FRAZIL_AUDIT_IDS ?? 1_000_000);

/** The report on an incident. Every second one comes through a pipe, every third one has gzip, and the others go through files on disk. */
const reportOn = (made, at) =>
  withFolder((folder) => {
    const options = at % 3 === 0 ? [] : ["--memory", "2M"];
    return auditOf(made, writeIncident(made, folder, { gzip: at % 3 === 0 }), { isPiped: at % 2 === 0, options });
  });

function distinctIn(ids) {
  const sorted = ids.toSorted();
  return sorted.filter((id, at) => at === 0 || sorted[at - 1] !== id).length;
}

describe(`each incident, in ${COUNT} IDs`, () => {
  for (const [at, name] of NAMES.entries()) {
    test(`${name}: it is found where it is, with its numbers, and nothing else`, async () => {
      const made = incident(name, { count: COUNT });
      const report = await reportOn(made, at);
      assert.deepEqual(differences(report.findings, made), []);
      const others = made.otherLines?.size ?? 0;
      assert.deepEqual([report.rows, report.ids], [COUNT + others, COUNT]);
      assert.equal(report.distinct, distinctIn(made.rows.ids));
    });
    test(`${name}: without its trouble nothing is found`, async () => {
      const made = incident(name, { count: COUNT, trouble: false });
      assert.deepEqual(differences((await reportOn(made, at)).findings, made), []);
    });
  }
});

/** By kind, the sum of the numbers of findings, and their nodes: no nodes if one finding is of several. */
function summary(findings, kinds) {
  const of = (kind) => {
    const own = findings.filter((one) => one.kind === kind);
    const nodes = own.map(({ node, nodes: [only] = [node] }) => only);
    return [
      kind,
      own.reduce((sum, { count }) => sum + count, 0),
      nodes.includes(undefined) ? "many" : nodes.toSorted((a, b) => a - b),
    ];
  };
  return kinds.map(of);
}

/** Kinds that both auditors have by the same rule. IDs of another layout are not in the future too for the engine. */
const kindsOf = (name) => [
  ...["repeats", "shared_node", "negative", "peak", "unreadable"],
  ...(name === "two layouts in one column" ? [] : ["future"]),
];

describe("the slow auditor agrees in small files", () => {
  for (const name of NAMES)
    test(name, async () => {
      for (const seed of [2, 3, 4]) {
        const made = incident(name, { count: 5000, seed });
        await withFolder(async (folder) => {
          const path = writeIncident(made, folder);
          const slow = audit(read(path, made.format), { ...made, isInOrder: made.order === "arrival" });
          const { findings } = await auditOf(made, path);
          const fast = summary(findings, kindsOf(name));
          const wanted = summary(slow, kindsOf(name));
          // The engine names ten nodes of a kind.
          for (const [at, [, , nodes]] of fast.entries()) if (nodes === "many") wanted[at][2] = "many";
          assert.deepEqual(fast, wanted, `seed ${seed}`);
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
