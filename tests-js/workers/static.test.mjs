// Static node ids in Cloudflare's runtime: `health()` warns of them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Snowflake } from "frazil";
import { isLinuxX64Gnu } from "../../scripts/shell.mjs";
import { DATES, WorkerServer } from "../workerd/server.mjs";

const entry = fileURLToPath(new URL("static-worker.mjs", import.meta.url));
const bindings = {
  objects: { FRAZIL: "FrazilLeases", ROOMS: "Room" },
  classes: { FrazilLeases: "sqlite", Room: "sqlite" },
};
const warningOf = (node) => [
  `node is ${node}: isolates share nothing, so each one with it repeats the IDs of the others. Use leased() or, in a ` +
    "Durable Object, durable() of frazil/workers; or pass unshared: true if no other isolate has it",
];

for (const date of DATES) {
  test(`health() warns of node ids that other isolates may have, at ${date}`, async () => {
    const server = await WorkerServer.startWith(entry, { date, ...bindings });
    try {
      assert.deepEqual(await (await fetch(server.url)).json(), {
        node: warningOf(7),
        parts: warningOf(34),
        none: warningOf("none"),
        "at module scope": warningOf(3),
        "confirmed false": warningOf(7),
        confirmed: [],
        "a clock of its own": [],
        "leased()": [],
        "lease()": [],
        // Nothing in it tells whether the node id is that of the object.
        "in an object": warningOf(7),
        "in an object, confirmed": [],
        "durable()": [],
        // Once, of the first one: at module scope.
        printed: [`frazil: ${warningOf(3)}`],
      });
    } finally {
      await server.stop();
    }
  });
}

test("elsewhere there is no warning", () => {
  assert.deepEqual(new Snowflake({ node: 7 }).health().warnings, []);
});

test("but in a worker of node:cluster, which has the variables of the others", { skip: !isLinuxX64Gnu }, () => {
  const program = `
    import cluster from "node:cluster";
    import { Snowflake } from "frazil";
    if (cluster.isPrimary) cluster.fork();
    else {
      for (const options of [{}, { unshared: true }, { now: Date.now }])
        console.log(new Snowflake({ node: 7, ...options }).health().warnings.join());
      process.exit();
    }
  `;
  const file = fileURLToPath(new URL(`of-the-cluster-${process.pid}.mjs`, import.meta.url));
  writeFileSync(file, program);
  try {
    const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
    const [given, ...others] = stdout.trimEnd().split("\n");
    assert.match(given, /^node is 7 in a worker of node:cluster: workers with one node id repeat/, stderr);
    assert.equal(others.join(""), "");
  } finally {
    rmSync(file);
  }
});
