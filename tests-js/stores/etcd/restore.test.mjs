// Faults after etcd is restored from a snapshot.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, renewalOf, stoppingPlace } from "../kit/attempts.mjs";
import { changingFetch, startServer, storeOf } from "./one-server.mjs";
import { connectStore } from "./server.mjs";

let answers = 1_000_000;
/** A `fetch` with which a cluster never shows that it went back: it is always the same one, and its revision grows. */
const unchanging = changingFetch({
  answer: (json) => ({
    ...json,
    header: { ...json.header, cluster_id: "1", revision: `${++answers}`, raft_term: "1000" },
  }),
});

/**
 * Grants a node id after a snapshot was saved, restores the snapshot, and asks for the node id again until it is granted. Returns
 * both windows. `sameToken`: the restored cluster has the same id. `fresh`: whoever asks has seen nothing before.
 */
async function restoreAndAskAgain({ sameToken, fresh = false, broken = false, restarts = 0 }) {
  const own = await startServer();
  for (let count = 0; count < restarts; count++) {
    await own.crash();
    await own.start();
  }
  const connect = async () => (await connectStore(own.port, broken ? { fetch: unchanging } : {})).store;
  const store = await connect();
  await store.init({ scope: "s", layout: "default", nodes: { from: 0, to: 0 }, windowMaxMs: 4000 });
  const used = await store.acquire(attempt({ windowMs: 100 }));
  assert.ok(await store.release({ scope: "s", ...used, untilMs: 0, heldUntilMs: used.untilMs }));
  const file = own.save();
  const lost = await store.acquire(attempt({ windowMs: 4000 }));
  assert.ok(lost.granted);
  await own.restore(file, sameToken ? {} : { token: "another" });
  const asking = fresh ? await connect() : store;
  const reasons = new Set();
  for (;;) {
    const answer = await asking.acquire(attempt({ windowMs: 1000 }));
    if (answer.granted) {
      return { overlaps: answer.fromMs < lost.untilMs, reasons };
    }
    reasons.add(answer.reason);
    if (answer.reason === "incarnation") await asking.ensure({ scope: "s", behind: false });
    await sleep(answer.reason === "incarnation" ? 0 : 200);
  }
}

describe("a restored snapshot", { concurrency: true }, () => {
  for (const [name, options] of [
    ["another token", { sameToken: false }],
    ["another token, asked by a store that saw nothing", { sameToken: false, fresh: true }],
    ["the same token", { sameToken: true }],
    [
      "the same token, asked by a store that saw nothing: later Raft terms",
      { sameToken: true, fresh: true, restarts: 3 },
    ],
  ]) {
    // docs/internals/claims.md: 27
    test(`${name}: the next window begins behind the lost one`, async () => {
      const { overlaps, reasons } = await restoreAndAskAgain(options);
      assert.equal(overlaps, false);
      assert.deepEqual([...reasons], ["incarnation", "fenced"]);
    });
  }

  for (const sameToken of [false, true])
    test(`without the incarnation, windows overlap (${sameToken ? "the same" : "another"} token)`, async () => {
      const { overlaps } = await restoreAndAskAgain({ sameToken, broken: true });
      assert.ok(overlaps, "no overlap: the tests above show nothing");
    });

  for (const sameToken of [false, true])
    test(`one loss makes one epoch, however many see it (${sameToken ? "the same" : "another"} token)`, async () => {
      const own = await startServer();
      const stores = await Promise.all(Array.from({ length: 8 }, async () => (await connectStore(own.port)).store));
      await stores[0].init({ scope: "s", layout: "default" });
      const file = own.save();
      const requests = stores.map(() => attempt());
      for (const [at, store] of stores.entries()) assert.ok((await store.acquire(requests[at])).granted);
      await own.restore(file, sameToken ? {} : { token: "another" });
      await Promise.all(stores.slice(0, 5).map((store) => store.ensure({ scope: "s", behind: false })));
      const fence = async (store) => (await store.acquire(attempt())).freeAtMs;
      const first = await fence(stores[0]);
      // They come later, with a memory of the lost revisions.
      for (const store of stores) {
        await store.ensure({ scope: "s", behind: false });
        assert.equal(await fence(store), first, "a second fence");
      }
      const { incarnation } = JSON.parse(own.etcdctl(["get", "frazil/s/scope", "--print-value-only"]));
      assert.match(incarnation, /^[0-9a-f]+\/1$/);
      // The next loss is seen as well: the record goes back to epoch 0.
      await own.restore(file, sameToken ? {} : { token: "a third" });
      assert.equal((await stores[7].acquire(attempt())).reason, "incarnation");
      await stores[7].ensure({ scope: "s", behind: false });
      const again = JSON.parse(own.etcdctl(["get", "frazil/s/scope", "--print-value-only"])).incarnation;
      assert.match(again, /^[0-9a-f]+\/2$/);
    });

  test("a record that nobody had used: the fence is raised by whoever saw it used", async () => {
    const own = await startServer();
    const { store } = await connectStore(own.port);
    await store.init({ scope: "s", layout: "default" });
    const record = JSON.parse(own.etcdctl(["get", "frazil/s/scope", "--print-value-only"]));
    own.etcdctl(["put", "frazil/s/scope", JSON.stringify({ ...record, incarnation: "", term: 0 })]);
    const file = own.save();
    assert.equal((await store.acquire(attempt())).reason, "incarnation");
    await store.ensure({ scope: "s", behind: false });
    assert.ok((await store.acquire(attempt())).granted, "the first holder needs no fence");
    await own.restore(file);
    assert.equal((await store.acquire(attempt())).reason, "incarnation");
    await store.ensure({ scope: "s", behind: false });
    assert.equal((await store.acquire(attempt())).reason, "fenced");
  });
});

