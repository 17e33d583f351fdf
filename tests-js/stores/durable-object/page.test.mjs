// docs/reference/stores/durable-object.md as printed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LOCATION_HINTS } from "frazil/workers";
import { answerOf, blocksOf, rowOf, setUp, startPage } from "../workerd/page.mjs";

const [leasedWorker, hintedWorker, segmentWorker, ordersObject, movedLeases, move] = blocksOf("durable-object", "js");

for (const [name, code] of [
  ["the Worker", leasedWorker],
  ["the Worker with a location hint", hintedWorker],
]) {
  test(`${name} mints in each request, with one node id`, async () => {
    const server = await startPage("durable-object", code);
    try {
      const answers = await Promise.all(Array.from({ length: 20 }, () => answerOf(server)));
      const ids = answers.map((answer) => /^(\d{18,19}) (\d+)\n$/.exec(answer).slice(1));
      assert.equal(new Set(ids.map(([id]) => id)).size, 20);
      assert.equal(new Set(ids.map(([, node]) => node)).size, 1);
    } finally {
      await server.stop();
    }
  });
}

test("the Worker with a segment in each request hands out every number once", async () => {
  const server = await startPage("durable-object", segmentWorker);
  try {
    await setUp(server);
    const numbers = await Promise.all(Array.from({ length: 30 }, () => answerOf(server)));
    assert.equal(new Set(numbers).size, 30, `${numbers}`);
    for (const number of numbers) assert.match(number, /^\d{1,3}\n$/);
  } finally {
    await server.stop();
  }
});

/** The object of the page, and a Worker that asks it. */
const withOrders = `${ordersObject}
export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname === "/set-up")
      return Response.json(await new DurableObjectStore(env.FRAZIL).initSegment({ tag: "orders" }));
    return new Response(String(await env.ORDERS.get(env.ORDERS.idFromName("orders")).next()));
  },
};`;

test("a segment in an object serves all requests", async () => {
  const more = { objects: { ORDERS: "Orders" }, classes: { Orders: "sqlite" } };
  const server = await startPage("durable-object", withOrders, more);
  try {
    await answerOf(server, "/set-up");
    const numbers = await Promise.all(Array.from({ length: 30 }, () => answerOf(server)));
    assert.deepEqual(
      numbers.map(Number).sort((a, b) => a - b),
      Array.from({ length: 30 }, (_, at) => at + 1),
    );
  } finally {
    await server.stop();
  }
});

/** The way that the page warns of. */
const atModuleScope = `${segmentWorker.replace("const orders =", "orders ??=")}\nlet orders;`
  .replace("orders.close();", "")
  .replace("step: 1 }", "step: 2, maxStep: 2, maxAsyncWaitMs: 300 }");

test("a segment at module scope is exhausted for ever: the page says so", async () => {
  const server = await startPage("durable-object", atModuleScope);
  try {
    await setUp(server);
    const answers = [];
    for (let request = 0; request < 8; request++) answers.push(await answerOf(server));
    assert.match(answers[0], /^1\n/);
    for (const answer of answers.slice(-3)) assert.match(answer, /SEGMENT_EXHAUSTED/);
  } finally {
    await server.stop();
  }
});

test("a class of the reader moves the counter of a tag up, and not down", async () => {
  const code = `${movedLeases.replace("import { FrazilLeases }", "import { DurableObjectStore, FrazilLeases, segmented }")}
  export default {
    async fetch(request, env, ctx) {
      const { pathname } = new URL(request.url);
      if (pathname === "/make") return Response.json(await new DurableObjectStore(env.FRAZIL).initSegment({ tag: "orders" }));
      if (pathname === "/down") return new Response(await ${move
        .replace(/^.*await/s, "")
        .replace("5000000", "7")
        .replace(";", "")});
      if (pathname === "/move") return new Response(await ${move.replace(/^.*await/s, "").replace(";", "")});
      return new Response(await segmented(env.FRAZIL, ctx, { tag: "orders", step: 1, maxStep: 1 }).nextString());
    },
  };`;
  const bindings = { objects: { FRAZIL: "Leases" }, classes: { Leases: "sqlite" } };
  const server = await startPage(
    "durable-object",
    code.replace("export class", "export { FrazilLeases };\nexport class"),
    bindings,
  );
  try {
    assert.equal(await answerOf(server, "/make"), "true");
    assert.equal(await answerOf(server), "1");
    assert.equal(await answerOf(server, "/move"), "5000000");
    assert.equal(await answerOf(server, "/down"), "5000000");
    const numbers = [await answerOf(server), await answerOf(server), await answerOf(server)].map(Number);
    assert.ok(numbers.at(-1) >= 5_000_000, `${numbers}`);
  } finally {
    await server.stop();
  }
});

test("the table of parts is that of the store", () => {
  const [hints, parts, nodes] = ["hint", "part", "of the layout `edge`"].map((row) => rowOf("durable-object", row));
  assert.deepEqual(hints, [...LOCATION_HINTS, "none"]);
  assert.deepEqual(parts, [...LOCATION_HINTS.map((_, at) => `${at}`), "9 to 15"]);
  assert.deepEqual(nodes, [...LOCATION_HINTS.map((_, at) => `${at * 1024}–${at * 1024 + 1023}`), "9216–16382"]);
});
