/** Scenarios of `ensure` and the fence, for a store that has lost writes, or may have. */
import assert from "node:assert/strict";
import { type Answer, FENCE_MARGIN_MS } from "../../stores/lease-store.js";
import {
  type Bench,
  draw,
  granted,
  type Holder,
  leased,
  refused,
  type Scenario,
  type Scope,
} from "../contract/holder.js";

/** Far longer than a slow machine takes. */
const MINUTE = 60_000;

/** Renews as the driver does: calls `ensure` while the row is behind, because a fence covers that only for the margin. */
async function renewUnderAFence(holder: Holder): Promise<Answer> {
  let answer: Answer;
  let attempts = 0;
  do {
    await holder.ensure(true);
    answer = await holder.renew();
  } while (!answer.granted && answer.reason === "behind" && ++attempts < 5);
  return answer;
}

/** Raises the fence as a holder does whose row went back. */
async function raiseFence(scope: Scope): Promise<void> {
  await scope.holder(1000).ensure(true);
}

async function aFenceHoldsAcquisitionsBack(bench: Bench) {
  const scope = await bench.scope({ windowMaxMs: 2000 });
  const [used, { storeNowMs: before }] = await leased(scope, 300);
  await used.release(0);
  const unused = await bench.scope({ windowMaxMs: 2000 });
  await raiseFence(unused);
  const { freeAtMs: otherFence } = refused(await unused.holder(300).acquire(), "fenced");
  await raiseFence(scope);
  const fenced = refused(await scope.holder(300).acquire(), "fenced");
  const fence = fenced.freeAtMs as number;
  assert.ok(fence >= before + 2000 + FENCE_MARGIN_MS, `the fence is ${fence - before} ms ahead`);
  assert.ok(fence <= (fenced.storeNowMs as number) + 2000 + FENCE_MARGIN_MS);
  // One that had a row, one that never did, and the preferred one.
  refused(await scope.holder(300).acquire({ node: used.node }), "fenced");
  await scope.pass(fence - (fenced.storeNowMs as number) + 50);
  for (const node of [used.node, 3]) {
    const after = granted(await scope.holder(300).acquire({ node }));
    assert.equal(after.fromMs, fence, "the window does not begin at the fence");
  }
  const first = granted(await unused.holder(300).acquire());
  assert.equal(first.fromMs, otherFence, "the first window of a scope does not begin at the fence");
}

async function aFenceRefusesARenewalOfAWindowThatHadEnded(bench: Bench) {
  const scope = await bench.scope({ windowMaxMs: MINUTE });
  const [ended] = await leased(scope, 100);
  const [live, { node, fromMs }] = await leased(scope, MINUTE);
  await scope.pass(200);
  await raiseFence(scope);
  refused(await ended.renew(), "fenced");
  const again = granted(await live.renew());
  assert.deepEqual([again.node, again.fromMs], [node, fromMs], "a live holder renews");
}

async function aRowThatWentBackIsHealedUnderAFence(bench: Bench) {
  const scope = await bench.scope({ windowMaxMs: MINUTE });
  const [holder, { untilMs }] = await leased(scope, MINUTE);
  // The holder knows a renewal that the store has lost.
  const known = untilMs + 5000;
  holder.untilMs = known;
  refused(await holder.renew(), "behind");
  refused(await holder.renew(), "behind");
  assert.ok(granted(await renewUnderAFence(holder)).untilMs >= known, "the row is not healed");
  refused(await scope.holder(1000).acquire(), "fenced");
}

async function aRowThatIsGoneIsBehind(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 1023 }, windowMaxMs: MINUTE });
  const holder = scope.holder(MINUTE);
  const now = granted(await scope.holder(MINUTE).acquire({ node: 0 })).storeNowMs;
  Object.assign(holder, { node: 1000, untilMs: now + MINUTE });
  refused(await holder.renew(), "behind");
  refused(await renewUnderAFence(holder), "taken");
}

async function aRowThatAnotherTookAfterALossIsBehind(bench: Bench) {
  const scope = await bench.scope({ windowMaxMs: MINUTE });
  const [other, { untilMs }] = await leased(scope, MINUTE);
  const holder = other.clone();
  holder.grant = draw();
  holder.untilMs = untilMs + 3000;
  refused(await holder.renew(), "behind");
  refused(await renewUnderAFence(holder), "taken");
}

async function ensureWithoutACauseChangesNothing(bench: Bench) {
  const scope = await bench.scope();
  const [holder] = await leased(scope, MINUTE);
  await holder.ensure(false);
  await leased(scope, MINUTE);
  granted(await holder.renew());
}

async function aFenceOnlyGrows(bench: Bench) {
  const scope = await bench.scope({ windowMaxMs: 10_000 });
  await raiseFence(scope);
  const first = refused(await scope.holder(1000).acquire(), "fenced").freeAtMs as number;
  await scope.pass(50);
  await raiseFence(scope);
  await scope.holder(1000).ensure(false);
  const { freeAtMs: second, storeNowMs } = refused(await scope.holder(1000).acquire(), "fenced");
  if ((storeNowMs as number) + 10_000 <= first)
    assert.equal(second, first, "the fence covered the longest window already, and moved");
  else assert.ok((second as number) >= first, "the fence went back");
}

