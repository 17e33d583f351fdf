/** Scenarios of wrong clocks and of stores that were down. They run alone, because they change what all scopes share. */
import assert from "node:assert/strict";
import type { Grant } from "../../stores/lease-store.js";
import { type Bench, granted, type Holder, leased, refused, type Scenario, type Scope } from "../contract/holder.js";

const YEAR = 365 * 24 * 3600 * 1000;
const HOUR = 3600 * 1000;

/** Runs work while the clock of this process is wrong. Only `Date` is affected, as on a host with a wrong clock. */
async function withClientClock<T>(offsetMs: number, work: () => Promise<T>): Promise<T> {
  const real = globalThis.Date;
  class Skewed extends real {
    constructor(...given: []) {
      super(...((given.length > 0 ? given : [Skewed.now()]) as []));
    }
    static override now(): number {
      return real.now() + offsetMs;
    }
  }
  globalThis.Date = Skewed as DateConstructor;
  try {
    return await work();
  } finally {
    globalThis.Date = real;
  }
}

async function theClockOfTheClientDoesNotMatter(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 2 } });
  const [, reference] = await leased(scope, 30_000);
  for (const offset of [YEAR, -YEAR]) {
    const [holder, lease] = await withClientClock(offset, () => leased(scope, 30_000));
    assert.ok(Math.abs(lease.storeNowMs - reference.storeNowMs) < HOUR, "storeNowMs is of the client's clock");
    assert.equal(lease.untilMs, lease.storeNowMs + 30_000, "the window ends by the client's clock");
    const renewed = await withClientClock(offset, () => holder.renew());
    assert.ok(Math.abs(granted(renewed).untilMs - lease.untilMs) < HOUR);
  }
  // Nothing has expired, whatever the client's clock says.
  for (const offset of [YEAR, -YEAR])
    refused(await withClientClock(offset, () => scope.holder(30_000).acquire()), "exhausted");
}

/** Fails if two windows of one node id overlap. */
function assertDisjoint(windows: readonly { node: number; fromMs: number; untilMs: number }[]): void {
  const sorted = [...windows].sort((a, b) => a.node - b.node || a.fromMs - b.fromMs || a.untilMs - b.untilMs);
  for (const [at, window] of sorted.entries()) {
    const last = sorted[at - 1];
    if (last?.node !== window.node) continue;
    assert.ok(last.untilMs <= window.fromMs, `overlap: ${JSON.stringify(last)} and ${JSON.stringify(window)}`);
  }
}

/**
 * Holders come and go for `rounds`, each with its own client clock: one is renewed twice and then expires, one expires, one is released.
 * Returns the window of each lease.
 */
async function churn(scope: Scope, rounds: number, offsets: readonly number[]) {
  const windows: { node: number; fromMs: number; untilMs: number }[] = [];
  const live: { holder: Holder; lease: Grant; round: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    await withClientClock(offsets[round % offsets.length] as number, async () => {
      const holder = scope.holder(60);
      const answer = await holder.acquire();
      if (answer.granted) live.push({ holder, lease: answer, round });
      for (const one of live.splice(0)) {
        const age = round - one.round;
        const fate = one.round % 3;
        if (fate === 0 && age > 0 && age < 3) await one.holder.renew();
        const isOver = fate === 2 && age === 1 && (await one.holder.release(one.lease.storeNowMs + 1));
        if (isOver) windows.push({ ...one.lease, untilMs: Math.max(one.lease.fromMs, one.lease.storeNowMs + 1) });
        else live.push(one);
      }
    });
    await scope.pass(17);
  }
  return [...windows, ...live.map(({ holder, lease }) => ({ ...lease, untilMs: holder.untilMs }))];
}

async function windowsNeverOverlapWithSkewedClients(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 1 }, windowMaxMs: 1000 });
  const windows = await churn(scope, 40, [0, 90, -90]);
  assert.ok(windows.length > 8, `only ${windows.length} leases`);
  assertDisjoint(windows);
}

async function aJumpOfTheStoresClockCostsTimeOnly(bench: Bench) {
  const jump = bench.open.jumpClock as (ms: number) => Promise<void>;
  const scope = await bench.scope({ nodes: { from: 0, to: 0 } });
  const [first, one] = await leased(scope, 30_000);
  await jump(HOUR);
  const [second, two] = await leased(scope, 30_000);
  assert.equal(two.fromMs, one.untilMs);
  refused(await first.renew(), "taken");
  await jump(-HOUR);
  const { freeAtMs } = refused(await scope.holder(30_000).acquire(), "exhausted");
  assert.equal(freeAtMs, two.untilMs);
  assert.ok(granted(await second.renew()).untilMs >= two.untilMs, "the window is shorter after the step back");
}

async function leasesOutliveARestart(bench: Bench) {
  const scope = await bench.scope({ nodes: { from: 0, to: 1 } });
  const [held, { node, fromMs }] = await leased(scope, 60_000);
  const [expiring] = await leased(scope, 100);
  await bench.open.stop?.();
  await scope.pass(300);
  await bench.open.start?.();
  const again = granted(await held.renew());
  assert.deepEqual([again.node, again.fromMs], [node, fromMs]);
  // The store was down for longer than the window, and no one has taken the node id.
  granted(await expiring.renew());
}

export const clocks: readonly Scenario[] = [
  {
    name: "a client clock that is wrong by a year does not matter",
    alone: true,
    skewsClient: true,
    run: theClockOfTheClientDoesNotMatter,
  },
  {
    name: "windows never overlap, with clients a window and a half apart",
    alone: true,
    skewsClient: true,
    run: windowsNeverOverlapWithSkewedClients,
  },
  {
    name: "a jump of the store's clock costs time only",
    needs: ["jumpClock"],
    alone: true,
    run: aJumpOfTheStoresClockCostsTimeOnly,
  },
  {
    name: "leases outlive a store that is away for longer than a window",
    needs: ["stop"],
    alone: true,
    run: leasesOutliveARestart,
  },
];
