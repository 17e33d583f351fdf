// Faults with Postgres, on real servers: isolation levels, poolers, settings of a role, replicas, failovers.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LeaseError } from "frazil";
import { PostgresStore } from "frazil/stores/postgres";
import postgres from "postgres";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { attempt, checkNodeWidths, hex, layout, releaseOf, renewalOf } from "../kit/attempts.mjs";
import { failoverTests } from "../kit/failover.mjs";
import { freePort } from "../kit/server-process.mjs";
import { PostgresServer, poolTo, replicatedPair, startBouncer } from "./server.mjs";
import { closing, newScope, pool, server } from "./shared-server.mjs";

/** A pool of its own, of a role with settings. */
async function poolOf(role, ...settings) {
  await server.query(`CREATE ROLE ${role} LOGIN;
    GRANT SELECT, UPDATE ON frazil_scopes TO ${role}; GRANT SELECT, INSERT, UPDATE ON frazil_leases TO ${role}`);
  for (const setting of settings) await server.query(`ALTER ROLE ${role} SET ${setting}`);
  const own = poolTo(server.urlOf(role), { max: 16 });
  closing.push(() => own.end());
  return own;
}

for (const level of ["repeatable read", "serializable"]) {
  test(`default_transaction_isolation = ${level}: 16 clients take 64 node ids, and renew and release them`, async () => {
    const role = `role_${level.replace(" ", "_")}`;
    const own = await poolOf(role, `default_transaction_isolation = '${level}'`);
    // A statement that is not repeated shows that the level is in force: see the count below.
    let conflicts = 0;
    const client = {
      async query(text, values) {
        try {
          return await own.query(text, values);
        } catch (error) {
          if (error.code === "40001") conflicts++;
          throw error;
        }
      },
    };
    const store = new PostgresStore(client);
    const scope = await newScope({ nodes: { from: 0, to: 63 } });
    const nodes = [];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let count = 0; count < 4; count++) {
          const request = attempt({ scope });
          let answer;
          for (let tries = 0; !answer?.granted && tries < 10; tries++) {
            try {
              answer = await store.acquire(request);
            } catch (error) {
              if (error.code !== "STORE_UNAVAILABLE") throw error;
            }
          }
          assert.ok(answer.granted, JSON.stringify(answer));
          nodes.push(answer.node);
          assert.ok((await store.renew(renewalOf(answer, { scope }))).granted);
        }
      }),
    );
    assert.equal(new Set(nodes).size, 64);
    assert.ok(conflicts > 0, "no statement met another: the test shows nothing");
  });
}

test("a conflict that never ends is STORE_UNAVAILABLE, after 20 attempts", async () => {
  let attempts = 0;
  const query = () => {
    attempts++;
    return Promise.reject(Object.assign(new Error("could not serialize access"), { code: "40001" }));
  };
  await assert.rejects(new PostgresStore({ query }).acquire(attempt()), { code: "STORE_UNAVAILABLE", retryable: true });
  assert.equal(attempts, 20);
});

for (const [name, open] of [
  ["pg", (url) => poolTo(url, { max: 8 })],
  ["postgres", (url) => postgres(url, { max: 8 })],
  ["postgres without prepared statements", (url) => postgres(url, { max: 8, prepare: false })],
]) {
  test(`${name} through pgbouncer in transaction mode`, async () => {
    const bouncer = await startBouncer(server);
    const client = open(bouncer.url);
    const store = new PostgresStore(client);
    const scope = await newScope({}, store);
    const leases = await Promise.all(Array.from({ length: 20 }, () => store.acquire(attempt({ scope }))));
    assert.equal(new Set(leases.map(({ node }) => node)).size, 20);
    for (const lease of leases) {
      assert.ok((await store.renew(renewalOf(lease, { scope }))).granted);
      assert.equal(
        await store.release({ scope, grant: lease.grant, node: lease.node, untilMs: 0, heldUntilMs: 8e15 }),
        true,
      );
    }
    await store.ensure({ scope, behind: true });
    assert.equal((await store.acquire(attempt({ scope }))).reason, "fenced");
    await client.end();
    await bouncer.stop();
  });
}

