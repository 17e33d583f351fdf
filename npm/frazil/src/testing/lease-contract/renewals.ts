/** Scenarios of `renew`: a compare-and-set on the end of the window, which a clone of the process loses. */
import assert from "node:assert/strict";
import { type Bench, draw, granted, leased, refused, type Scenario } from "../contract/holder.js";

const MINUTE = 60_000;

async function aRenewalMovesTheEnd(bench: Bench) {
  const scope = await bench.scope();
  const [holder, first] = await leased(scope, 10_000);
  await scope.pass(20);
  const again = granted(await holder.renew());
  assert.deepEqual([again.grant, again.node, again.fromMs], [first.grant, first.node, first.fromMs]);
  assert.equal(again.untilMs, again.storeNowMs + 10_000);
  assert.ok(again.untilMs > first.untilMs);
}

async function aRenewalNeverShortens(bench: Bench) {
  const scope = await bench.scope();
  const [holder, first] = await leased(scope, MINUTE);
  holder.windowMs = 100;
  assert.equal(granted(await holder.renew()).untilMs, first.untilMs);
}

async function aStaleRenewalIsRefused(bench: Bench) {
  const scope = await bench.scope();
  const [holder, first] = await leased(scope, 10_000);
  await scope.pass(5);
  granted(await holder.renew());
  refused(await holder.renew({ untilMs: first.untilMs }), "taken");
}

async function aRetriedRenewalIsAccepted(bench: Bench) {
  const scope = await bench.scope();
  const [holder, first] = await leased(scope, 10_000);
  await scope.pass(5);
  const nonce = draw();
  const once = granted(await holder.renew({ nonce }));
  // The answer was lost, so the holder knows only the old end.
  const twice = granted(await holder.renew({ nonce, untilMs: first.untilMs }));
  assert.ok(twice.untilMs >= once.untilMs);
  assert.equal(twice.fromMs, first.fromMs);
}

async function anExpiredLeaseThatNobodyTookIsRenewed(bench: Bench) {
  const scope = await bench.scope();
  const [holder, first] = await leased(scope, 100);
  await scope.pass(200);
  holder.windowMs = 10_000;
  const again = granted(await holder.renew());
  assert.ok(again.storeNowMs > first.untilMs, "the lease has not expired");
  assert.deepEqual([again.node, again.fromMs], [first.node, first.fromMs]);
}

async function aRenewalWithAnotherGrantIsRefused(bench: Bench) {
  const scope = await bench.scope();
  const [holder] = await leased(scope, MINUTE);
  const other = holder.clone();
  other.grant = draw();
  refused(await other.renew(), "taken");
  granted(await holder.renew());
}

async function oneOfTwoClonesLoses(bench: Bench) {
  const scope = await bench.scope();
  const [holder] = await leased(scope, 10_000);
  const clone = holder.clone();
  await scope.pass(5);
  granted(await holder.renew());
  refused(await clone.renew(), "taken");
  await scope.pass(5);
  refused(await clone.renew(), "taken");
  granted(await holder.renew());
}

async function oneOfTwoClonesAtOnceLoses(bench: Bench) {
  const scope = await bench.scope();
  for (let round = 0; round < 8; round++) {
    const holder = scope.holder(10_000, await bench.open.connect?.());
    granted(await holder.acquire());
    const clone = holder.clone();
    clone.store = (await bench.open.connect?.()) ?? clone.store;
    await scope.pass(5);
    const answers = await Promise.all([holder.renew(), clone.renew()]);
    assert.equal(answers.filter((answer) => answer.granted).length, 1, "two clones renewed, or none");
    await (answers[0]?.granted ? holder : clone).release(0);
  }
}

async function aCloneOfAnAttemptLosesAtTheNextRenewal(bench: Bench) {
  const scope = await bench.scope();
  const [holder] = await leased(scope, 10_000);
  const clone = holder.clone();
  // The process was copied after drawing the nonce, so the two attempts are indistinguishable.
  const nonce = draw();
  await scope.pass(5);
  granted(await holder.renew({ nonce }));
  granted(await clone.renew({ nonce }));
  await scope.pass(5);
  granted(await clone.renew());
  refused(await holder.renew(), "taken");
}

export const renewals: readonly Scenario[] = [
  { name: "a renewal moves the end of the window", run: aRenewalMovesTheEnd },
  { name: "a renewal never shortens the window", run: aRenewalNeverShortens },
  { name: "a stale renewal is refused", run: aStaleRenewalIsRefused },
  { name: "a retried renewal is accepted", run: aRetriedRenewalIsAccepted },
  { name: "an expired lease that nobody took is renewed", run: anExpiredLeaseThatNobodyTookIsRenewed },
  { name: "a renewal with another grant is refused", run: aRenewalWithAnotherGrantIsRefused },
  { name: "one of two clones loses", run: oneOfTwoClonesLoses },
  { name: "one of two clones that renew at once loses", run: oneOfTwoClonesAtOnceLoses },
  { name: "a clone of an attempt loses at the next renewal", run: aCloneOfAnAttemptLosesAtTheNextRenewal },
];
