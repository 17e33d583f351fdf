// A failover to a server that lacks the last renewal, for stores whose servers replicate without waiting.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, renewalOf } from "./attempts.mjs";

/**
 * Leases a node id, stops the replica from following, renews on the primary, crashes that, and promotes the replica, which lacks the
 * renewal. Returns the window that the holder had, and the first one that the new primary grants of its node id.
 */
async function failover({ startPair, connect, grants }, options) {
  const { primary, replica, cutOff, promote } = await startPair();
  const first = connect(primary, options);
  await first.store.migrate();
  await first.store.init({ scope: "s", layout: "default", nodes: { from: 0, to: 0 }, windowMaxMs: 3000 });
  const holder = await first.store.acquire(attempt({ windowMs: 1000 }));
  const followed = () => grants(replica).catch(() => []);
  for (let tries = 0; (await followed())[0]?.grant_id !== holder.grant; tries++) {
    assert.ok(tries < 400, "the replica does not follow");
    await sleep(25);
  }
  await cutOff();
  const renewed = await first.store.renew(renewalOf(holder, { windowMs: 3000 }));
  assert.ok(renewed.granted);
  await first.close();
  await primary.crash();
  await promote();
  const second = connect(replica, options);
  const { store } = second;
  await sleep(Math.max(0, holder.untilMs - Date.now()) + 20);
  const reasons = [];
  let next;
  for (let tries = 0; next === undefined && tries < 400; tries++) {
    const answer = await store.acquire(attempt({ windowMs: 1000 }));
    if (answer.granted) next = answer;
    else {
      reasons.push(answer.reason);
      if (answer.reason === "incarnation") await store.ensure({ scope: "s", behind: false });
      await sleep(25);
    }
  }
  // The holder is still alive, and comes to the new primary.
  const returned = await store.renew(renewalOf(renewed, { windowMs: 1000 }));
  await second.close();
  await replica.crash();
  return { renewed, next, reasons: [...new Set(reasons)], returned };
}

/**
 * Tests that a replica which lacks a renewal is promoted. `startPair` starts a primary and a replica that follows it, with the calls
 * `cutOff` and `promote` of the replica; `connect(server, options)` makes a store on a server, with its `close`; `grants(server)`
 * reads the column `grant_id` of its leases.
 */
export function failoverTests(servers) {
  test("no window overlaps", async () => {
    const { renewed, next, reasons } = await failover(servers);
    assert.deepEqual(reasons, ["incarnation", "fenced"]);
    assert.ok(next.fromMs >= renewed.untilMs, `${next.fromMs} lies in a window until ${renewed.untilMs}`);
  });

  test("without an incarnation windows overlap", async () => {
    const options = { incarnation: "none-accepting-repeats-after-failover" };
    const { renewed, next, returned } = await failover(servers, options);
    assert.ok(next.fromMs < renewed.untilMs, "the windows are disjoint: the mutant shows nothing");
    assert.equal(returned.granted, false);
  });
}
