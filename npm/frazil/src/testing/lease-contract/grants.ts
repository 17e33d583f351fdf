/** Scenarios of `acquire`: which node id is granted to whom, and from when. */
import assert from "node:assert/strict";
import { type Bench, draw, granted, type Holder, leased, refused, type Scenario } from "../contract/holder.js";

const MINUTE = 60_000;
/** Longer than the slowest store on the slowest machine takes for 1,024 grants, because an expired window is granted again. */
const HOUR = 3_600_000;

async function aGrantIsAWholeLease(bench: Bench) {
  const scope = await bench.scope();
  const holder = scope.holder(10_000);
  const { grant, node, untilMs, storeNowMs } = granted(await holder.acquire());
  assert.equal(grant, holder.grant);
  assert.ok(node >= 0 && node <= 3, `node ${node}`);
  assert.equal(untilMs, storeNowMs + 10_000);
}

async function everyNodeIdIsGrantedOnce(bench: Bench) {
  const scope = await bench.scope();
  const grants = [];
  for (let count = 0; count < 4; count++) grants.push((await leased(scope, MINUTE - count))[1]);
  assert.deepEqual(grants.map(({ node }) => node).sort(), [0, 1, 2, 3]);
  const { freeAtMs } = refused(await scope.holder(MINUTE).acquire(), "exhausted");
  assert.equal(freeAtMs, Math.min(...grants.map(({ untilMs }) => untilMs)), "freeAtMs is not the earliest end");
}

async function manyClientsTakeEachNodeIdOnce(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 1023 }, windowMaxMs: HOUR });
  const clients = await Promise.all(
    Array.from({ length: 64 }, async () => (await bench.open.connect?.()) ?? bench.open.store),
  );
  const nodes: number[] = [];
  await Promise.all(
    clients.map(async (store) => {
      for (let count = 0; count < 16; count++) {
        const holder = scope.holder(HOUR, store);
        let answer = await holder.acquire();
        // A client may find every free row locked by others. It asks again, as the answer says.
        while (!answer.granted && answer.reason === "exhausted" && (answer.freeAtMs ?? 0) <= (answer.storeNowMs ?? 0))
          answer = await holder.acquire();
        nodes.push(granted(answer).node);
      }
    }),
  );
  assert.equal(nodes.length, 1024);
  assert.equal(new Set(nodes).size, 1024, `${1024 - new Set(nodes).size} node ids were granted twice`);
  await Promise.all(clients.map(async (store) => refused(await scope.holder(HOUR, store).acquire(), "exhausted")));
}

async function aRetriedAcquireIsAnsweredWithTheSameLease(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 1 } });
  const holder = scope.holder(MINUTE);
  const nonce = draw();
  const first = granted(await holder.acquire({ nonce }));
  await scope.pass(5);
  const again = granted(await holder.acquire({ nonce }));
  assert.deepEqual([again.node, again.fromMs, again.untilMs], [first.node, first.fromMs, first.untilMs]);
  // Only one node id was taken.
  await leased(scope, MINUTE);
  refused(await scope.holder(MINUTE).acquire(), "exhausted");
}

async function anAcquireBesideItsRetryIsOneLease(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 7 } });
  // First where rows must be made, then where some are free.
  for (let round = 0; round < 5; round++) {
    const [grant, nonce] = [draw(), draw()];
    const attempts = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const attempt = scope.holder(MINUTE, await bench.open.connect?.());
        attempt.grant = grant;
        return attempt;
      }),
    );
    const nodes = await Promise.all(attempts.map(async (attempt) => granted(await attempt.acquire({ nonce })).node));
    assert.equal(new Set(nodes).size, 1, `one grant has the node ids ${nodes.join(", ")}`);
    if (round === 0) continue;
    const others = [];
    for (let count = 0; count < 4; count++) others.push((await leased(scope, MINUTE))[0]);
    for (const holder of [...others, attempts[0] as Holder]) assert.ok(await holder.release(0));
  }
}

async function acquiresBesideTheirRetriesAndOthersAreOneLeaseEach(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 31 } });
  // First where rows must be made, then where some are free.
  for (let round = 0; round < 3; round++) {
    const asked = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const [grant, nonce] = [draw(), draw()];
        const attempts = Array.from({ length: 3 }, async () => {
          const attempt = scope.holder(MINUTE, await bench.open.connect?.());
          attempt.grant = grant;
          return [attempt, granted(await attempt.acquire({ nonce })).node] as const;
        });
        return Promise.all(attempts);
      }),
    );
    for (const attempts of asked)
      assert.equal(new Set(attempts.map(([, node]) => node)).size, 1, "one grant has several node ids");
    assert.equal(new Set(asked.flatMap((attempts) => attempts.map(([, node]) => node))).size, 8);
    // No other node id was taken.
    const others = [];
    for (let count = 0; count < 24; count++) others.push((await leased(scope, MINUTE))[0]);
    refused(await scope.holder(MINUTE).acquire(), "exhausted");
    for (const holder of [...others, ...asked.map(([attempt]) => attempt?.[0] as Holder)])
      assert.ok(await holder.release(0));
  }
}

