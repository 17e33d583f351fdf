// `leased()` in Cloudflare's runtime, at the oldest supported compatibility date and the newest that this workerd accepts.
import assert from "node:assert/strict";
import { execSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Layout } from "frazil";
import { addressOf, cancellable, DATES, startWorker } from "./server.mjs";

const cli = fileURLToPath(new URL("../../npm/frazil/dist/cli.mjs", import.meta.url));
/** A window that no slow machine takes: the tests move the time to its end. */
const WINDOW_MS = 60_000;

/** The fields of the layout "edge". */
const EDGE = [
  { kind: "time", bits: 41 },
  { kind: "node", bits: 14 },
  { kind: "sequence", bits: 8 },
];

for (const date of DATES) {
  describe(`leased() at ${date}`, () => {
    let worker;
    before(async () => {
      worker = await startWorker(date);
    });
    after(() => worker?.stop());

    /** Time passes for the isolate and its objects, and the test does not wait for it. */
    const pass = (ms) => worker.call("pass", { ms });

    /** Until so many requests have begun to wait for an answer that is late, or for that of another request. */
    async function untilWaits(count) {
      while ((await worker.call("waits")) < count) await sleep(10);
    }

    /** Until a lease was renewed so often, which nothing has asked for in the meantime. */
    async function untilRenewed(scope, count = 1) {
      while ((await worker.call("stats", { scope })).renewed < count) await sleep(10);
    }

    test("at module scope it says where to call it", async () => {
      const { ours, code, message, hint } = await worker.call("module-scope");
      assert.deepEqual([ours, code], [true, "STATE_CONFLICT"]);
      assert.match(message, /at module scope/);
      assert.match(hint, /^Call it in each request/);
    });

    test("without await the promise says what to write, while there is no lease", async () => {
      const { first, later } = await worker.call("unawaited", { options: { scope: "unawaited" } });
      assert.deepEqual([first.ours, first.code], [true, "INVALID_ARGUMENT"]);
      assert.match(first.message, /next\(\) was called on a promise$/);
      assert.equal(first.hint, "Write await leased(env.FRAZIL, ctx).");
      assert.match(later.returned, /^\d+$/);
    });

    test("the namespace of a binding is one object in all requests", async () => {
      for (let at = 0; at < 5; at++) await worker.call("namespaces");
      assert.equal(await worker.call("namespaces"), 1);
    });

    // Before other tests move the time of the isolate far away from that of the database.
    test("a database without a record: the error has the commands to run, and a second later a request has an ID", async () => {
      const scopes = { named: "edge", own: { epochMs: 1_700_000_000_000, fields: EDGE } };
      for (const [scope, layout] of Object.entries(scopes)) {
        const given = { scope, layout };
        const { hint, code } = await worker.call("d1", given).then(assert.fail, (error) => error);
        assert.equal(code, "STORE_NOT_INITIALISED");
        assert.match(hint, /npx wrangler d1 execute NAME --remote --file frazil\.sql/);
        const [, flags] = /npx frazil (ddl d1 .*?) > frazil\.sql/.exec(hint);
        const sql = execSync(`node ${cli} ${flags}`, { encoding: "utf8" });
        await worker.call(
          "sql",
          sql.split(/;\n/).filter((statement) => /^(?!--).*\S/m.test(statement)),
        );
        // The pause after a refusal for want of a record. The first request after it does not hear of the refusal again.
        await pass(1000);
        assert.match(await worker.call("d1", given), /^\d+$/);
      }
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
        const options = { scope: `renewed${ctx}`, windowMs: WINDOW_MS };
        const { node, health } = await worker.call("id", { ctx, options });
        await pass(WINDOW_MS / 2 + 1);
        const { isPromise } = await worker.call("id", { ctx, options });
        assert.equal(isPromise, false);
        await untilRenewed(options.scope);
        const renewed = await worker.call("id", { ctx, options });
        assert.deepEqual([renewed.isPromise, renewed.node, renewed.stats.renewed], [false, node, 1]);
        assert.ok(renewed.health.lease.untilMs > health.lease.untilMs + WINDOW_MS / 2);
        // Over, and nobody took the node id: the request waits for its own renewal.
        await pass(WINDOW_MS + 1);
        const again = await worker.call("id", { ctx, options });
        assert.deepEqual([again.isPromise, again.node, again.stats.renewed], [true, node, 2]);
      });
    }

    test("an asynchronous call acquires again; a synchronous one is refused and has the store asked", async () => {
      const options = { scope: "kept", windowMs: WINDOW_MS };
      await worker.call("next", { options });
      await pass(WINDOW_MS + 1);
      const { code, retryAfterMs } = await worker.call("next", { options });
      assert.equal(code, "LEASE_EXPIRED");
      assert.ok(retryAfterMs >= 1);
      await untilRenewed(options.scope);
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
      const options = { scope: "object", windowMs: WINDOW_MS };
      const { id, node } = await worker.call("in-an-object", { options });
      await pass(WINDOW_MS / 2 + 1);
      await worker.call("in-an-object", { options });
      await untilRenewed(options.scope);
      const again = await worker.call("in-an-object", { options });
      assert.deepEqual([again.node, again.stats.renewed], [node, 1]);
      assert.ok(BigInt(again.id) > BigInt(id));
    });

    test("other options than in the first call are refused by name", async () => {
      const options = { scope: "options", layout: "edge" };
      await worker.call("id", { options });
      await worker.call("id", { options: { layout: "edge", scope: "options" } });
      await worker.call("id", { options: { scope: "options" } }); // edge is the default
      const usual = { windowMs: 300_000, time: "wall", owner: "worker", maxLeadMs: 1000, maxAsyncWaitMs: 5000 };
      const { epochMs } = Layout.named("edge");
      await worker.call("id", { options: { scope: "options", ...usual, sequenceStart: "zero", epochMs } });
      await worker.call("id", { options: { scope: "options" }, epoch: epochMs });
      await assert.rejects(worker.call("id", { options: { ...options, windowMs: 1000 } }), {
        code: "STATE_CONFLICT",
        field: "windowMs",
      });
      await assert.rejects(worker.call("id", { options: { ...options, layout: "default" } }), { field: "layout" });
      await assert.rejects(worker.call("id", { options: { scope: "new", windowsMs: 5 } }), { code: "INVALID_OPTION" });
      // For calls that block, which no Worker has.
      await assert.rejects(worker.call("id", { options: { scope: "new", maxWaitMs: 5 } }), {
        code: "INVALID_OPTION",
        field: "maxWaitMs",
      });
      const later = await worker.call("later-options", { options });
      assert.deepEqual(
        later.map(({ code, field }) => [code, field]),
        ["windowMs", "owner", "time", "epochMs"].map((field) => ["STATE_CONFLICT", field]),
      );
      assert.match(later[0].message, /windowMs must be 300000, as in the first call .*, got 300000n$/);
      assert.match(later[0].hint, /^An isolate has one /);
    });

    test("a call that the store refuses for good, such as of another layout, leaves the options of others alone", async () => {
      const options = { scope: "refused" };
      await worker.call("close", { options }); // the record of the scope is there, and the isolate has no generator for it
      for (const layout of ["twitter", "tsid"])
        await assert.rejects(worker.call("id", { options: { ...options, layout } }), { code: "LAYOUT_MISMATCH" });
      const { id } = await worker.call("id", { options });
      assert.match(`${id}`, /^\d+$/);
      await assert.rejects(worker.call("id", { options: { ...options, layout: "twitter" } }), {
        code: "STATE_CONFLICT",
        field: "layout",
      });
    });

    // docs/internals/claims.md: 23
    test("options that are changed between two calls name another scope, which has another generator", async () => {
      const { changed, getter, same, proxied, inherited, layout } = await worker.call("changed-options");
      assert.deepEqual([changed.isSame, getter.isSame], [false, false]);
      assert.deepEqual([same.isSame, proxied.isSame], [true, true]);
      assert.equal(inherited, "INVALID_OPTION", "an option of a prototype");
      assert.deepEqual([layout.code, layout.field], ["STATE_CONFLICT", "layout"]);
    });

    for (const kind of ["proxy", "taken", "throws", "rejects"]) {
      test(`a context that is wrapped renews all the same (${kind})`, async () => {
        const options = { scope: `wrapped-${kind}`, windowMs: WINDOW_MS };
        const { node } = await worker.call("wrapped-ctx", { kind, options });
        await pass(WINDOW_MS / 2 + 1);
        await worker.call("wrapped-ctx", { kind, options });
        await untilRenewed(options.scope);
        const again = await worker.call("wrapped-ctx", { kind, options });
        assert.deepEqual([again.node, again.stats.renewed], [node, 1]);
        assert.deepEqual(again.unhandled, []);
      });
    }

    test("using and await using do not close what belongs to the isolate", async () => {
      const { before, after, isKept, node } = await worker.call("using", { options: { scope: "used" } });
      assert.ok(BigInt(after) > BigInt(before));
      assert.equal(isKept, true);
      assert.equal((await worker.call("id", { options: { scope: "used" } })).node, node);
    });

    test("errors say what to do in a Worker", async () => {
      assert.match(
        (await worker.call("close", { options: { scope: "say" } })).after.hint,
        /^Do not call close\(\) in a request/,
      );
      const held = await worker.call("exhausted", { scope: "full" });
      assert.deepEqual([held.lease.code, held.leased.code], ["NODE_IDS_EXHAUSTED", "NODE_IDS_EXHAUSTED"]);
      assert.match(held.lease.hint, /Call leased\(\) of frazil\/workers/);
      assert.match(held.leased.message, /all node ids are in use/);
      assert.match(held.leased.hint, /^Shorten windowMs, /);
      await worker.call("still", { isStill: true });
      const burst = await worker.call("burst", { options: { scope: "say" } });
      await worker.call("still", { isStill: false });
      assert.match(burst.hint, /^Retry after 1 ms\. .* await nextAsync\(\) waits for it\.$/);
    });

    test("a name that is misspelt is refused by name, also after a first call", async () => {
      await worker.call("id", { options: { scope: "names" } });
      await assert.rejects(worker.call("id", { options: { scope: "names", layot: "edge" } }), {
        code: "INVALID_OPTION",
        hint: 'Did you mean "layout"?',
      });
    });

    test("a clock that jumps ahead by a day and comes back stops nothing", async () => {
      for (const time of ["wall", "store"]) {
        const options = { scope: `jump-${time}`, windowMs: 6000, maxAsyncWaitMs: 300, time };
        assert.match((await worker.call("right", { options })).returned, /^\d+$/);
        await worker.call("ahead", { ms: 86_400_000 });
        try {
          const { code, returned } = await worker.call("right", { options });
          if (time === "wall") assert.equal(code, "LEASE_EXPIRED");
          else assert.match(returned, /^\d+$/); // the answer tells the time
        } finally {
          await worker.call("ahead", { ms: 0 });
        }
        let outcome;
        for (let passedMs = 0; !outcome?.returned && passedMs < 12_000; passedMs += 200) {
          await pass(200);
          outcome = await worker.call("right", { options });
          assert.ok((outcome.retryAfterMs ?? 0) <= 10_000, `${outcome.code} ${outcome.retryAfterMs}`);
        }
        assert.match(outcome.returned ?? outcome.message, /^\d+$/);
      }
    });

    test("a lease is renewed in time after a clock that jumped ahead and came back", async () => {
      const windowMs = WINDOW_MS;
      for (const ms of [86_400_000, 34_000]) {
        const given = [{ scope: `back-${ms}`, windowMs, maxAsyncWaitMs: 1000 }];
        await worker.call("all-right", given);
        await worker.call("ahead", { ms });
        try {
          for (let left = 2; left > 0; left--) await worker.call("all-right", given).catch(() => {});
        } finally {
          await worker.call("ahead", { ms: 0 });
        }
        for (let passedMs = 0; passedMs < 1.5 * windowMs; passedMs += windowMs / 30) {
          const [{ isPromise, code, lease }] = await worker.call("all-right", given);
          assert.deepEqual([isPromise, code], [false, null]);
          assert.ok(lease.skewMs < windowMs, `${lease.skewMs}`);
          await pass(windowMs / 30);
        }
      }
    });

    test("a generator whose time from the store a clock has made wrong is not handed out", async () => {
      const given = [{ scope: "handed-out", windowMs: 20_000, maxAsyncWaitMs: 10_000, time: "store" }];
      await worker.call("ahead", { ms: 5000 });
      try {
        await worker.call("all-right", given);
      } finally {
        await worker.call("ahead", { ms: 0 });
      }
      const [{ isPromise, code, lease }] = await worker.call("all-right", given);
      assert.deepEqual([isPromise, code, lease.node], [true, null, 1]);
    });

    test("a clock that goes back while nothing is due, to a time after the answer, has the store asked for its time", async () => {
      const given = { scope: "back-between", windowMs: 60_000, maxAsyncWaitMs: 10_000, time: "store" };
      const asks = [];
      try {
        // The core looks in the second call, and not in the third one.
        for (const ms of [0, 0, 20_000, 5000]) {
          await worker.call("ahead", { ms });
          asks.push(await worker.call("right-quietly", given));
        }
      } finally {
        await worker.call("ahead", { ms: 0 });
      }
      assert.deepEqual(asks, [true, false, false, true]);
      const [{ isPromise, code }] = await worker.call("all-right", [given]);
      assert.deepEqual([isPromise, code], [true, null]);
    });

    test("an answer that is refused is no unhandled rejection", async () => {
      const { errors, unhandled } = await worker.call("bad-answer");
      assert.deepEqual(errors, ["STORE_REFUSED", "STORE_REFUSED"]);
      assert.deepEqual(unhandled, []);
    });

    test("an object of another class that replies is STORE_REFUSED, which says which class it must be", async () => {
      for (const scope of ["text", "empty", "none", "error", "code"]) {
        const { code, retryable, message, hint } = await worker.call("odd", { scope });
        assert.deepEqual([code, retryable], ["STORE_REFUSED", false], `${scope}: ${message}`);
        assert.match(message, /which is no reply$/);
        assert.match(hint, /^The class of the namespace must be FrazilLeases/);
      }
    });

    test("the details of an object's error cannot take the place of its code and message", async () => {
      const { ours, code, message, retryAfterMs = null } = await worker.call("odd", { scope: "details" });
      assert.deepEqual([ours, code, message, retryAfterMs], [true, "STORE_UNAVAILABLE", "STORE_UNAVAILABLE: m", null]);
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

    test("lease() within one request works too, also where there are no weak references", async () => {
      const { id, after } = await worker.call("lease", { options: { scope: "one", layout: "edge" } });
      assert.match(id, /^\d+$/);
      assert.equal(after.code, "CLOSED");
    });

    test("an object that is aborted is not noticed while a lease is held, and renews it afterwards", async () => {
      const options = { scope: "aborted", windowMs: WINDOW_MS };
      const { node } = await worker.call("id", { options });
      assert.match(await worker.call("abort", { scope: "aborted" }), /aborted by a test/);
      assert.equal((await worker.call("id", { options })).isPromise, false);
      await pass(WINDOW_MS / 2 + 1);
      await worker.call("id", { options });
      await untilRenewed(options.scope);
      const { stats, node: same } = await worker.call("id", { options });
      assert.deepEqual([same, stats.renewed, stats.lost], [node, 1, 0]);
    });

    // docs/internals/claims.md: 23
    test("with the clock of production, which steps back between requests, no call fails and no ID repeats", async (context) => {
      const options = { scope: "still", windowMs: WINDOW_MS };
      await worker.call("still", { isStill: true });
      try {
        const awaited = [];
        let attempts = 0;
        for (let passedMs = 0; passedMs < 1.5 * WINDOW_MS; passedMs += WINDOW_MS / 20) {
          const rounds = Array.from({ length: 20 }, () => worker.call("mint", { options, rounds: 5 }));
          for (const { awaited: ids, stats } of await Promise.all(rounds)) {
            awaited.push(...ids);
            attempts = Math.max(attempts, stats.attempts);
          }
          await pass(WINDOW_MS / 20);
        }
        const issued = (await worker.call("issued")).map(BigInt);
        context.diagnostic(`${issued.length} + ${awaited.length} IDs, ${attempts} requests to the object`);
        assert.equal(issued.length, 30 * 20 * 5 * 20);
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
      // Later than any request waits: one that waited for the answer of another one would fail.
      const given = { options: { scope: "slow" }, delayMs: 60_000 };
      const waits = await worker.call("waits");
      const cancel = cancellable(addressOf(worker, "slow", given));
      await untilWaits(waits + 1);
      // While the first one waits for its answer, and after it was cancelled.
      const { stats } = await worker.call("slow", given);
      assert.equal(stats.attempts, 2);
      cancel();
      assert.match((await worker.call("slow", given)).id, /^\d+$/);
    });

    test("a promise that requests share does hold them up, so the test above would see one", async () => {
      const given = { options: { scope: "naive" } };
      const target = addressOf(worker, "naive", given);
      const waits = await worker.call("waits");
      const cancel = cancellable(target);
      await untilWaits(waits + 1);
      const end = new AbortController();
      const outcome = fetch(target, { signal: end.signal }).then(
        (response) => response.text(),
        (error) => error.name,
      );
      await untilWaits(waits + 2);
      cancel();
      // Its timers run in the loop that answers this call: those of a request that was not cancelled are over by then.
      for (let [before, looks] = [-1, 0]; before !== looks; await sleep(100)) {
        before = looks;
        looks = await worker.call("looks");
      }
      await worker.call("there");
      // So long it would have its answer at once.
      setTimeout(() => end.abort(), 3000);
      assert.doesNotMatch(await outcome, /"id"/);
    });

    test("an isolate whose every request passes another source is told so", async () => {
      // In an isolate of its own, which has no room for further sources afterwards.
      const worker = await startWorker(date);
      try {
        const options = { scope: "many" };
        await worker.call("id", { options });
        for (let at = 0; at < 20; at++) await worker.call("wrapped-env", { options, close: true });
        const outcomes = [];
        for (let at = 0; at < 20; at++)
          outcomes.push(await worker.call("wrapped-env", { options }).catch((error) => error));
        const nodes = outcomes.filter((outcome) => typeof outcome === "number");
        assert.equal(new Set(nodes).size, nodes.length);
        assert.ok(nodes.length >= 10 && nodes.length <= 16, `${nodes.length}`);
        const { code, field, message, hint } = outcomes.at(-1);
        assert.deepEqual([code, field], ["INVALID_ARGUMENT", "source"]);
        assert.match(message, /must be the same object in each request.*, got the 17th object in this isolate$/);
        assert.match(hint, /wraps env/);
        // The ones before go on, and so do other scopes of them.
        assert.match((await worker.call("id", { options: { scope: "many-more" } })).id, /^\d+$/);
      } finally {
        await worker.stop();
      }
    });

    test("a source whose generator has asked for nothing within a window does not count", async () => {
      const worker = await startWorker(date);
      try {
        const options = { scope: "some", windowMs: WINDOW_MS };
        for (const ms of [0, WINDOW_MS + 1, WINDOW_MS + 1]) {
          await worker.call("pass", { ms });
          const outcome = await worker.call("wrapped-envs", { options });
          assert.deepEqual(outcome, { got: 16, code: "INVALID_ARGUMENT", field: "source" });
        }
      } finally {
        await worker.stop();
      }
    });
  });
}