test("a setting of the client that pgbouncer refuses is told with what to do", async () => {
  const bouncer = await startBouncer(server);
  const client = poolTo(bouncer.url, { max: 2, statement_timeout: 2000 });
  await assert.rejects(new PostgresStore(client).acquire(attempt({})), (error) => {
    assert.equal(error.code, "STORE_REFUSED");
    assert.match(
      wholeText(error),
      /08P01 .*\. pgbouncer refuses it\. Add statement_timeout to its ignore_startup_parameters/,
    );
    return true;
  });
  await client.end();
  await bouncer.stop();
});

test("synchronous_commit = off for the role: what was answered outlives a crash; a plain write does not", async () => {
  const other = await PostgresServer.start({ wal_writer_delay: "10s", wal_writer_flush_after: "0", autovacuum: "off" });
  const admin = poolTo(other.url);
  const setup = new PostgresStore(admin);
  await setup.migrate();
  await setup.init({ scope: "s", layout: "default" });
  await other.query(`CREATE TABLE plain (a int); CREATE ROLE lax LOGIN; ALTER ROLE lax SET synchronous_commit = off;
    GRANT ALL ON plain, frazil_scopes, frazil_leases TO lax`);
  const lax = poolTo(other.urlOf("lax"), { max: 1 });
  assert.equal((await lax.query("SHOW synchronous_commit")).rows[0].synchronous_commit, "off");
  const store = new PostgresStore(lax);
  const lease = await store.acquire(attempt());
  const renewed = await store.renew(renewalOf(lease, { windowMs: 50_000 }));
  const released = await store.acquire(attempt());
  assert.equal(
    await store.release({ scope: "s", grant: released.grant, node: released.node, untilMs: 0, heldUntilMs: 8e15 }),
    true,
  );
  await lax.query("INSERT INTO plain VALUES (1)");
  await other.crash();
  await other.start();
  const rows = await other.query(
    "SELECT node, until_ms, nonce, grant_id FROM frazil_leases WHERE nonce IS NOT NULL ORDER BY node",
  );
  assert.equal(rows.length, 2);
  assert.deepEqual([Number(rows[0].until_ms), rows[0].grant_id], [renewed.untilMs, lease.grant]);
  assert.equal(rows[1].grant_id, null, "the release is lost");
  assert.equal(
    (await other.query("SELECT * FROM plain")).length,
    0,
    "the plain write survived: the test shows nothing",
  );
  await lax.end();
  await admin.end();
  await other.stop();
});

test("a stricter synchronous_commit stays", async () => {
  const own = await poolOf("strict", "synchronous_commit = remote_apply");
  const spy = [];
  const store = new PostgresStore({
    query: (text, values) => {
      spy.push(text);
      return own.query(text, values);
    },
  });
  const scope = await newScope();
  await store.acquire(attempt({ scope }));
  // In a transaction, the setting after the statement can be seen.
  const client = await own.connect();
  await client.query("BEGIN");
  await client.query(spy[0], [scope, layout, "1000", hex(), hex(), "test", null]);
  assert.equal((await client.query("SHOW synchronous_commit")).rows[0].synchronous_commit, "remote_apply");
  await client.query("ROLLBACK");
  client.release();
});

// docs/internals/claims.md: 27
describe("an asynchronous standby that lacks a renewal is promoted", () =>
  failoverTests({
    startPair: replicatedPair,
    connect(own, options) {
      const clients = poolTo(own.url);
      return { store: new PostgresStore(clients, options), close: () => clients.end() };
    },
    grants: (own) => own.query("SELECT grant_id FROM frazil_leases"),
  }));

