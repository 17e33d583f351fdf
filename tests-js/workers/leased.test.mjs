// `leased()` in Cloudflare's runtime, at the oldest compatibility date that is supported and the newest that this workerd accepts.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { addressOf, DATES, startWorker } from "./server.mjs";

/** A request whose connection is reset after so long. */
async function resetAfter({ hostname, port, pathname, search }, ms) {
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: frazil.test\r\n\r\n`);
  await sleep(ms);
  socket.resetAndDestroy();
}

for (const date of DATES) {
  describe(`leased() at ${date}`, () => {
    let worker;
    before(async () => {
      worker = await startWorker(date);
    });
    after(() => worker?.stop());

    test("at module scope it says where to call it", async () => {
      const { ours, code, message } = await worker.call("module-scope");
      assert.deepEqual([ours, code], [true, "STATE_CONFLICT"]);
      assert.match(message, /at module scope.*call it in each request/);
    });

    test("the namespace of a binding is one object in all requests", async () => {
      for (let at = 0; at < 5; at++) await worker.call("namespaces");
      assert.equal(await worker.call("namespaces"), 1);
    });

    for (const ctx of [true, false]) {
      const options = { scope: `held${ctx}` };
      test(`a lease that is held costs no promise, ${ctx ? "with" : "without"} ctx`, async () => {
        const first = await worker.call("id", { ctx, options });
        assert.equal(first.isPromise, true);
        for (let at = 0; at < 3; at++) {
          const { isPromise, node, stats } = await worker.call("id", { ctx, options });
          assert.deepEqual([isPromise, node, stats.attempts], [false, first.node, 1]);
        }
      });

      test(`half of the window over, a request has it renewed and does not wait, ${ctx ? "with" : "without"} ctx`, async () => {
        const options = { scope: `renewed${ctx}`, windowMs: 3000 };
        const { node, health } = await worker.call("id", { ctx, options });
        await sleep(1600);
        const { isPromise } = await worker.call("id", { ctx, options });
        assert.equal(isPromise, false);
        await sleep(300);
        const renewed = await worker.call("id", { ctx, options });
        assert.deepEqual([renewed.node, renewed.stats.renewed], [node, 1]);
        assert.ok(renewed.health.lease.untilMs > health.lease.untilMs + 1000);
        // Over, and nobody took the node id: the request waits for its own renewal.
        await sleep(3500);
        const again = await worker.call("id", { ctx, options });
        assert.deepEqual([again.isPromise, again.node, again.stats.renewed], [true, node, 2]);
      });
    }

    test("an asynchronous call acquires again; a synchronous one is refused and has the store asked", async () => {
      const options = { scope: "kept", windowMs: 3000 };
      await worker.call("next", { options });
      await sleep(3200);
      const { code, retryAfterMs } = await worker.call("next", { options });
      assert.equal(code, "LEASE_EXPIRED");
      assert.ok(retryAfterMs >= 1);
      await sleep(200);
      assert.match((await worker.call("next", { options })).returned, /^\d+$/);
    });

    test("requests that come together each ask, and have one lease", async () => {
      const options = { scope: "together" };
      const answers = await Promise.all(Array.from({ length: 20 }, () => worker.call("id", { ctx: true, options })));
      assert.equal(new Set(answers.map(({ node }) => node)).size, 1);
      assert.equal(new Set(answers.map(({ id }) => id)).size, 20);
      const { stats } = await worker.call("id", { ctx: true, options });
      assert.deepEqual([stats.acquired, stats.lost, stats.refused], [1, 0, 0]);
    });

    test("an object of a program mints under a lease, and has it renewed", async () => {
      const options = { scope: "object", windowMs: 3000 };
      const { id, node } = await worker.call("in-an-object", { options });
      await sleep(1600);
      await worker.call("in-an-object", { options });
      await sleep(300);
      const again = await worker.call("in-an-object", { options });
      assert.deepEqual([again.node, again.stats.renewed], [node, 1]);
      assert.ok(BigInt(again.id) > BigInt(id));
    });

    test("other options than in the first call are refused by name", async () => {
      const options = { scope: "options", layout: "edge" };
      await worker.call("id", { options });
      await worker.call("id", { options: { layout: "edge", scope: "options" } });
      await worker.call("id", { options: { scope: "options" } }); // edge is the default
      await worker.call("id", { options: { scope: "options", windowMs: 300_000, time: "wall" } });
      await assert.rejects(worker.call("id", { options: { ...options, windowMs: 1000 } }), {
        code: "STATE_CONFLICT",
        field: "windowMs",
      });
      await assert.rejects(worker.call("id", { options: { ...options, layout: "default" } }), { field: "layout" });
      await assert.rejects(worker.call("id", { options: { scope: "new", windowsMs: 5 } }), { code: "INVALID_OPTION" });
    });

    test("after close() the next call makes another generator, and the node id is free", async () => {
      const options = { scope: "closed" };
      const { node, id } = await worker.call("id", { options });
      const { after, node: none } = await worker.call("close", { options });
      assert.deepEqual([after.code, none], ["CLOSED", null]);
      await sleep(5);
      const again = await worker.call("id", { options });
      assert.deepEqual([again.node, again.stats.attempts], [node, 1]);
      assert.ok(BigInt(again.id) > BigInt(id));
    });

    test("an object that is aborted is not noticed while a lease is held, and renews it afterwards", async () => {
      const options = { scope: "aborted", windowMs: 3000 };
      const { node } = await worker.call("id", { options });
      assert.match(await worker.call("abort", { scope: "aborted" }), /aborted by a test/);
      assert.equal((await worker.call("id", { options })).isPromise, false);
      await sleep(1600);
      await worker.call("id", { options });
      await sleep(300);
      const { stats, node: same } = await worker.call("id", { options });
      assert.deepEqual([same, stats.renewed, stats.lost], [node, 1, 0]);
    });

    // docs/safety.md: 23
    test("with the clock of production, which steps back between requests, no call fails and no ID repeats", async (context) => {
      const options = { scope: "still", windowMs: 3000 };
      await worker.call("still", { isStill: true });
      try {
        const beganMs = Date.now();
        const awaited = [];
        let attempts = 0;
        while (Date.now() - beganMs < 4500) {
          const rounds = Array.from({ length: 20 }, () => worker.call("mint", { options, rounds: 5 }));
          for (const { awaited: ids, stats } of await Promise.all(rounds)) {
            awaited.push(...ids);
            attempts = stats.attempts;
          }
        }
        const issued = (await worker.call("issued")).map(BigInt);
        context.diagnostic(`${issued.length} + ${awaited.length} IDs, ${attempts} requests to the object`);
        assert.ok(issued.length > 5000);
        for (let at = 1; at < issued.length; at++) assert.ok(issued[at] > issued[at - 1], `${issued[at]} at ${at}`);
        assert.equal(new Set([...issued.map(String), ...awaited]).size, issued.length + awaited.length);
        assert.ok(attempts >= 3);
      } finally {
        await worker.call("still", { isStill: false });
      }
    });

    test("while the clock stands still there are the IDs of a thousand ticks, less those by which it has stepped back", async () => {
      const options = { scope: "burst" };
      await worker.call("id", { options });
      await worker.call("still", { isStill: true });
      try {
        const { count, code, retryAfterMs } = await worker.call("burst", { options });
        assert.deepEqual([code, retryAfterMs], ["SEQUENCE_EXHAUSTED", 1]);
        assert.ok(count > 200_000 && count <= 256_256, `${count}`);
      } finally {
        await worker.call("still", { isStill: false });
      }
    });

    test("a request that is cancelled while it acquires holds up no other one", async () => {
      const given = { options: { scope: "slow" }, delayMs: 3000 };
      const cancelled = resetAfter(addressOf(worker, "slow", given), 300);
      await sleep(100);
      // While the first one waits for its answer, and after it was cancelled.
      const beganMs = Date.now();
      const { stats } = await worker.call("slow", given);
      assert.ok(Date.now() - beganMs < 2000, "it waited for the other request");
      assert.equal(stats.attempts, 2);
      await cancelled;
      assert.match((await worker.call("slow", given)).id, /^\d+$/);
    });

    test("a promise that requests share does hold them up, so the test above would see one", async () => {
      const given = { options: { scope: "naive" }, delayMs: 3000 };
      const target = addressOf(worker, "naive", given);
      const cancelled = resetAfter(target, 300);
      await sleep(100);
      const outcome = await fetch(target, { signal: AbortSignal.timeout(4000) }).then(
        (response) => response.text(),
        (error) => error.name,
      );
      await cancelled;
      assert.doesNotMatch(outcome, /"id"/, outcome);
    });
  });
}