/**
 * A write is decided, held back, and carried out by the cluster that was restored from a snapshot, after the lost cluster had
 * granted the node id to another holder. Returns the window that was lost, and what the late holder was answered in the end.
 * `isLost`: the answer of the write does not arrive either. `answer`: what is made of the answers.
 */
async function writeAcrossRestore(operation, { isLost = false, answer = (json) => json } = {}) {
  const own = await startServer();
  const changed = changingFetch({ answer });
  const store = storeOf({ fetch: changed }, own);
  await store.init({ scope: "s", layout: "default", nodes: { from: 0, to: 0 }, windowMaxMs: 20_000 });
  const first = await store.acquire(attempt({ windowMs: operation === "renew" ? 1500 : 50 }));
  assert.ok(first.granted);
  if (operation === "acquire") await sleep(1300);
  const file = own.save();
  const { stop, arrived, goOn } = stoppingPlace();
  let writes = 0;
  const stopping = async (url, init) => {
    if (!init.body.includes("request_put") || ++writes > 1) return changed(url, init);
    await stop();
    const response = await changed(url, init);
    if (isLost) throw new Error("the answer is lost");
    return response;
  };
  const late = storeOf({ fetch: stopping, timeoutMs: 60_000 }, own);
  const request = operation === "renew" ? renewalOf(first, { windowMs: 20_000 }) : attempt({ windowMs: 20_000 });
  const call = async () => late[operation](request).catch((error) => error);
  const pending = call();
  const early = await Promise.race([arrived, pending]);
  assert.equal(early, undefined, "no write was sent");
  let lost;
  while (!lost?.granted) {
    lost = await store.acquire(attempt({ windowMs: 20_000 }));
    await sleep(100);
  }
  await own.restore(file, { token: "another" });
  goOn();
  let result = await pending;
  const codes = [];
  for (let tries = 0; !result.granted && !/taken|fenced/.test(result.reason); tries++) {
    assert.ok(tries < 5, JSON.stringify(result));
    codes.push(result.code ?? result.reason);
    if (result.reason === "incarnation") await late.ensure({ scope: "s", behind: false });
    result = await call();
  }
  await own.crash();
  return { lost, result, codes };
}

describe("a write that was decided before a restore and arrives after it", { concurrency: true }, () => {
  // docs/internals/claims.md: 22, 27
  test("of acquire: the node id, which the lost cluster granted meanwhile, is not granted", async () => {
    const { result, codes } = await writeAcrossRestore("acquire");
    assert.deepEqual([result.reason, ...codes], ["taken", "STORE_UNAVAILABLE"]);
  });

  // docs/internals/claims.md: 22, 27
  test("of acquire, whose answer is lost: the same", async () => {
    const { result, codes } = await writeAcrossRestore("acquire", { isLost: true });
    assert.deepEqual([result.reason, ...codes], ["taken", "STORE_UNAVAILABLE"]);
  });

  // docs/internals/claims.md: 22, 27
  test("of renew: the lease, whose window was over, is lost", async () => {
    const { result, codes } = await writeAcrossRestore("renew");
    assert.deepEqual([result.reason, ...codes], ["fenced", "STORE_UNAVAILABLE", "incarnation"]);
  });

  test("the same, with a cluster that never shows that it is another one: windows overlap", async () => {
    const answer = (json) => ({ ...json, header: { ...json.header, cluster_id: "1", raft_term: "1000" } });
    const { lost, result } = await writeAcrossRestore("acquire", { answer });
    assert.ok(result.granted && result.fromMs < lost.untilMs && lost.fromMs < result.untilMs, JSON.stringify(result));
  });
});
