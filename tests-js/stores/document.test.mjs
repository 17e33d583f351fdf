// `DocumentStore` keeps the contract, with documents in memory whose calls take turns and whose clock is controlled. The contract catches
// documents that break a rule of `Documents`, or they are refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lease } from "frazil/lease";
import { DocumentStore } from "frazil/stores/document";
import { Bench, leaseContract, scenarios } from "frazil/testing/lease-contract";
import { told } from "../base/rule-texts.mjs";
import { attempt, checkSecondInit, hex } from "./kit/attempts.mjs";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** What can be broken, and the scenarios that must catch it. */
const DEFECTS = {
  "the incarnation is not compared": [
    "an acquisition that was decided before a failover is not written after it",
    "a renewal that was decided before a failover is not written after it",
  ],
  "what is only compared is overlooked": ["an acquisition that was decided before a fence is not written after it"],
  "only the first document is compared": ["one of two clones that renew at once loses"],
  "a comparison that awaits before it writes": [
    "64 clients take 1,024 node ids, each once",
    "one of two clones that renew at once loses",
  ],
  "a turn is not compared": [],
};

/** Documents in memory. `defect` is a key of `DEFECTS`, or nothing. */
function openDocuments(defect, stored = new Map()) {
  const is = (name) => defect === name;
  let incarnation = "1";
  let nowMs = 1_790_000_000_000;
  let beforeWrite;
  const documents = {
    async read(keys) {
      await turn();
      return { texts: keys.map((key) => stored.get(key) ?? null), nowMs, incarnation };
    },
    async replace(changes, server) {
      await turn();
      const work = beforeWrite;
      beforeWrite = undefined;
      await work?.();
      if (is("a turn is not compared")) changes = changes.filter(({ key }) => !key.includes("/turn-"));
      const compared = is("what is only compared is overlooked")
        ? changes.filter(({ seen, text }) => seen !== text)
        : is("only the first document is compared")
          ? changes.slice(0, 1)
          : changes;
      if (incarnation !== server && !is("the incarnation is not compared")) return false;
      if (compared.some(({ key, seen }) => (stored.get(key) ?? null) !== seen)) return false;
      if (is("a comparison that awaits before it writes")) await turn();
      for (const { key, text } of changes) stored.set(key, text);
      return true;
    },
  };
  const store = new DocumentStore(documents);
  return {
    store,
    documents,
    stored,
    init: (scope) => store.init({ ...scope, layout: "default" }),
    pass: async (ms) => {
      nowMs += ms;
      await turn();
    },
    jumpClock: async (ms) => {
      nowMs += ms;
    },
    changeIncarnation: async () => {
      incarnation += "1";
    },
    beforeNextWrite: (work) => {
      beforeWrite = work;
    },
    stop: async () => {},
    start: async () => {},
  };
}

leaseContract({ name: "documents in memory", open: async () => openDocuments() });

for (const [defect, names] of Object.entries(DEFECTS))
  for (const name of names)
    test(`${defect}: "${name}" catches it`, async () => {
      const { run } = scenarios.find((scenario) => scenario.name === name);
      await assert.rejects(() => run(new Bench(openDocuments(defect))), { name: "AssertionError" });
    });

// docs/internals/claims.md: 27
test("a failover that lost the last grant, between a read and its write, grants no window twice", async () => {
  for (const [defect, overlap] of [
    [undefined, false],
    ["the incarnation is not compared", true],
  ]) {
    const opened = openDocuments(defect);
    const { store, stored } = opened;
    await store.init({ layout: "default", nodes: { from: 0, to: 0 } });
    const one = () => store.acquire(attempt({ scope: "default" }));
    const replicated = new Map(stored);
    let lost;
    opened.beforeNextWrite(async () => {
      lost = await one();
      stored.clear();
      for (const [key, text] of replicated) stored.set(key, text);
      await opened.changeIncarnation();
    });
    const late = await one();
    assert.equal(lost.granted, true);
    assert.equal(late.granted && late.node === lost.node && late.fromMs < lost.untilMs, overlap, JSON.stringify(late));
  }
});

test("an attempt that is held up before its write, and its retry, take one node id", async () => {
  for (const [defect, differ] of [
    [undefined, false],
    ["a turn is not compared", true],
  ]) {
    const opened = openDocuments(defect);
    const { store } = opened;
    await store.init({ layout: "default", nodes: { from: 0, to: 1 } });
    const { node, grant } = await store.acquire(attempt({ scope: "default" }));
    const other = await store.acquire(attempt({ scope: "default" }));
    for (const row of [{ node, grant }, other])
      assert.ok(await store.release({ scope: "default", ...row, untilMs: row.node, heldUntilMs: 8e15 }));
    const request = attempt({ scope: "default" });
    let retry;
    opened.beforeNextWrite(async () => {
      retry = await store.acquire({ ...request, node: other.node });
    });
    const late = await store.acquire(request);
    assert.equal(late.node !== retry.node, differ);
  }
});

