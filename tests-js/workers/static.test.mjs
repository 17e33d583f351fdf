// Static node ids in Cloudflare's runtime: `health()` warns of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { DATES, WorkerServer } from "../stores/workerd/server.mjs";

const entry = fileURLToPath(new URL("static-worker.mjs", import.meta.url));
const bindings = {
  objects: { FRAZIL: "FrazilLeases", ROOMS: "Room" },
  classes: { FrazilLeases: "sqlite", Room: "sqlite" },
};
const warningOf = (node) => [
  `node is ${node}: isolates share nothing, so each one with it repeats the IDs of the others. Use leased() or, in a ` +
    "Durable Object, durable() of frazil/workers. Or pass unshared: true if no other isolate has it.",
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
        printed: [
          `frazil: ${warningOf(3)}`,
          "frazil: In a Worker, lease() takes another node id in each request. Call leased() of frazil/workers, which has one for all requests of an isolate.",
        ],
      });
    } finally {
      await server.stop();
    }
  });
}