test("a read-only replica is refused, with what to do", async () => {
  const primary = await PostgresServer.start({ wal_level: "replica", max_wal_senders: 4 });
  const first = poolTo(primary.url);
  await new PostgresStore(first).migrate();
  const standby = await primary.standby();
  const second = poolTo(standby.url);
  for (const options of [undefined, { incarnation: "none-accepting-repeats-after-failover" }]) {
    const store = new PostgresStore(second, options);
    for (const call of [
      () => store.acquire(attempt()),
      () => store.renew(renewalOf({ grant: hex(), node: 1, untilMs: 1 })),
      () => store.release({ scope: "s", grant: hex(), node: 1, untilMs: 1, heldUntilMs: 8e15 }),
      () => store.ensure({ scope: "s", behind: false }),
      () => store.init({ layout: "default" }),
    ])
      await assert.rejects(
        call,
        told({
          code: "STORE_REFUSED",
          message: /a read-only replica, or transactions are read-only by default\. Connect to the primary/,
        }),
      );
  }
  await first.end();
  await second.end();
  await standby.stop();
  await primary.stop();
});

/** Locks the rows of a scope. Returns a call that unlocks them. */
async function lockRows(scope) {
  const blocker = await pool.connect();
  await blocker.query("BEGIN");
  await blocker.query("SELECT FROM frazil_leases WHERE scope = $1 FOR UPDATE", [scope]);
  return async () => {
    await blocker.query("COMMIT");
    blocker.release();
  };
}

test("a statement timeout in mid-renew is STORE_UNAVAILABLE, and the retry is accepted", async () => {
  const own = await poolOf("hasty", "statement_timeout = '300ms'");
  const store = new PostgresStore(own);
  const scope = await newScope();
  const lease = await store.acquire(attempt({ scope }));
  const unlock = await lockRows(scope);
  const request = renewalOf(lease, { scope });
  await assert.rejects(store.renew(request), (error) => {
    assert.equal(error.code, "STORE_UNAVAILABLE");
    assert.equal(error.retryable, true);
    assert.equal(error.cause.code, "57014");
    return true;
  });
  // And when the caller does not wait any more.
  const signal = AbortSignal.timeout(50);
  await assert.rejects(store.renew({ ...request, signal }), (error) => error === signal.reason);
  await unlock();
  const again = await store.renew(request);
  assert.ok(again.granted && again.untilMs > lease.untilMs);
});

test("a connection that is ended in mid-renew is STORE_UNAVAILABLE, and the retry is accepted", async () => {
  const own = await poolOf("ended");
  const store = new PostgresStore(own);
  const scope = await newScope();
  const lease = await store.acquire(attempt({ scope }));
  const unlock = await lockRows(scope);
  const request = renewalOf(lease, { scope });
  const renewal = assert.rejects(store.renew(request), { code: "STORE_UNAVAILABLE", retryable: true });
  await sleep(100);
  await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ended'");
  await renewal;
  await unlock();
  assert.ok((await store.renew(request)).granted);
});

test("a server that is not there is STORE_UNAVAILABLE with the cause, for each client", async () => {
  const url = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
  const sql = postgres(url, { max: 1, connect_timeout: 1, backoff: 0 });
  const none = poolTo(url);
  for (const client of [none, sql])
    await assert.rejects(new PostgresStore(client).acquire(attempt()), (error) => {
      assert.ok(error instanceof LeaseError);
      assert.deepEqual([error.code, error.retryable, error.cause.code], ["STORE_UNAVAILABLE", true, "ECONNREFUSED"]);
      return true;
    });
  await none.end();
  await sql.end({ timeout: 0 });
});

