// Faults with replicas, promotions, crashes and proxies of MariaDB and MySQL, on real servers.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MySqlStore } from "frazil/stores/mysql";
import { attempt, renewalOf } from "../kit/attempts.mjs";
import { failoverTests } from "../kit/failover.mjs";
import { newScope, pool, poolTo, spied } from "./one-server.mjs";
import { MySqlServer, replicatedPair } from "./server.mjs";

// docs/internals/claims.md: 27
describe("a replica that lacks a renewal is promoted", () =>
  failoverTests({
    startPair: replicatedPair,
    connect(own, options) {
      const clients = poolTo({}, own);
      return { store: new MySqlStore(clients, options), close: () => clients.end() };
    },
    grants: (own) => own.query("SELECT grant_id FROM test.frazil_leases"),
  }));

/**
 * A process reads at a replica that the incarnation differs, and is stopped for six seconds while the primary grants. It raises the fence
 * after the replica was promoted without that grant. `change`: what becomes of the statement that raises it. Returns the window that was
 * lost, and the first one that the new primary grants of the node id.
 */
async function lateFence(change = (text) => text) {
  const logging = { "log-bin": "log", "sync-binlog": 1 };
  const primary = await MySqlServer.start({ ...logging, "server-id": 1 });
  const replica = await MySqlServer.start({ ...logging, "server-id": 2 });
  await replica.query("DROP DATABASE test");
  await replica.follow(primary);
  const [first, second] = [poolTo({}, primary), poolTo({}, replica)];
  const store = new MySqlStore(first);
  await store.migrate();
  await store.init({ scope: "s", layout: "default", nodes: { from: 0, to: 0 }, windowMaxMs: 3000 });
  const used = await store.acquire(attempt({ windowMs: 1 }));
  const followed = () => replica.query("SELECT grant_id FROM test.frazil_leases").catch(() => []);
  for (let tries = 0; (await followed())[0]?.grant_id !== used.grant; tries++) {
    assert.ok(tries < 400, "the replica does not follow");
    await sleep(25);
  }
  await replica.query("STOP SLAVE");
  let lost;
  const stopping = spied(second, async (text, run) => {
    if (!text.includes("SET s.fence_ms")) return run();
    if (lost === undefined) {
      await sleep(6000);
      lost = await store.acquire(attempt({ windowMs: 3000 }));
      await first.end();
      await primary.crash();
      await replica.query("RESET SLAVE ALL");
    }
    return run(change(text));
  });
  await new MySqlStore(stopping).ensure({ scope: "s", behind: false });
  assert.ok(lost.granted);
  const after = new MySqlStore(second);
  let next;
  for (let tries = 0; !next?.granted && tries < 200; tries++) {
    next = await after.acquire(attempt({ windowMs: 1000 }));
    await sleep(100);
  }
  await second.end();
  await replica.crash();
  return { lost, next };
}

// docs/internals/claims.md: 27
test("a fence that was decided at a replica before its promotion is decided once more: no window overlaps", async () => {
  const { lost, next } = await lateFence();
  assert.ok(next.fromMs >= lost.untilMs, `${next.fromMs} lies in a window until ${lost.untilMs}`);
});

test("the same without the time of the write: windows overlap", async () => {
  const { lost, next } = await lateFence((text) => {
    const broken = text.replace(/<= \? \+ \d+$/, "IS NOT NULL OR ?");
    assert.notEqual(broken, text);
    return broken;
  });
  assert.ok(next.granted && next.fromMs < lost.untilMs, "the windows are disjoint: the mutant shows nothing");
});

for (const [name, settings] of [
  ["with a binary log", { "log-bin": "log", "sync-binlog": 1, "server-id": 7 }],
  ["without a binary log", {}],
]) {
  test(`${name}: a crash and a restart of the server change no incarnation, and keep what was answered`, async () => {
    const own = await MySqlServer.start(settings);
    let clients = poolTo({}, own);
    let store = new MySqlStore(clients);
    await store.migrate();
    await store.init({ scope: "s", layout: "default" });
    const lease = await store.renew(renewalOf(await store.acquire(attempt())));
    for (const end of ["crash", "stop"]) {
      await own[end]();
      await clients.end().catch(() => {});
      await own.start();
      clients = poolTo({}, own);
      store = new MySqlStore(clients);
      const [[row]] = await clients.query("SELECT grant_id, until_ms FROM frazil_leases WHERE node = ?", [lease.node]);
      assert.deepEqual(row, { grant_id: lease.grant, until_ms: lease.untilMs });
      await store.ensure({ scope: "s", behind: false });
      assert.ok((await store.acquire(attempt())).granted, "a fence was raised");
    }
    await clients.end();
    await own.stop();
  });
}

// docs/internals/claims.md: 27
test("a proxy that sends reads to another server, with the same rows: nothing is granted and no fence raised", async () => {
  const incarnations = ["one", "two"];
  const split = spied(pool, (text, run) =>
    run(text.replaceAll("'incarnation'", `'${text.startsWith("SELECT") ? incarnations[1] : incarnations[0]}'`)),
  );
  const scope = await newScope({}, new MySqlStore(pool, { incarnation: { sql: "'one'" } }));
  const store = new MySqlStore(split, { incarnation: { sql: "'incarnation'" } });
  assert.equal((await store.acquire(attempt({ scope }))).reason, "incarnation");
  await assert.rejects(store.ensure({ scope, behind: false }), { code: "STORE_UNAVAILABLE" });
  const [[{ fence_ms }]] = await pool.query("SELECT fence_ms FROM frazil_scopes WHERE scope = ?", [scope]);
  assert.equal(fence_ms, 0);
});

test("a proxy whose replica shows an earlier row of the lease for ever: a repeated acquire ends", async () => {
  const store = new MySqlStore(pool);
  const scope = await newScope();
  const request = attempt({ scope });
  const lease = await store.acquire(request);
  let shown;
  let writes = 0;
  const lagging = spied(pool, async (text, run) => {
    if (!text.startsWith("SELECT")) writes++;
    else if (shown) return shown;
    const answer = await run();
    shown ??= answer;
    return answer;
  });
  assert.ok((await new MySqlStore(lagging).acquire(request)).granted);
  assert.ok((await store.renew(renewalOf(lease, { scope }))).granted);
  writes = 0;
  const signal = AbortSignal.timeout(20_000);
  await assert.rejects(new MySqlStore(lagging).acquire({ ...request, signal }), { code: "STORE_UNAVAILABLE" });
  assert.equal(writes, 20);
});