async function aMissingRecordIsNoFence(bench: Bench) {
  const scope = await bench.scope();
  const [holder] = await leased(scope, MINUTE);
  const lost = Object.assign(holder.clone(), {
    scope: { record: { ...scope.record, scope: `gone-${draw().slice(0, 8)}` } },
  });
  refused(await lost.renew(), "missing");
  refused(await lost.acquire(), "missing");
  assert.equal(await lost.release(0), false);
  await assert.rejects(lost.ensure(true), { code: "STORE_NOT_INITIALISED" });
  refused(await lost.acquire(), "missing");
}

async function anotherIncarnationIsFenced(bench: Bench) {
  const scope = await bench.scope({ windowMaxMs: MINUTE });
  const [ended] = await leased(scope, 100);
  const live = scope.holder(MINUTE);
  const nonce = draw();
  granted(await live.acquire({ nonce }));
  await scope.pass(200);
  await bench.open.changeIncarnation?.();
  refused(await scope.holder(1000).acquire(), "incarnation");
  refused(await live.renew(), "incarnation");
  granted(await live.acquire({ nonce }));
  await live.ensure(false);
  refused(await scope.holder(1000).acquire(), "fenced");
  refused(await ended.renew(), "fenced");
  granted(await live.renew());
}

/** A holder beside a free row: the next write of an acquisition is the one that grants. */
async function besideAFreeRow(scope: Scope): Promise<Holder> {
  const [live] = await leased(scope, MINUTE);
  const [freed] = await leased(scope, MINUTE);
  await freed.release(0);
  return live;
}

/** Changes the server between the read and the write of the next operation. */
function failOverBeforeTheWrite({ open }: Bench): void {
  open.beforeNextWrite?.(async () => open.changeIncarnation?.());
}

async function anAcquisitionAcrossAFailoverIsRefused(bench: Bench) {
  const scope = await bench.scope({ windowMaxMs: MINUTE });
  const live = await besideAFreeRow(scope);
  failOverBeforeTheWrite(bench);
  refused(await scope.holder(MINUTE).acquire(), "incarnation");
  await live.ensure(false);
  refused(await scope.holder(MINUTE).acquire(), "fenced");
}

async function anAcquisitionAcrossAFenceIsRefused(bench: Bench) {
  const scope = await bench.scope({ windowMaxMs: MINUTE });
  await besideAFreeRow(scope);
  bench.open.beforeNextWrite?.(() => raiseFence(scope));
  refused(await scope.holder(MINUTE).acquire(), "fenced");
}

async function aRenewalAcrossAFailoverIsRefused(bench: Bench) {
  const scope = await bench.scope({ windowMaxMs: MINUTE });
  const [live] = await leased(scope, MINUTE);
  await scope.pass(50);
  failOverBeforeTheWrite(bench);
  refused(await live.renew(), "incarnation");
  await live.ensure(false);
  granted(await live.renew());
}

export const fences: readonly Scenario[] = [
  { name: "a fence holds acquisitions back, and windows begin behind it", run: aFenceHoldsAcquisitionsBack },
  { name: "a fence refuses a renewal of a window that had ended", run: aFenceRefusesARenewalOfAWindowThatHadEnded },
  { name: "a row that went back is healed under a fence only", run: aRowThatWentBackIsHealedUnderAFence },
  { name: "a row that is gone is behind, and lost under a fence", run: aRowThatIsGoneIsBehind },
  { name: "a row that another took after a loss is behind", run: aRowThatAnotherTookAfterALossIsBehind },
  { name: "ensure without a cause changes nothing", run: ensureWithoutACauseChangesNothing },
  { name: "a fence only grows, and not while it covers the longest window", run: aFenceOnlyGrows },
  { name: "a missing record is refused, and never made", missesRecord: true, run: aMissingRecordIsNoFence },
  {
    name: "another incarnation is fenced",
    needs: ["changeIncarnation"],
    alone: true,
    run: anotherIncarnationIsFenced,
  },
  {
    name: "an acquisition that was decided before a failover is not written after it",
    needs: ["beforeNextWrite", "changeIncarnation"],
    alone: true,
    run: anAcquisitionAcrossAFailoverIsRefused,
  },
  {
    name: "an acquisition that was decided before a fence is not written after it",
    needs: ["beforeNextWrite"],
    alone: true,
    run: anAcquisitionAcrossAFenceIsRefused,
  },
  {
    name: "a renewal that was decided before a failover is not written after it",
    needs: ["beforeNextWrite", "changeIncarnation"],
    alone: true,
    run: aRenewalAcrossAFailoverIsRefused,
  },
];
