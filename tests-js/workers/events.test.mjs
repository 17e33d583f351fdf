// `leased()` and `segmented()` in the handlers of a Worker without `fetch`: `queue` and `scheduled`.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startWorker } from "../transport/workerd.mjs";
import { DATES } from "./server.mjs";

const PROGRAM = `
import { DurableObjectStore, leased, segmented } from "frazil/workers";

export { FrazilLeases } from "frazil/workers";

const minted = [];

async function mint(handler, env, ctx) {
  await new DurableObjectStore(env.FRAZILLEASES).initSegment({ tag: "orders" });
  const ids = await leased(env.FRAZILLEASES, ctx);
  const order = await segmented(env.FRAZILLEASES, ctx, { tag: "orders" }).nextString();
  minted.push({ handler, id: ids.nextString(), node: ids.node, order });
}

export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname === "/send") await env.QUEUE.send("a message");
    return Response.json(minted);
  },
  async queue(batch, env, ctx) {
    await mint("queue", env, ctx);
  },
  async scheduled(event, env, ctx) {
    await mint("scheduled", env, ctx);
  },
};`;

for (const date of DATES) {
  describe(`events at ${date}`, () => {
    let worker;
    before(async () => {
      worker = await startWorker(PROGRAM, { date, classes: ["FrazilLeases"] });
    });
    after(() => worker?.dispose());

    test("a queue and a cron trigger mint under the lease of the isolate, and take its numbers", async () => {
      const minted = async (path = "/") => (await worker.dispatchFetch(`http://frazil.test${path}`)).json();
      const { scheduled } = await worker.getWorker();
      assert.equal((await scheduled({ cron: "* * * * *" })).outcome, "ok");
      await minted("/send");
      let events = [];
      while (events.length < 2) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        events = await minted();
      }
      const [first, second] = events;
      assert.deepEqual([first.handler, second.handler], ["scheduled", "queue"]);
      assert.ok(BigInt(second.id) > BigInt(first.id));
      assert.deepEqual([second.node, first.order, second.order], [first.node, "1", "2"]);
    });
  });
}