test("init, a missing scope, and rows without a record", async () => {
  const { store, stored } = openDocuments();
  await assert.rejects(
    lease(store, { scope: "orders" }),
    told({
      code: "STORE_NOT_INITIALISED",
      message: /the document store has no record of the scope "orders" in the document frazil\/orders\. /,
    }),
  );
  await assert.rejects(store.fence({ scope: "orders" }), { code: "STORE_NOT_INITIALISED" });
  assert.equal(await store.init({ scope: "orders", layout: "default" }), true);
  await checkSecondInit(store, "orders");
  assert.equal((await store.acquire(attempt({ scope: "orders", node: 70 }))).node, 70);
  assert.ok(stored.has("frazil/orders/70"));
  const record = stored.get("frazil/orders");
  stored.delete("frazil/orders");
  await assert.rejects(store.init({ scope: "orders", layout: "default" }), told({ message: /Its record was deleted/ }));
  stored.set("frazil/orders", JSON.stringify({ ...JSON.parse(record), nextNode: 64 }));
  await assert.rejects(
    store.acquire(attempt({ scope: "orders", node: 71 })),
    told({
      message: /The record was restored alone/,
    }),
  );
  stored.set("frazil/orders", "{}");
  await assert.rejects(
    store.renew({ ...attempt({ scope: "orders" }), node: 0, untilMs: 0 }),
    told({
      code: "STORE_REFUSED",
      message: /the document frazil\/orders must have JSON as the store writes it, got "\{\}"/,
    }),
  );
});

test("the options, and functions that answer with something else", async () => {
  const { documents } = openDocuments();
  for (const wrong of [undefined, {}, { read: documents.read }, "url"])
    assert.throws(() => new DocumentStore(wrong), { code: "INVALID_ARGUMENT", field: "documents" });
  for (const [field, value] of Object.entries({ name: "", prefix: "x".repeat(101), keys: 1 }))
    assert.throws(() => new DocumentStore(documents, { [field]: value }), { code: "INVALID_OPTION", field });
  assert.equal(new DocumentStore(documents, { name: "dynamodb", prefix: "" }).name, "dynamodb");
  const answers = (answer) => new DocumentStore({ ...documents, ...answer }).init({ layout: "default" });
  const read = { texts: [null, null], nowMs: 1, incarnation: "1" };
  for (const [answer, message] of [
    [{ read: async () => [] }, /with as many texts as keys \(2\)/],
    [{ read: async () => ({ ...read, texts: [null] }) }, /with as many texts as keys \(2\)/],
    [
      { read: async () => ({ ...read, texts: [null, 1] }) },
      /each text of read\(\) must be a string, or null for no document, got a number/,
    ],
    [{ read: async () => ({ ...read, nowMs: 1.5 }) }, /nowMs must be an integer .*, got 1\.5/],
    [
      { read: async () => ({ ...read, nowMs: 1_790_000_000 }) },
      /nowMs of read\(\) must be Unix milliseconds, got 1790000000\. Is it in seconds\?/,
    ],
    [
      { read: async () => ({ ...read, nowMs: 1.79e15 }) },
      /nowMs of read\(\) must be Unix milliseconds, got 1790000000000000\. Is it in microseconds\?/,
    ],
    [
      { read: async () => ({ ...read, incarnation: "" }) },
      /incarnation of read\(\) must be a string that is not empty, got a string/,
    ],
    [
      { replace: async () => ({ modifiedCount: 1 }) },
      /replace\(\) must resolve to true or false, whether it wrote the texts, got an object with modifiedCount/,
    ],
  ])
    await assert.rejects(answers(answer), told({ code: "STORE_REFUSED", message }));
  const cause = new Error("no route to host");
  const failing = { read: () => Promise.reject(cause) };
  await assert.rejects(
    answers(failing),
    told({
      code: "STORE_UNAVAILABLE",
      message: /read\(\) of the documents failed: no route/,
      cause,
    }),
  );
  const signal = AbortSignal.abort(hex());
  await assert.rejects(new DocumentStore(documents).acquire(attempt({ signal })), (error) => error === signal.reason);
});

test("init and fence end where no write succeeds, and where nothing answers", async (t) => {
  const { store, documents } = openDocuments();
  await store.init({ scope: "there", layout: "default" });
  // As a comparison of `seen` with `=` in SQL, which is never true for null.
  const never = new DocumentStore({ ...documents, replace: async () => false });
  const message = /60 times: replace\(\) resolved to false \d+ times in a row\. .* than the texts and the incarnation/;
  for (const call of [() => never.init({ layout: "default" }), () => never.fence({ scope: "there" })])
    await assert.rejects(call, told({ code: "STORE_UNAVAILABLE", message }));
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const silent = new DocumentStore({ ...documents, read: () => new Promise(() => {}) });
  for (const [name, call] of [
    ["init", () => silent.init({ layout: "default" })],
    ["fence", () => silent.fence({ scope: "there" })],
  ]) {
    const result = call();
    t.mock.timers.tick(10_000);
    await assert.rejects(result, {
      code: "STORE_UNAVAILABLE",
      message: new RegExp(`^.*${name}\\(\\) had no answer within`),
    });
  }
});
