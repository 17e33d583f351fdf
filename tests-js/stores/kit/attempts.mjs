// Requests to a store in a scope of the layout "default", each its own attempt; where one of them stands still, and what tests ask about
// the answers.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Layout } from "frazil";
import { layoutText } from "frazil/lease";
import { told } from "../../base/rule-texts.mjs";

/** 128 random bits: a grant or a nonce. */
export const hex = () => randomBytes(16).toString("hex");
export const layout = layoutText(Layout.named("default"));

/** A request for a node id. `more` says what is different. */
export const attempt = (more) => ({
  scope: "s",
  grant: hex(),
  nonce: hex(),
  windowMs: 60_000,
  layout,
  owner: "test",
  ...more,
});

/** A request to renew the lease of an answer. */
export const renewalOf = ({ grant, node, untilMs }, more) => ({
  scope: "s",
  grant,
  node,
  untilMs,
  nonce: hex(),
  windowMs: 60_000,
  layout,
  ...more,
});

/** A request to give back the lease of an answer. */
export const releaseOf = ({ grant, node, untilMs }, more) => ({
  scope: "s",
  grant,
  node,
  untilMs: 0,
  heldUntilMs: untilMs,
  ...more,
});

/** Makes a scope that no test has used. Returns its name. */
export async function newScopeOf(store, options) {
  const scope = `s${hex().slice(0, 12)}`;
  await store.init({ scope, layout: "default", ...options });
  return scope;
}

/** A place where a process stands still: it awaits `stop()` there. `arrived` resolves when it does, and `goOn()` ends the wait. */
export function stoppingPlace() {
  let arrive;
  const arrived = new Promise((resolve) => {
    arrive = resolve;
  });
  let goOn;
  const resumed = new Promise((resolve) => {
    goOn = resolve;
  });
  const stop = () => {
    arrive();
    return resumed;
  };
  return { stop, arrived, goOn };
}

/**
 * Checks the node ids of a layout without a node field, and a preferred one far beyond the rows of a layout with 22 bits. Returns a
 * call that makes requests for a node id of the second one.
 */
export async function checkNodeWidths(store) {
  const fieldsOf = (bits) => Object.entries(bits).map(([kind, bits]) => ({ kind, bits }));
  const narrow = new Layout({ epochMs: 0, fields: fieldsOf({ time: 41, sequence: 12 }) });
  const one = { scope: await newScopeOf(store, { layout: narrow }), layout: "0 1ms time41 sequence12" };
  assert.equal((await store.acquire(attempt(one))).node, 0);
  assert.equal((await store.acquire(attempt(one))).reason, "exhausted");
  const wide = new Layout({ epochMs: 0, tickMs: 1000, fields: fieldsOf({ time: 31, node: 22, sequence: 10 }) });
  const scope = await newScopeOf(store, { layout: wide });
  const request = (node) => attempt({ scope, layout: "0 1000ms time31 node22 sequence10", node });
  assert.equal((await store.acquire(request(4_000_000))).node, 0, "a preferred node id that is too far");
  return request;
}

/**
 * Checks what a store without tables says until it has tables and the record of the scope "default", and after that was deleted by
 * `deleteRecord()`.
 */
export async function checkSetUp(store, deleteRecord) {
  const init = (given = "default") => store.init({ layout: given });
  assert.equal((await store.acquire(attempt())).reason, "missing");
  assert.equal(await store.release({ scope: "s", grant: hex(), node: 0, untilMs: 0, heldUntilMs: 8e15 }), false);
  await assert.rejects(store.ensure({ scope: "s", behind: false }), { code: "STORE_NOT_INITIALISED" });
  await assert.rejects(init(), told({ code: "STORE_NOT_INITIALISED", message: /store\.migrate\(\)/ }));
  await store.migrate();
  await store.migrate();
  const call = /store\.init\(\{ scope: "default", layout/;
  await assert.rejects(store.fence(), told({ code: "STORE_NOT_INITIALISED", message: call }));
  assert.equal(await init(Layout.named("default")), true);
  await checkSecondInit(store, "default");
  await store.acquire(attempt({ scope: "default" }));
  await deleteRecord();
  await assert.rejects(init(), told({ code: "STATE_CONFLICT", message: /Its record was deleted/ }));
}

/** Checks that `init()` leaves the record of a scope as it is: of the layout `"default"`, with the node ids that are the default. */
export async function checkSecondInit(store, scope, nodes) {
  const init = (given) => store.init({ scope, layout: "default", ...(nodes && { nodes }), ...given });
  assert.equal(await init(), false);
  assert.equal(await init({ layout: Layout.named("default"), windowMaxMs: 1234 }), false);
  const { from, to } = nodes ?? { from: 10, to: 20 };
  for (const other of [{ layout: "twitter" }, { nodes: { from, to: to + 1 } }, { nodes: { from: from - 1, to } }])
    await assert.rejects(init(other), (error) => {
      assert.deepEqual([error.name, error.code, error.field], ["ConfigError", "STATE_CONFLICT", "scope"]);
      assert.match(
        error.message,
        /has a record of the layout "1704067200000 1ms time41 node10 sequence12" and the node ids \d+ to \d+, and not of /,
      );
      return true;
    });
}

/**
 * Checks that `fence()` holds back a new scope by its longest window and the margin, and no other scope. The store's clock has steps of
 * `stepMs`.
 */
export async function checkFence(store, scope, fence, stepMs = 1) {
  const acquire = (of) => store.acquire(attempt({ scope: of }));
  const other = `not-${scope}`;
  for (const each of [scope, other]) {
    await store.init({ scope: each, layout: "default", windowMaxMs: 60_000 });
    assert.equal((await acquire(each)).granted, true);
  }
  const beganMs = Date.now();
  await fence();
  const { reason, freeAtMs } = await acquire(scope);
  assert.equal(reason, "fenced");
  assert.ok(freeAtMs > beganMs - stepMs + 65_000 && freeAtMs <= Date.now() + 65_000, `${freeAtMs - beganMs} ms`);
  assert.equal((await acquire(other)).granted, true);
  // Once more: the fence only grows.
  await fence();
  assert.ok((await acquire(scope)).freeAtMs >= freeAtMs);
}

/** Checks the same of a text: `print(scope)` returns it, and `run(text)` runs it. */
export async function checkPrintedFence(store, print, run) {
  await checkFence(store, "orders", async () => run(await print("orders")));
  const early = async (scope) => {
    const text = await print(scope);
    const changed = text.replace(/(window_max_ms|longest) \+ 5000/, "5000");
    assert.notEqual(changed, text);
    return changed;
  };
  await assert.rejects(
    checkFence(store, "broken", async () => run(await early("broken"))),
    { name: "AssertionError", message: /^\d+ ms$/ },
    "the checker must catch a fence that ends within the longest window",
  );
}

/** How many pairs of windows of one node id overlap. */
export function overlaps(leases) {
  let count = 0;
  for (const [at, one] of leases.entries())
    for (const two of leases.slice(at + 1))
      if (one.node === two.node && one.fromMs < two.untilMs && two.fromMs < one.untilMs) count++;
  return count;
}
