/** Scenarios of requests that do not fit the scope. */
import assert from "node:assert/strict";
import { type Bench, granted, leased, refused, type Scenario } from "../contract/holder.js";

const MINUTE = 60_000;

async function anotherLayoutIsRefused(bench: Bench) {
  const scope = await bench.scope();
  const layout = "1288834974657 1ms time41 node10 sequence12";
  const refusal = refused(await scope.holder(MINUTE).acquire({ layout }), "layout");
  assert.equal(refusal.layout, scope.record.layout);
  const [holder] = await leased(scope, MINUTE);
  assert.equal(refused(await holder.renew({ layout }), "layout").layout, scope.record.layout);
  granted(await holder.renew());
}

async function aWindowOverTheMaximumIsRefused(bench: Bench) {
  const scope = await bench.scope({ windowMaxMs: 10_000 });
  assert.equal(refused(await scope.holder(10_001).acquire(), "window").windowMaxMs, 10_000);
  const [holder] = await leased(scope, 10_000);
  holder.windowMs = 10_001;
  assert.equal(refused(await holder.renew(), "window").windowMaxMs, 10_000);
  holder.windowMs = 10_000;
  granted(await holder.renew());
}

async function scopesAreIsolated(bench: Bench) {
  const [one, two] = [
    await bench.scope({ nodes: { from: 0, to: 0 } }),
    await bench.scope({ nodes: { from: 0, to: 0 } }),
  ];
  const [holder, first] = await leased(one, MINUTE);
  const [other] = await leased(two, MINUTE);
  assert.equal(other.node, holder.node, "the node ids of one scope are taken by another");
  const stray = other.clone();
  Object.assign(stray, { grant: holder.grant, untilMs: first.untilMs + MINUTE });
  assert.equal(await stray.release(0), false, "a grant of one scope released the other");
  await one.holder(MINUTE).ensure(true);
  granted(await other.renew());
  await other.release(0);
  await leased(two, MINUTE);
}

export const refusals: readonly Scenario[] = [
  { name: "another layout is refused", run: anotherLayoutIsRefused },
  { name: "a window over the maximum is refused", run: aWindowOverTheMaximumIsRefused },
  { name: "scopes are isolated", run: scopesAreIsolated },
];
