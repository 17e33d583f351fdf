/** Scenarios of `release`: the node id is free at once, and the old holder cannot come back. */
import assert from "node:assert/strict";
import { type Bench, draw, granted, leased, refused, type Scenario } from "../contract/holder.js";

const MINUTE = 60_000;

async function aReleasedNodeIdIsFree(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 0 } });
  const [holder, first] = await leased(scope, MINUTE);
  await scope.pass(20);
  const end = first.storeNowMs + 7;
  assert.equal(await holder.release(end), true);
  const [, next] = await leased(scope, MINUTE);
  assert.equal(next.fromMs, end, "the next window does not begin where the last one was released");
  assert.equal(await holder.release(end), false, "released twice");
}

async function aReleaseInTheFutureKeepsTheNodeId(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 0 } });
  const [holder, first] = await leased(scope, MINUTE);
  // IDs may run ahead of the clock: the last one lies in the future.
  assert.equal(await holder.release(first.storeNowMs + 30_000), true);
  const { freeAtMs } = refused(await scope.holder(MINUTE).acquire(), "exhausted");
  assert.equal(freeAtMs, first.storeNowMs + 30_000);
}

async function aReleaseNeverGoesBelowTheStart(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 0 } });
  const [holder, first] = await leased(scope, MINUTE);
  await holder.release(first.storeNowMs);
  const [second, { fromMs }] = await leased(scope, MINUTE);
  assert.equal(await second.release(0), true);
  const [, third] = await leased(scope, MINUTE);
  assert.equal(third.fromMs, fromMs, "a window was granted twice");
}

async function aReleaseAfterTheLossIsRefused(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 0 } });
  const [first] = await leased(scope, 100);
  await scope.pass(200);
  const [second] = await leased(scope, MINUTE);
  assert.equal(await first.release(first.untilMs), false);
  refused(await scope.holder(MINUTE).acquire(), "exhausted");
  granted(await second.renew());
}

async function aReleaseWithAnotherGrantIsRefused(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 0 } });
  const [holder] = await leased(scope, MINUTE);
  const other = holder.clone();
  other.grant = draw();
  assert.equal(await other.release(0), false);
  refused(await scope.holder(MINUTE).acquire(), "exhausted");
}

async function aReleaseOfACloneIsRefused(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 0 } });
  const [holder, first] = await leased(scope, MINUTE);
  const clone = holder.clone();
  await scope.pass(20);
  granted(await holder.renew());
  // The clone knows the grant, and stops. The holder still mints, to an end that the clone does not know.
  assert.equal(await clone.release(first.storeNowMs), false);
  refused(await scope.holder(MINUTE).acquire(), "exhausted");
  granted(await holder.renew());
  assert.equal(await holder.release(first.storeNowMs), true);
}

async function aRenewalAfterTheReleaseIsRefused(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 0 } });
  const [holder, first] = await leased(scope, MINUTE);
  assert.equal(await holder.release(first.storeNowMs), true);
  // The end went down, as it also does in a store that has lost writes.
  refused(await holder.renew(), "taken", "behind");
  refused(await holder.renew({ untilMs: first.storeNowMs }), "taken");
  await leased(scope, MINUTE);
}

export const releases: readonly Scenario[] = [
  { name: "a released node id is free, from the end of what was minted", run: aReleasedNodeIdIsFree },
  { name: "a node id that is released in the future is held until then", run: aReleaseInTheFutureKeepsTheNodeId },
  { name: "a release never goes below the start of the window", run: aReleaseNeverGoesBelowTheStart },
  { name: "a release after the loss is refused", run: aReleaseAfterTheLossIsRefused },
  { name: "a release with another grant is refused", run: aReleaseWithAnotherGrantIsRefused },
  { name: "a release of a clone that did not renew is refused", run: aReleaseOfACloneIsRefused },
  { name: "a renewal after the release is refused", run: aRenewalAfterTheReleaseIsRefused },
];
