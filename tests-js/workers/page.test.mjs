// docs/guides/workers.md as printed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerOf, blocksOf, setUp, startPage } from "../stores/workerd/page.mjs";

/** The page, from the folder of those of the stores. */
const PAGE = "../../guides/workers";
const [worker, room, numbers, fence] = blocksOf(PAGE, "js");

test("the Worker mints in each request", async () => {
  const server = await startPage(PAGE, worker);
  try {
    const answers = await Promise.all(Array.from({ length: 20 }, () => answerOf(server)));
    const ids = answers.map((answer) => JSON.parse(answer).id);
    for (const id of ids) assert.match(id, /^\d{18}$/);
    assert.equal(new Set(ids).size, 20);
  } finally {
    await server.stop();
  }
});

test("after the call for a restore, an isolate without a lease waits for the fence, and one that has a lease goes on", async () => {
  // The call, at a path of the Worker of the page.
  const code = worker.replace("import { leased }", "import { DurableObjectStore, leased }").replace(
    "const ids",
    `if (request.url.endsWith("/fence")) {
        ${fence}
        return Response.json({});
      }
      const scope = request.url.endsWith("/other") ? "other" : "default";
      if (scope === "other") {
        await new DurableObjectStore(env.FRAZIL).fence({ scope });
        const error = await Promise.resolve(leased(env.FRAZIL, ctx, { scope, maxAsyncWaitMs: 100 })).catch((error) => error);
        return Response.json({ code: error.code, retryAfterMs: error.retryAfterMs });
      }
      const ids`,
  );
  const server = await startPage(PAGE, code);
  try {
    await answerOf(server);
    assert.equal(await answerOf(server, "/fence"), "{}");
    assert.match(JSON.parse(await answerOf(server)).id, /^\d{18}$/);
    const { code: refused, retryAfterMs } = JSON.parse(await answerOf(server, "/other"));
    assert.equal(refused, "NODE_IDS_EXHAUSTED");
    assert.ok(retryAfterMs > 600_000 && retryAfterMs <= 605_000, `${retryAfterMs}`);
  } finally {
    await server.stop();
  }
});

test("an object numbers the rows of its own table", async () => {
  // Without the table and the way to the object, which are the reader's.
  const code = `${room}
  export class Rooms extends Room {
    rows(text) {
      this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, text TEXT)");
      const ids = [this.post(text), this.post(text)];
      return { ids, rows: this.ctx.storage.sql.exec("SELECT CAST(id AS TEXT) AS id FROM messages ORDER BY messages.id").toArray() };
    }
  }
  export default {
    fetch: async (_, env) => Response.json(await env.ROOMS.get(env.ROOMS.idFromName("one")).rows("hello")),
  };`;
  const more = { objects: { ROOMS: "Rooms" }, classes: { Rooms: "sqlite" } };
  const server = await startPage(PAGE, code.replace("export class Room ", "class Room "), more);
  try {
    const { ids, rows } = JSON.parse(await answerOf(server));
    assert.deepEqual(
      rows.map(({ id }) => id),
      ids,
    );
    assert.ok(BigInt(ids[1]) > BigInt(ids[0]));
  } finally {
    await server.stop();
  }
});

test("the Worker hands out plain numbers", async () => {
  const server = await startPage(PAGE, numbers);
  try {
    await setUp(server);
    const answers = await Promise.all(Array.from({ length: 20 }, () => answerOf(server)));
    const orders = answers.map((answer) => Number(JSON.parse(answer).order)).sort((a, b) => a - b);
    assert.deepEqual(
      orders,
      Array.from({ length: 20 }, (_, at) => at + 1),
    );
  } finally {
    await server.stop();
  }
});
