// Faults with MariaDB and MySQL, on real servers: isolation levels, processes that stop or end between two statements, rights, names, rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MySqlStore, mysqlDdl } from "frazil/stores/mysql";
import mariadb from "mariadb";
import mysql from "mysql2/promise";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { attempt, checkNodeWidths, checkSetUp, releaseOf, renewalOf } from "../kit/attempts.mjs";
import { isReplacement, newScope, pool, poolTo, rowOf, server, sessionWith, spied } from "./one-server.mjs";

/** 64 clients take 200 node ids, and renew them. Returns the node ids that were granted. */
async function contend(client) {
  const store = new MySqlStore(client);
  const scope = await newScope({ nodes: { from: 0, to: 199 } });
  const nodes = [];
  let left = 200;
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (left-- > 0) {
        const request = attempt({ scope });
        const lease = await store.acquire(request);
        assert.ok(lease.granted, JSON.stringify(lease));
        nodes.push(lease.node);
        assert.deepEqual({ ...(await store.acquire(request)), storeNowMs: 0 }, { ...lease, storeNowMs: 0 });
        await store.renew(renewalOf(lease, { scope }));
      }
    }),
  );
  return nodes;
}

const LEVELS = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];
for (const [level, ...more] of [...LEVELS.map((level) => [level]), ["REPEATABLE READ", "innodb_snapshot_isolation"]]) {
  test(`${[level, ...more].join(" with ")}: 64 clients take 200 node ids, each once`, async () => {
    const own = poolTo({ connectionLimit: 64 });
    own.on("connection", (connection) => {
      connection.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`);
      for (const setting of more) connection.query(`SET SESSION ${setting} = ON`);
    });
    const [[{ current }]] = await own.query("SELECT @@tx_isolation AS current");
    assert.equal(current, level.replace(" ", "-"));
    const nodes = await contend(own);
    assert.deepEqual([nodes.length, new Set(nodes).size], [200, 200]);
    await own.end();
  });
}

test("the same without the comparison: node ids are granted twice", async () => {
  const own = poolTo({ connectionLimit: 64 });
  let changed = 0;
  const broken = spied(own, (text, run) => {
    if (!isReplacement(text)) return run();
    changed++;
    const all = text
      .replace("AND l.until_ms = ?", "AND ? IS NOT NULL")
      .replace(/AND l\.(grant_id|nonce) <=> \?/g, "AND (? IS NULL OR TRUE)");
    assert.notEqual(all, text);
    return run(all);
  });
  const store = new MySqlStore(broken);
  const scope = await newScope({ nodes: { from: 0, to: 199 } });
  const leases = await Promise.all(Array.from({ length: 64 }, () => store.acquire(attempt({ scope }))));
  assert.ok(changed >= 64);
  const granted = leases.filter((lease) => lease.granted);
  assert.ok(new Set(granted.map(({ node }) => node)).size < granted.length, "no node id was granted twice");
  await own.end();
});

/** Holds the first statement that replaces a row, as a process that is stopped does, and lets `meanwhile` happen. */
function pausedStore(meanwhile, options) {
  const affected = [];
  let isFirst = true;
  const client = spied(pool, async (text, run) => {
    if (!isReplacement(text)) return run();
    if (isFirst) {
      isFirst = false;
      await meanwhile();
    }
    const answer = await run();
    affected.push(answer[0].affectedRows);
    return answer;
  });
  return { store: new MySqlStore(client, options), affected };
}

// docs/internals/claims.md: 22
test("a process that is stopped between the read and the write: the write sees what changed", async () => {
  const store = new MySqlStore(pool);
  // Another process took the row, and gave it back.
  const scope = await newScope({ nodes: { from: 0, to: 1 } });
  let taken;
  const first = pausedStore(async () => {
    taken = await store.acquire(attempt({ scope, node: 0 }));
    assert.equal(taken.node, 0);
    assert.equal(await store.release(releaseOf(taken, { scope })), true);
  });
  const lease = await first.store.acquire(attempt({ scope, node: 0 }));
  assert.ok(lease.granted);
  assert.deepEqual(first.affected, [0, 1]);

  // The fence was raised.
  const second = pausedStore(() => store.fence({ scope }));
  assert.equal((await second.store.acquire(attempt({ scope }))).reason, "fenced");
  assert.deepEqual(second.affected, [0]);

  // A clone of the process has renewed.
  const held = await newScope();
  const mine = await store.acquire(attempt({ scope: held }));
  const third = pausedStore(async () => {
    assert.ok((await store.renew(renewalOf(mine, { scope: held, windowMs: 59_000 }))).granted);
  });
  const renewal = renewalOf(mine, { scope: held });
  assert.equal((await third.store.renew(renewal)).granted, (await rowOf(held, mine.node)).nonce === renewal.nonce);
  assert.equal(third.affected[0], 0);

  // A failover: the server is another one, and nobody has told the record yet.
  await pool.query("CREATE TABLE servers (name varchar(20)); ".split(";")[0]);
  await pool.query("INSERT INTO servers VALUES ('one')");
  const options = { incarnation: { sql: "(SELECT name FROM servers)" } };
  const other = await newScope({}, new MySqlStore(pool, options));
  const fourth = pausedStore(() => pool.query("UPDATE servers SET name = 'two'"), options);
  assert.equal((await fourth.store.acquire(attempt({ scope: other }))).reason, "incarnation");
  assert.deepEqual(fourth.affected, [0]);
});

test("a process that ends while it makes rows: the rows are made once, and no node id is lost or granted early", async () => {
  const scope = await newScope({ nodes: { from: 5, to: 7 } });
  const failing = spied(pool, (text, run) => {
    if (/SET s\.next_node/.test(text)) return Promise.reject(new Error("the process ends here"));
    return run();
  });
  await assert.rejects(new MySqlStore(failing).acquire(attempt({ scope })), { code: "STORE_UNAVAILABLE" });
  const [rows] = await pool.query("SELECT node FROM frazil_leases WHERE scope = ? ORDER BY node", [scope]);
  assert.deepEqual(
    rows.map(({ node }) => node),
    [5, 6, 7],
  );
  const store = new MySqlStore(pool);
  const leases = [];
  for (let count = 0; count < 4; count++) leases.push(await store.acquire(attempt({ scope })));
  assert.deepEqual(
    leases.map(({ node }) => node),
    [5, 6, 7, undefined],
  );
  // A mark without its rows, as after a failover between the two statements, is not raised.
  const lost = await newScope();
  let isLost = true;
  const losing = spied(pool, (text, run) => {
    if (!isLost || !text.startsWith("INSERT")) return run();
    isLost = false;
    return Promise.resolve([{ affectedRows: 64 }]);
  });
  assert.equal((await new MySqlStore(losing).acquire(attempt({ scope: lost }))).node, 0);
  assert.equal(isLost, false);
});

// Others see a commit of InnoDB before it is on disk.
test("a lease that is answered once more is written once more", async () => {
  const store = new MySqlStore(pool);
  const scope = await newScope();
  const request = attempt({ scope });
  const lease = await store.acquire(request);
  const { writes } = await rowOf(scope, lease.node);
  assert.equal((await store.acquire(request)).untilMs, lease.untilMs);
  assert.equal((await rowOf(scope, lease.node)).writes, writes + 1);
});

/** Locks the rows of a scope until the call that it returns. */
async function lockRows(scope) {
  const blocker = await sessionWith("START TRANSACTION");
  await blocker.query("SELECT * FROM frazil_leases WHERE scope = ? FOR UPDATE", [scope]);
  return () => blocker.query("COMMIT");
}

test("a lock that another holds for longer than the server waits, and a deadlock, are repeated", async () => {
  const scope = await newScope();
  const seen = [];
  const client = await sessionWith("SET SESSION innodb_lock_wait_timeout = 1");
  const counting = spied(client, async (_, run) => {
    try {
      return await run();
    } catch (error) {
      seen.push(error.errno);
      throw error;
    }
  });
  const store = new MySqlStore(counting);
  const lease = await store.acquire(attempt({ scope }));
  const unlock = await lockRows(scope);
  const renewal = store.renew(renewalOf(lease, { scope }));
  await sleep(1500);
  await unlock();
  assert.ok((await renewal).granted);
  assert.deepEqual(seen, [1205]);

  // Each waits for what the other has locked. The server ends the one that has written less: the renewal.
  const other = await sessionWith("START TRANSACTION");
  await other.query(
    "INSERT INTO frazil_leases (scope, node, from_ms, until_ms) SELECT 'x', seq, 0, 0 FROM seq_1_to_50",
  );
  await other.query("SELECT * FROM frazil_scopes WHERE scope = ? FOR UPDATE", [scope]);
  const waiting = store.renew(renewalOf({ ...lease, untilMs: (await rowOf(scope, lease.node)).until_ms }, { scope }));
  await sleep(200);
  await other.query("SELECT * FROM frazil_leases WHERE scope = ? AND node = ? FOR UPDATE", [scope, lease.node]);
  await other.query("ROLLBACK");
  assert.ok((await waiting).granted);
  assert.deepEqual(seen, [1205, 1213]);
});

test("a user without rights is refused, and the error names them; with them each operation works", async () => {
  await server.query("CREATE USER nobody; GRANT USAGE ON *.* TO nobody; CREATE USER app");
  await server.query(
    "GRANT SELECT, UPDATE ON test.frazil_scopes TO app; GRANT SELECT, INSERT, UPDATE ON test.frazil_leases TO app; GRANT SELECT, UPDATE ON test.frazil_segments TO app",
  );
  const none = poolTo({ user: "nobody", database: undefined });
  const refused = told({
    code: "STORE_REFUSED",
    message: /GRANT SELECT, UPDATE ON `test`\.frazil_scopes TO your_role; GRANT SELECT, INSERT, UPDATE ON/,
  });
  const blind = new MySqlStore(none, { database: "test" });
  await assert.rejects(blind.acquire(attempt()), refused);
  await assert.rejects(blind.migrate(), refused);
  await assert.rejects(
    new MySqlStore(none).acquire(attempt()),
    told({
      code: "STORE_REFUSED",
      message: /the option database/,
    }),
  );
  const own = poolTo({ user: "app" });
  const store = new MySqlStore(own);
  const scope = await newScope();
  const lease = await store.acquire(attempt({ scope }));
  assert.ok((await store.renew(renewalOf(lease, { scope }))).granted);
  await store.ensure({ scope, behind: true });
  assert.equal(await store.release({ ...releaseOf(lease, { scope }), heldUntilMs: 8e15 }), true);
  // The tables exist, so nothing is created.
  await store.migrate();
  await assert.rejects(
    store.init({ scope: "more", layout: "default" }),
    told({
      code: "STORE_REFUSED",
      message: /init\(\) needs INSERT/,
    }),
  );
  for (const [more, message] of [
    [{ password: "wrong" }, /1045/],
    [{ database: "nowhere" }, /nowhere/],
  ]) {
    const address = server.address({ database: "test", user: "app", ...more });
    for (const bad of [mysql.createPool(address), mariadb.createPool({ ...address, acquireTimeout: 300 })]) {
      await assert.rejects(new MySqlStore(bad).acquire(attempt()), told({ code: "STORE_REFUSED", message }));
      await bad.end();
    }
  }
  await none.end();
  await own.end();
});

test("without tables or a record, the error says what to call", async () => {
  await server.query("CREATE DATABASE empty");
  await checkSetUp(new MySqlStore(pool, { database: "empty" }), () => pool.query("DELETE FROM empty.frazil_scopes"));
});

test("processes that migrate and initialise at once: one makes each thing, and none fails otherwise", async () => {
  for (let round = 0; round < 5; round++) {
    await server.query(`CREATE DATABASE round${round}`);
    const store = new MySqlStore(pool, { database: `round${round}` });
    await Promise.all(Array.from({ length: 8 }, () => store.migrate()));
    const made = await Promise.all(Array.from({ length: 8 }, () => store.init({ layout: "default" })));
    assert.deepEqual(made.sort(), [...Array(7).fill(false), true]);
  }
});

test("a record whose first writes end in deadlocks is written, and not reported as lost", async () => {
  let deadlocks = 0;
  const client = spied(pool, (text, run) => {
    if (!text.startsWith("INSERT INTO frazil_scopes") || deadlocks === 3) return run();
    deadlocks++;
    return Promise.reject(Object.assign(new Error("Deadlock found"), { errno: 1213 }));
  });
  await newScope({}, new MySqlStore(client));
  assert.equal(deadlocks, 3);
});

test("names and texts are compared exactly", async () => {
  const store = new MySqlStore(pool);
  const scope = await newScope();
  const lease = await store.acquire(attempt({ scope }));
  assert.ok(lease.granted);
  assert.equal((await store.acquire(attempt({ scope: scope.toUpperCase() }))).reason, "missing");
  await pool.query("CREATE TABLE names (name text)");
  await pool.query("INSERT INTO names VALUES ('Prime')");
  const named = new MySqlStore(pool, { incarnation: { sql: "(SELECT name FROM names)" } });
  const own = await newScope({}, named);
  for (const name of ["prime", "Prime ", "Primé", "Prime"]) {
    await pool.query("UPDATE names SET name = ?", [name]);
    const { granted, reason } = await named.acquire(attempt({ scope: own }));
    assert.deepEqual([granted, reason], name === "Prime" ? [true, undefined] : [false, "incarnation"], name);
  }
  for (const value of [null, ""]) {
    await pool.query("UPDATE names SET name = ?", [value]);
    const refused = told({ code: "STORE_REFUSED", message: /the option incarnation is null or empty/ });
    await assert.rejects(named.acquire(attempt({ scope: own })), refused);
    await assert.rejects(named.ensure({ scope: own, behind: false }), refused);
    await assert.rejects(newScope({}, named), refused);
  }
  for (const [sql, message] of [
    ["SELECT no_such_function()", /no_such_function/i],
    ["SELECT FROM WHERE", /1064/],
    ["SELECT a FROM no_such_table", /no_such_table/],
    ["@@no_such_variable", /the option incarnation is wrong/],
  ])
    await assert.rejects(
      new MySqlStore(pool, { incarnation: { sql } }).acquire(attempt()),
      told({
        code: "STORE_REFUSED",
        message,
      }),
    );
});

test("a database that does not exist, or that the user may not use, is told as that", async () => {
  await server.query("CREATE USER stranger");
  for (const [database, user, message] of [
    ["missing", "root", /1049.*There is no such database.*option database/],
    ["test", "stranger", /1044.*no right on this database, or there is none of this name/],
    ["missing", "stranger", /1044.*no right on this database, or there is none of this name/],
  ]) {
    const own = poolTo({ database, user });
    await assert.rejects(new MySqlStore(own).acquire(attempt()), (error) => {
      assert.equal(error.code, "STORE_REFUSED");
      assert.match(wholeText(error), message);
      assert.doesNotMatch(wholeText(error), /lacks a right/);
      return true;
    });
    await own.end();
  }
});

test("what mysqlDdl prints does what migrate and init do", async () => {
  await server.query("CREATE DATABASE ids; CREATE USER `my app`@`127.0.0.1`");
  const options = { scope: "orders", layout: "default", nodes: { from: 5, to: 6 }, windowMaxMs: 9000 };
  const script = mysqlDdl(options, { database: "ids" }, "my app@127.0.0.1");
  await server.query(script);
  const own = poolTo({ user: "my app", database: undefined });
  const store = new MySqlStore(own, { database: "ids" });
  const lease = await store.acquire(attempt({ scope: "orders", windowMs: 9000 }));
  assert.deepEqual([lease.granted, lease.node], [true, 5]);
  assert.ok((await store.renew(renewalOf(lease, { scope: "orders", windowMs: 9000 }))).granted);
  await store.ensure({ scope: "orders", behind: true });
  await assert.rejects(server.query(script), { errno: 1062 });
  await store.migrate();
  const table = async (name) => (await pool.query(`SHOW CREATE TABLE ${name}`))[0][0]["Create Table"];
  for (const name of ["frazil_scopes", "frazil_leases"]) assert.equal(await table(`ids.${name}`), await table(name));
  // Without a role nothing in it can fail.
  assert.match(mysqlDdl({ layout: "default" }, {}), /^-- GRANT SELECT, UPDATE ON frazil_scopes TO your_role;$/m);
  await own.end();
});

test("no operation makes a temporary table on disk", async () => {
  const client = await sessionWith();
  const store = new MySqlStore(client);
  const scope = await newScope();
  const tables = async () => (await client.query("SHOW SESSION STATUS LIKE 'Created_tmp_disk_tables'"))[0][0].Value;
  const before = await tables();
  const lease = await store.acquire(attempt({ scope }));
  assert.ok((await store.renew(renewalOf(lease, { scope }))).granted);
  assert.equal((await store.acquire(attempt({ scope, node: 30 }))).node, 30);
  await store.ensure({ scope, behind: true });
  assert.equal(await tables(), before);
});

test("a layout without a node field has the node id 0, and one with 22 bits makes its rows on demand", async () => {
  const store = new MySqlStore(pool);
  const request = await checkNodeWidths(store);
  assert.equal((await store.acquire(request(1000))).node, 1000);
  assert.equal((await store.acquire(request(2000))).node, 2000);
  const [[{ n, last }]] = await pool.query(
    "SELECT COUNT(*) AS n, MAX(node) AS last FROM frazil_leases WHERE scope = ?",
    [request().scope],
  );
  assert.equal(n, last + 1, "each row up to the last is there");
});