// An expression of the user may ask for a row that the failover lost.
// docs/internals/claims.md: 27
test("an incarnation that becomes null is another one: nothing is granted or renewed, and the error names the option", async () => {
  await server.query("CREATE TABLE failovers (name text); INSERT INTO failovers VALUES ('one')");
  const store = new PostgresStore(pool, { incarnation: { sql: "(SELECT name FROM failovers)" } });
  const scope = await newScope({}, store);
  const lease = await store.acquire(attempt({ scope }));
  await server.query("DELETE FROM failovers");
  for (const answer of [await store.acquire(attempt({ scope })), await store.renew(renewalOf(lease, { scope }))])
    assert.deepEqual([answer.granted, answer.reason], [false, "incarnation"]);
  const refused = told({ code: "STORE_REFUSED", message: /the option incarnation is null/ });
  await assert.rejects(store.ensure({ scope, behind: false }), refused);
  await assert.rejects(store.fence({ scope }), refused);
  await assert.rejects(newScope({}, store), refused);
  await server.query("INSERT INTO failovers VALUES ('two')");
  await store.ensure({ scope, behind: false });
  assert.equal((await store.acquire(attempt({ scope }))).reason, "fenced");
});

test("of two processes that initialise a scope at once one makes the record", async () => {
  const slow = new PostgresStore(pool, { incarnation: { sql: "(SELECT 'one' FROM pg_sleep(0.3))" } });
  const scope = `s${hex().slice(0, 12)}`;
  const made = await Promise.all([1, 2].map(() => slow.init({ scope, layout: "default" })));
  assert.deepEqual(made.sort(), [false, true]);
});

test("two processes that migrate at once both succeed", async () => {
  for (let round = 0; round < 5; round++) {
    await server.query(`CREATE SCHEMA round${round}`);
    const store = new PostgresStore(pool, { schema: `round${round}` });
    await Promise.all(Array.from({ length: 8 }, () => store.migrate()));
  }
});

test("fence() holds acquisitions back", async () => {
  const store = new PostgresStore(pool);
  const scope = await newScope();
  const fenceMs = await store.fence({ scope });
  const refused = await store.acquire(attempt({ scope }));
  assert.deepEqual([refused.reason, refused.freeAtMs], ["fenced", fenceMs]);
  assert.ok((await store.fence({ scope })) >= fenceMs);
});

test("renewals update no index", async () => {
  const store = new PostgresStore(pool);
  const scope = await newScope();
  let lease = await store.acquire(attempt({ scope }));
  const stat =
    "SELECT n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_user_tables WHERE relname = 'frazil_leases' AND schemaname = 'public'";
  await sleep(1200);
  const [before] = await server.query(stat);
  for (let count = 0; count < 50; count++) lease = await store.renew(renewalOf(lease, { scope }));
  await pool.query("SELECT pg_stat_force_next_flush()");
  await sleep(1500);
  const [now] = await server.query(stat);
  const [all, hot] = [now.all - before.all, now.hot - before.hot];
  assert.ok(all >= 50, `${all} updates were counted`);
  assert.ok(hot >= 0.9 * all, `${hot} of ${all} updates were HOT`);
});

test("a layout without a node field has the node id 0, and one with 22 bits makes its rows on demand", async () => {
  const store = new PostgresStore(pool);
  const { scope: wide } = (await checkNodeWidths(store))(0);
  const rows = await server.query("SELECT count(*)::int AS n FROM frazil_leases WHERE scope = $1", [wide]);
  assert.ok(rows[0].n <= 16, `${rows[0].n} rows`);
});

test("a table of leases that is partitioned grants, renews and releases, in new rows and in old ones", async () => {
  const store = new PostgresStore(pool, { schema: "parts" });
  await server.query("CREATE SCHEMA parts");
  await store.migrate();
  await server.query(`ALTER TABLE parts.frazil_leases RENAME TO plain;
    CREATE TABLE parts.frazil_leases (LIKE parts.plain INCLUDING ALL) PARTITION BY LIST (scope);
    CREATE TABLE parts.rest PARTITION OF parts.frazil_leases DEFAULT`);
  const scope = await newScope({}, store);
  for (const node of [0, 1]) {
    const lease = await store.acquire(attempt({ scope }));
    assert.equal(lease.node, node);
    const renewed = await store.renew(renewalOf(lease, { scope }));
    assert.equal(renewed.granted, true);
    if (node === 1) assert.equal(await store.release(releaseOf(renewed, { scope })), true);
  }
  assert.equal((await store.acquire(attempt({ scope, node: 1 }))).node, 1);
});