async function anAcquireRepeatedAfterARenewalIsRefused(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 1 } });
  const holder = scope.holder(10_000);
  const nonce = draw();
  granted(await holder.acquire({ nonce }));
  // The process was copied while its acquire was under way.
  const clone = holder.clone();
  granted(await clone.acquire({ nonce }));
  await scope.pass(5);
  granted(await holder.renew());
  // If the answer were the window that the other one renewed, the clone would mint in it too.
  refused(await clone.acquire({ nonce }), "taken");
  refused(await clone.acquire(), "taken");
  granted(await holder.renew());
  await leased(scope, MINUTE);
  refused(await scope.holder(MINUTE).acquire(), "exhausted");
}

async function aPreferredNodeIdIsGrantedIfItIsFree(bench: Bench) {
  const scope = await bench.scope();
  const [holder] = await leased(scope, MINUTE, { node: 2 });
  assert.equal(holder.node, 2, "a node id that nobody ever had");
  const other = granted(await scope.holder(MINUTE).acquire({ node: 2 }));
  assert.notEqual(other.node, 2, "a node id that is held");
  const [third] = await leased(scope, MINUTE);
  assert.ok(await third.release(0));
  assert.ok(await holder.release(holder.untilMs - MINUTE));
  const again = granted(await scope.holder(MINUTE).acquire({ node: 2 }));
  assert.equal(again.node, 2, "a node id that was released, after others");
}

async function aPreferredNodeIdOutsideTheRangeIsNotGranted(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 1, to: 2 } });
  for (const node of [0, 3]) {
    const [holder] = await leased(scope, MINUTE, { node });
    assert.notEqual(holder.node, node);
  }
  refused(await scope.holder(MINUTE).acquire({ node: 0 }), "exhausted");
}

async function theOldestFreeNodeIdIsGrantedFirst(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 2 } });
  const holders: Holder[] = [];
  for (let count = 0; count < 3; count++) holders.push((await leased(scope, MINUTE))[0]);
  const now = granted(await (holders[0] as Holder).renew()).storeNowMs;
  const ends = [now - 20, now - 40, now - 30];
  for (const [at, holder] of holders.entries()) assert.ok(await holder.release(ends[at] as number));
  const order = [];
  for (let count = 0; count < 3; count++) order.push((await leased(scope, MINUTE))[0].node);
  const expected = [1, 2, 0].map((at) => holders[at]?.node);
  assert.deepEqual(order, expected);
}

async function onlyNodeIdsOfTheRangeAreGranted(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 5, to: 7 } });
  const nodes = [];
  for (let count = 0; count < 3; count++) nodes.push((await leased(scope, MINUTE))[0].node);
  assert.deepEqual(nodes.sort(), [5, 6, 7]);
  refused(await scope.holder(MINUTE).acquire(), "exhausted");
}

async function anExpiredNodeIdIsGrantedFromTheEndOfItsWindow(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 0 } });
  const [first, one] = await leased(scope, 200);
  await scope.pass(one.untilMs - one.storeNowMs + 50);
  const [, two] = await leased(scope, MINUTE);
  assert.equal(two.fromMs, one.untilMs, "the window does not begin at the end of the last one");
  refused(await first.renew(), "taken");
}

async function anAbortedCallRejectsWithTheReason(bench: Bench) {
  const scope = await bench.scope();
  const reason = new Error("given up");
  await assert.rejects(
    scope.holder(MINUTE).acquire({ signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
}

export const grants: readonly Scenario[] = [
  { name: "a grant is a whole lease", run: aGrantIsAWholeLease },
  { name: "every node id is granted once, then none is free until the first ends", run: everyNodeIdIsGrantedOnce },
  // Alone, because the others would wait for it.
  { name: "64 clients take 1,024 node ids, each once", alone: true, run: manyClientsTakeEachNodeIdOnce },
  { name: "a retried acquire is answered with the same lease", run: aRetriedAcquireIsAnsweredWithTheSameLease },
  { name: "an acquire beside its retry is one lease", run: anAcquireBesideItsRetryIsOneLease },
  {
    name: "acquires beside their retries and others are one lease each",
    run: acquiresBesideTheirRetriesAndOthersAreOneLeaseEach,
  },
  { name: "an acquire repeated after a renewal is refused", run: anAcquireRepeatedAfterARenewalIsRefused },
  { name: "a preferred node id is granted if it is free", run: aPreferredNodeIdIsGrantedIfItIsFree },
  { name: "a preferred node id outside the range is not granted", run: aPreferredNodeIdOutsideTheRangeIsNotGranted },
  { name: "the free node id with the oldest end is granted first", run: theOldestFreeNodeIdIsGrantedFirst },
  { name: "only node ids of the range are granted", run: onlyNodeIdsOfTheRangeAreGranted },
  {
    name: "an expired node id is granted from the end of its window",
    run: anExpiredNodeIdIsGrantedFromTheEndOfItsWindow,
  },
  { name: "a call with an aborted signal rejects with its reason", run: anAbortedCallRejectsWithTheReason },
];
