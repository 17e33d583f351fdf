// What goes wrong with MariaDB and MySQL, on real servers: isolation levels, clocks, settings of servers, sessions and drivers,
// transactions of the program, rights, replicas, failovers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Layout, LeaseError } from "frazil";
import { MySqlStore, mysqlDdl } from "frazil/stores/mysql";
import mariadb from "mariadb";
import callbacks from "mysql2";
import mysql from "mysql2/promise";
import { attempt, hex, renewalOf } from "../attempts.mjs";
import { freePort, movableClock } from "../server-process.mjs";
import { MySqlServer } from "./server.mjs";

let server;
let pool;
const closing = [];
before(async () => {
  server = await MySqlServer.start();
  pool = poolTo();
  await new MySqlStore(pool).migrate();
});
after(async () => {
  for (const close of closing) await close();
  await pool?.end();
  await server?.stop();
});

const poolTo = (more = {}, of = server) => mysql.createPool(of.address({ database: "test", ...more }));

/** A connection of its own, with settings of its session. */
async function sessionWith(...settings) {
  const client = await mysql.createConnection(server.address({ database: "test" }));
  client.on("error", () => {});
  closing.push(() => client.end().catch(() => {}));
  for (const setting of settings) await client.query(setting);
  return client;
}

/** A new scope. */
async function newScope(options = {}, store = new MySqlStore(pool)) {
  const scope = `s${hex().slice(0, 12)}`;
  await store.init({ scope, layout: "default", ...options });
  return scope;
}

/** A client whose statements a test sees, changes or holds. `hook` gets the text and a call that runs another. */
const spied = (client, hook) => ({
  query: (statement, values) =>
    hook(statement.sql, (sql = statement.sql) => client.query({ ...statement, sql }, values)),
});
const isReplacement = (text) => text.startsWith("UPDATE") && text.includes("l.from_ms = ");

const releaseOf = ({ grant, node, untilMs }, scope) => ({ scope, grant, node, untilMs: 0, heldUntilMs: untilMs });
const rowOf = async (scope, node) =>
  (await pool.query("SELECT * FROM frazil_leases WHERE scope = ? AND node = ?", [scope, node]))[0][0];

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

// docs/safety.md: 22
test("a process that is stopped between the read and the write: the write sees what changed", async () => {
  const store = new MySqlStore(pool);
  // Another process took the row, and gave it back.
  const scope = await newScope({ nodes: { from: 0, to: 1 } });
  let taken;
  const first = pausedStore(async () => {
    taken = await store.acquire(attempt({ scope, node: 0 }));
    assert.equal(taken.node, 0);
    assert.equal(await store.release(releaseOf(taken, scope)), true);
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

test("in the hour that comes twice, in the local time of the server, the clock is right", async () => {
  const { env, jump } = movableClock();
  const berlin = await MySqlServer.start({}, { ...env, TZ: "Europe/Berlin" });
  const own = poolTo({}, berlin);
  const store = new MySqlStore(own);
  await store.migrate();
  let offsetMs = 0;
  const wrong = [];
  // The first and the second time that it is half past two, in 2026.
  for (const [at, scope] of [
    ["2026-10-25T00:30:00Z", "first"],
    ["2026-10-25T01:30:00Z", "second"],
  ]) {
    const aimMs = Date.parse(at) - Date.now();
    await jump(aimMs - offsetMs);
    offsetMs = aimMs;
    await store.init({ scope, layout: "default" });
    const lease = await store.acquire(attempt({ scope }));
    const offMs = lease.storeNowMs - (Date.now() + offsetMs);
    assert.ok(Math.abs(offMs) < 60_000, `off by ${offMs} ms`);
    const [[{ local }]] = await own.query("SELECT FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000) AS local");
    wrong.push(Math.round((Number(local) - (Date.now() + offsetMs)) / 3_600_000));
  }
  assert.ok(wrong.includes(-1) || wrong.includes(1), "local time was not wrong: the test shows nothing");
  await own.end();
  await berlin.stop();
});

test("the time zone of the session does not matter", async () => {
  const scope = await newScope();
  for (const zone of ["+13:00", "-12:00", "SYSTEM"]) {
    const client = await sessionWith(`SET time_zone = '${zone}'`);
    const { storeNowMs } = await new MySqlStore(client).acquire(attempt({ scope }));
    assert.ok(Math.abs(storeNowMs - Date.now()) < 60_000, `${zone}: ${storeNowMs - Date.now()}`);
  }
});

test("a session whose clock SET timestamp has moved is refused", async () => {
  const scope = await newScope();
  for (const moved of ["1000", "UNIX_TIMESTAMP() - 10", "UNIX_TIMESTAMP() + 86400"]) {
    const client = await sessionWith(`SET timestamp = ${moved}`);
    const store = new MySqlStore(client);
    const refused = { code: "STORE_REFUSED", message: /moved by SET timestamp/ };
    await assert.rejects(store.acquire(attempt({ scope })), refused);
    await assert.rejects(store.fence({ scope }), refused);
    await client.query("SET timestamp = DEFAULT");
    assert.ok((await store.acquire(attempt({ scope }))).granted);
  }
});

test("a statement that has to wait for a table is no moved clock", async () => {
  const store = new MySqlStore(pool);
  const scope = await newScope();
  const locker = await sessionWith("LOCK TABLES frazil_leases WRITE");
  const acquired = store.acquire(attempt({ scope }));
  await sleep(1500);
  await locker.query("UNLOCK TABLES");
  const lease = await acquired;
  assert.ok(lease.granted && lease.fromMs <= lease.storeNowMs, JSON.stringify(lease));
});

for (const flags of ["FOUND_ROWS", "-FOUND_ROWS"]) {
  test(`a renewal that changes nothing is answered once more, with the flag ${flags}`, async () => {
    const own = poolTo({ flags: [flags] });
    const [{ affectedRows }] = await own.query("UPDATE frazil_scopes SET writes = writes");
    assert.equal(affectedRows > 0, flags === "FOUND_ROWS");
    const store = new MySqlStore(own);
    const scope = await newScope();
    const lease = await store.acquire(attempt({ scope }));
    // The window does not move: its end is far away.
    const request = renewalOf(lease, { scope, windowMs: 1 });
    for (let count = 0; count < 3; count++) assert.equal((await store.renew(request)).untilMs, lease.untilMs);
    if (flags === "-FOUND_ROWS") {
      const broken = spied(own, (text, run) => run(text.replace(/,\s+l\.writes = l\.writes \+ 1/, "")));
      await assert.rejects(new MySqlStore(broken).renew(request), { code: "STORE_UNAVAILABLE" });
    }
    await own.end();
  });
}

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

const OWNER = "O'Reilly \\' \" ? :node 😀 é";
const mysql2With = (name, more, ...settings) => [
  `mysql2, ${name}`,
  () => {
    const own = poolTo({ connectionLimit: 1, ...more });
    own.on("connection", (connection) => {
      for (const setting of settings) connection.query(setting);
    });
    return own;
  },
];
const mariadbWith = (name, more) => [
  `mariadb, ${name}`,
  () => mariadb.createPool(server.address({ database: "test", connectionLimit: 1, ...more })),
];
for (const [name, open] of [
  mysql2With("supportBigNumbers", { supportBigNumbers: true }),
  mysql2With("bigNumberStrings", { supportBigNumbers: true, bigNumberStrings: true }),
  mysql2With("rowsAsArray", { rowsAsArray: true }),
  mysql2With("namedPlaceholders", { namedPlaceholders: true }),
  mysql2With("nestTables", { nestTables: true }),
  mysql2With("typeCast: false for numbers", {
    typeCast: (field, next) => (field.type === "LONGLONG" ? field.string() : next()),
  }),
  mysql2With("bigint by typeCast", {
    typeCast: (field, next) => {
      if (field.type !== "LONGLONG") return next();
      const text = field.string();
      return text === null ? null : BigInt(text);
    },
  }),
  mysql2With("latin1", { charset: "latin1_swedish_ci" }),
  mysql2With("NO_BACKSLASH_ESCAPES", {}, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'"),
  mysql2With("sql_mode ANSI, not strict", {}, "SET sql_mode = 'ANSI'"),
  mysql2With("sql_mode TRADITIONAL", {}, "SET sql_mode = 'TRADITIONAL'"),
  mysql2With("sql_select_limit = 1", {}, "SET sql_select_limit = 1"),
  mysql2With("sql_safe_updates", {}, "SET sql_safe_updates = 1"),
  mysql2With("multipleStatements", { multipleStatements: true }),
  mariadbWith("its defaults", {}),
  mariadbWith("bigIntAsNumber, insertIdAsNumber", { bigIntAsNumber: true, insertIdAsNumber: true }),
  mariadbWith("bigNumberStrings", { supportBigNumbers: true, bigNumberStrings: true }),
  mariadbWith("rowsAsArray", { rowsAsArray: true }),
  mariadbWith("nestTables", { nestTables: true }),
  mariadbWith("metaAsArray", { metaAsArray: true }),
  mariadbWith("namedPlaceholders", { namedPlaceholders: true }),
  mariadbWith("foundRows: false", { foundRows: false }),
  ["mariadb, a connection", () => mariadb.createConnection(server.address({ database: "test" }))],
  ["mysql2, a connection", () => mysql.createConnection(server.address({ database: "test" }))],
]) {
  test(`${name}: a lease is acquired, renewed and released, and a fence raised`, async () => {
    const own = await open();
    const store = new MySqlStore(own);
    const scope = await newScope({ nodes: { from: 3, to: 80 } }, store);
    const leases = [];
    for (let count = 0; count < 3; count++) leases.push(await store.acquire(attempt({ scope, owner: OWNER })));
    assert.deepEqual(
      leases.map(({ node }) => node),
      [3, 4, 5],
    );
    assert.ok((await store.acquire(attempt({ scope, node: 70 }))).node === 70);
    const renewed = await store.renew(renewalOf(leases[0], { scope }));
    assert.ok(renewed.untilMs >= leases[0].untilMs);
    const { owner, until_ms } = await rowOf(scope, 3);
    assert.deepEqual([owner, until_ms], [OWNER, renewed.untilMs]);
    assert.equal(await store.release(releaseOf(leases[1], scope)), true);
    assert.equal((await rowOf(scope, 4)).owner, null);
    await store.ensure({ scope, behind: true });
    assert.equal((await store.acquire(attempt({ scope }))).reason, "fenced");
    assert.ok((await store.fence({ scope })) > renewed.untilMs);
    await own.end();
  });
}

test("what is no client, or has callbacks only, is refused with what to do", async () => {
  for (const client of [undefined, null, 7, "mysql://me:secret@host/db", {}, { uri: "mysql://me:secret@host" }])
    assert.throws(
      () => new MySqlStore(client),
      (error) => {
        assert.deepEqual([error.code, error.field], ["INVALID_ARGUMENT", "client"]);
        assert.match(error.message, /a pool or a connection of mysql2/);
        assert.doesNotMatch(JSON.stringify(error), /secret/);
        return true;
      },
    );
  // As the package `mysql` and mariadb/callback answer.
  for (const result of [undefined, { on() {} }])
    await assert.rejects(new MySqlStore({ query: () => result }).acquire(attempt()), {
      code: "STORE_REFUSED",
      message: /mysql2\/promise or pool\.promise\(\)/,
    });
  const connection = callbacks.createConnection(server.address({ database: "test" }));
  const scope = await newScope();
  assert.ok((await new MySqlStore(connection).acquire(attempt({ scope }))).granted);
  await connection.promise().end();
  for (const result of [undefined, 7, [[[1]], []], [[null], []], {}])
    await assert.rejects(new MySqlStore({ query: async () => result }).acquire(attempt()), { code: "STORE_REFUSED" });
});

test("wrong options and requests are refused before the server is asked", async () => {
  const asked = [];
  const client = { query: (text) => asked.push(text) };
  for (const options of [
    { database: "" },
    { database: "a`b" },
    { database: 7 },
    { incarnation: "galera" },
    { incarnation: null },
    { incarnation: { sql: " " } },
    { incarnation: { sql: "'?'" } },
    { schema: "x" },
  ])
    assert.throws(() => new MySqlStore(client, options), { code: "INVALID_OPTION" }, JSON.stringify(options));
  const store = new MySqlStore(client);
  for (const wrong of [{ scope: "a'b" }, { grant: "x" }, { nonce: undefined }, { owner: "\0" }, { node: -1 }])
    await assert.rejects(store.acquire(attempt(wrong)), { code: "INVALID_ARGUMENT" });
  assert.deepEqual(asked, []);
});

test("a session without autocommit, or inside a transaction, is refused", async () => {
  const scope = await newScope();
  const manual = new MySqlStore(await sessionWith("SET autocommit = 0"));
  await assert.rejects(manual.acquire(attempt({ scope })), {
    code: "STORE_REFUSED",
    message: /autocommit is 0: must be 1/,
  });
  const client = await sessionWith("START TRANSACTION");
  const refused = { code: "STORE_REFUSED", message: /inside a transaction of yours/ };
  const store = new MySqlStore(client);
  for (const call of [
    () => store.acquire(attempt({ scope })),
    () => store.ensure({ scope, behind: false }),
    () => store.init({ scope: "other", layout: "default" }),
    () => store.migrate(),
  ])
    await assert.rejects(call, refused);
  // As MySQL, which has no such variable: the status in the result of the write tells.
  const unknowing = spied(client, (text, run) => run(text.replace("@@in_transaction", "0")));
  await assert.rejects(new MySqlStore(unknowing).acquire(attempt({ scope })), refused);
  await client.query("ROLLBACK");
  assert.ok((await store.acquire(attempt({ scope }))).granted);
});

test("a server or a session that takes no writes is refused", async () => {
  const scope = await newScope();
  const session = new MySqlStore(await sessionWith("SET SESSION tx_read_only = 1"));
  const refused = { code: "STORE_REFUSED", message: /Connect to the primary/ };
  await assert.rejects(session.acquire(attempt({ scope })), refused);
  await server.query("SET GLOBAL read_only = 1");
  try {
    const store = new MySqlStore(pool);
    for (const call of [
      () => store.acquire(attempt({ scope })),
      () => store.renew(renewalOf({ grant: hex(), node: 1, untilMs: 1 }, { scope })),
      () => store.release({ scope, grant: hex(), node: 1, untilMs: 1, heldUntilMs: 1 }),
      () => store.ensure({ scope, behind: false }),
      () => store.init({ scope: "readonly", layout: "default" }),
      () => store.migrate(),
    ])
      await assert.rejects(call, refused);
  } finally {
    await server.query("SET GLOBAL read_only = 0");
  }
});

test("settings with which a crash takes grants back are refused, also if they change later", async () => {
  const logging = await MySqlServer.start({ "log-bin": "log", "server-id": 5 });
  const own = poolTo({}, logging);
  const store = new MySqlStore(own);
  const refused = (message) => ({ code: "STORE_REFUSED", message });
  // The default of MariaDB.
  await assert.rejects(store.migrate(), refused(/sync_binlog is 0: must be 1.*SET GLOBAL sync_binlog = 1/));
  await logging.query("SET GLOBAL sync_binlog = 100");
  await assert.rejects(store.migrate(), refused(/sync_binlog is 100/));
  await logging.query("SET GLOBAL sync_binlog = 1");
  await store.migrate();
  await store.init({ scope: "s", layout: "default" });
  const lease = await store.acquire(attempt());
  assert.ok(lease.granted);
  for (const value of [0, 2]) {
    await logging.query(`SET GLOBAL innodb_flush_log_at_trx_commit = ${value}`);
    const renewal = store.renew(renewalOf(lease));
    await assert.rejects(renewal, refused(new RegExp(`innodb_flush_log_at_trx_commit is ${value}: must be 1`)));
  }
  for (const value of [3, 1]) {
    await logging.query(`SET GLOBAL innodb_flush_log_at_trx_commit = ${value}`);
    assert.ok((await store.renew(renewalOf(await store.acquire(attempt())))).granted);
  }
  const statements = await mysql.createConnection(logging.address({ database: "test" }));
  await statements.query("SET SESSION binlog_format = 'STATEMENT'");
  await assert.rejects(new MySqlStore(statements).acquire(attempt()), refused(/binlog_format is STATEMENT/));
  await statements.end();
  const galera = spied(own, (text, run) => run(text.replace("@@global.wsrep_on", "1")));
  await assert.rejects(new MySqlStore(galera).acquire(attempt()), refused(/Galera cluster is not supported/));
  await own.end();
  await logging.stop();
});

/** Locks the rows of a scope until the call that it returns. */
async function lockRows(scope) {
  const blocker = await sessionWith("START TRANSACTION");
  await blocker.query("SELECT * FROM frazil_leases WHERE scope = ? FOR UPDATE", [scope]);
  return () => blocker.query("COMMIT");
}

for (const [name, open] of [
  ["mysql2", (user) => poolTo({ user })],
  ["mariadb", (user) => mariadb.createPool(server.address({ database: "test", user, connectionLimit: 2 }))],
]) {
  test(`${name}: a connection that breaks in mid-renewal is STORE_UNAVAILABLE, and the retry is accepted`, async () => {
    const user = `ended_${name}`;
    await server.query(`CREATE USER ${user}; GRANT ALL ON test.* TO ${user}`);
    const own = open(user);
    const store = new MySqlStore(own);
    const scope = await newScope();
    const lease = await store.acquire(attempt({ scope }));
    const unlock = await lockRows(scope);
    const request = renewalOf(lease, { scope });
    const renewal = assert.rejects(store.renew(request), (error) => {
      assert.ok(error instanceof LeaseError);
      assert.deepEqual([error.code, error.retryable], ["STORE_UNAVAILABLE", true]);
      assert.ok(error.cause instanceof Error);
      return true;
    });
    await sleep(200);
    await server.query(`KILL USER ${user}`);
    await renewal;
    // And when the caller does not wait any more.
    const signal = AbortSignal.timeout(50);
    await assert.rejects(store.renew({ ...request, signal }), (error) => error === signal.reason);
    await unlock();
    assert.ok((await store.renew(request)).granted);
    await own.end();
  });
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

test("a server that is not there is STORE_UNAVAILABLE with the cause, for each client", async () => {
  const address = { host: "127.0.0.1", port: await freePort(), user: "root" };
  const [one, two] = [mysql.createPool(address), mariadb.createPool({ ...address, acquireTimeout: 500 })];
  for (const client of [one, two])
    await assert.rejects(new MySqlStore(client).acquire(attempt()), (error) => {
      assert.deepEqual([error.code, error.retryable], ["STORE_UNAVAILABLE", true]);
      assert.ok(error.cause instanceof Error);
      return true;
    });
  await one.end();
  await two.end();
});

test("a user without rights is refused, and the error names them; with them each operation works", async () => {
  await server.query("CREATE USER nobody; GRANT USAGE ON *.* TO nobody; CREATE USER app");
  await server.query(
    "GRANT SELECT, UPDATE ON test.frazil_scopes TO app; GRANT SELECT, INSERT, UPDATE ON test.frazil_leases TO app",
  );
  const none = poolTo({ user: "nobody", database: undefined });
  const refused = {
    code: "STORE_REFUSED",
    message: /GRANT SELECT, UPDATE ON `test`\.frazil_scopes TO your_role; GRANT SELECT, INSERT, UPDATE ON/,
  };
  const blind = new MySqlStore(none, { database: "test" });
  await assert.rejects(blind.acquire(attempt()), refused);
  await assert.rejects(blind.migrate(), refused);
  await assert.rejects(new MySqlStore(none).acquire(attempt()), {
    code: "STORE_REFUSED",
    message: /the option database/,
  });
  const own = poolTo({ user: "app" });
  const store = new MySqlStore(own);
  const scope = await newScope();
  const lease = await store.acquire(attempt({ scope }));
  assert.ok((await store.renew(renewalOf(lease, { scope }))).granted);
  await store.ensure({ scope, behind: true });
  assert.equal(await store.release({ ...releaseOf(lease, scope), heldUntilMs: 8e15 }), true);
  // The tables exist, so nothing is created.
  await store.migrate();
  await assert.rejects(store.init({ scope: "more", layout: "default" }), {
    code: "STORE_REFUSED",
    message: /init\(\) needs INSERT/,
  });
  for (const [more, message] of [
    [{ password: "wrong" }, /1045/],
    [{ database: "nowhere" }, /nowhere/],
  ]) {
    const address = server.address({ database: "test", user: "app", ...more });
    for (const bad of [mysql.createPool(address), mariadb.createPool({ ...address, acquireTimeout: 300 })]) {
      await assert.rejects(new MySqlStore(bad).acquire(attempt()), { code: "STORE_REFUSED", message });
      await bad.end();
    }
  }
  await none.end();
  await own.end();
});

test("without tables or a record, the error says what to call", async () => {
  await server.query("CREATE DATABASE empty");
  const store = new MySqlStore(pool, { database: "empty" });
  assert.equal((await store.acquire(attempt())).reason, "missing");
  assert.equal(await store.release({ scope: "s", grant: hex(), node: 0, untilMs: 0, heldUntilMs: 8e15 }), false);
  await assert.rejects(store.ensure({ scope: "s", behind: false }), { code: "STORE_NOT_INITIALISED" });
  await assert.rejects(store.init({ layout: "default" }), {
    code: "STORE_NOT_INITIALISED",
    message: /store\.migrate\(\)/,
  });
  await store.migrate();
  await assert.rejects(store.fence(), { code: "STORE_NOT_INITIALISED" });
  await store.init({ layout: Layout.named("default") });
  await assert.rejects(store.init({ layout: "default" }), {
    code: "STATE_CONFLICT",
    message: /time41 node10 sequence12/,
  });
  await store.acquire(attempt({ scope: "default" }));
  await pool.query("DELETE FROM empty.frazil_scopes");
  await assert.rejects(store.init({ layout: "default" }), {
    code: "STATE_CONFLICT",
    message: /its record was deleted/,
  });
});

test("processes that migrate and initialise at once: one makes each thing, and none fails otherwise", async () => {
  for (let round = 0; round < 5; round++) {
    await server.query(`CREATE DATABASE round${round}`);
    const store = new MySqlStore(pool, { database: `round${round}` });
    await Promise.all(Array.from({ length: 8 }, () => store.migrate()));
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => store.init({ layout: "default" })));
    const failed = results.filter(({ status }) => status === "rejected");
    assert.deepEqual(
      failed.map(({ reason }) => reason.code),
      Array(7).fill("STATE_CONFLICT"),
    );
    for (const { reason } of failed) assert.match(reason.message, /it has one, of the layout/);
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

test("a table of another engine is refused", async () => {
  await server.query("CREATE DATABASE isam; CREATE TABLE isam.frazil_leases (a int) ENGINE = MyISAM");
  await assert.rejects(new MySqlStore(pool, { database: "isam" }).migrate(), {
    code: "STORE_REFUSED",
    message: /engine MyISAM: must be InnoDB.*ALTER TABLE frazil_leases ENGINE = InnoDB/,
  });
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
    const refused = { code: "STORE_REFUSED", message: /the option incarnation is null or empty/ };
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
    await assert.rejects(new MySqlStore(pool, { incarnation: { sql } }).acquire(attempt()), {
      code: "STORE_REFUSED",
      message,
    });
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
  const none = new Layout({
    epochMs: 0,
    fields: [
      { kind: "time", bits: 41 },
      { kind: "sequence", bits: 12 },
    ],
  });
  const one = await newScope({ layout: none });
  const text = "0 1ms time41 sequence12";
  assert.equal((await store.acquire(attempt({ scope: one, layout: text }))).node, 0);
  assert.equal((await store.acquire(attempt({ scope: one, layout: text }))).reason, "exhausted");
  const fields = [
    { kind: "time", bits: 31 },
    { kind: "node", bits: 22 },
    { kind: "sequence", bits: 10 },
  ];
  const wide = await newScope({ layout: new Layout({ epochMs: 0, tickMs: 1000, fields }) });
  const request = (node) => attempt({ scope: wide, layout: "0 1000ms time31 node22 sequence10", node });
  assert.equal((await store.acquire(request(4_000_000))).node, 0, "a preferred node id that is too far");
  assert.equal((await store.acquire(request(1000))).node, 1000);
  assert.equal((await store.acquire(request(2000))).node, 2000);
  const [[{ n, last }]] = await pool.query(
    "SELECT COUNT(*) AS n, MAX(node) AS last FROM frazil_leases WHERE scope = ?",
    [wide],
  );
  assert.equal(n, last + 1, "each row up to the last is there");
});

/**
 * Leases a node id, stops the replica from following, renews on the primary, ends that, and promotes the replica, which lacks the
 * renewal. Returns the window that the holder had, and the first one that the new primary grants of its node id.
 */
async function failover(options) {
  const logging = { "log-bin": "log", "sync-binlog": 1 };
  const primary = await MySqlServer.start({ ...logging, "server-id": 1 });
  const replica = await MySqlServer.start({ ...logging, "server-id": 2, "read-only": 1 });
  await replica.query("DROP DATABASE test");
  await replica.follow(primary);
  const first = poolTo({}, primary);
  const store = new MySqlStore(first, options);
  await store.migrate();
  await store.init({ scope: "s", layout: "default", nodes: { from: 0, to: 0 }, windowMaxMs: 3000 });
  const holder = await store.acquire(attempt({ windowMs: 1000 }));
  const followed = () => replica.query("SELECT grant_id FROM test.frazil_leases").catch(() => []);
  for (let tries = 0; (await followed())[0]?.grant_id !== holder.grant; tries++) {
    assert.ok(tries < 400, "the replica does not follow");
    await sleep(25);
  }
  await replica.query("STOP SLAVE");
  const renewed = await store.renew(renewalOf(holder, { windowMs: 3000 }));
  assert.ok(renewed.granted);
  await first.end();
  await primary.crash();
  await replica.query("RESET SLAVE ALL; SET GLOBAL read_only = 0");
  const second = poolTo({}, replica);
  const after = new MySqlStore(second, options);
  await sleep(Math.max(0, holder.untilMs - Date.now()) + 20);
  const reasons = [];
  let next;
  for (let tries = 0; next === undefined && tries < 400; tries++) {
    const answer = await after.acquire(attempt({ windowMs: 1000 }));
    if (answer.granted) next = answer;
    else {
      reasons.push(answer.reason);
      if (answer.reason === "incarnation") await after.ensure({ scope: "s", behind: false });
      await sleep(25);
    }
  }
  // The holder is still alive, and comes to the new primary.
  const returned = await after.renew(renewalOf(renewed, { windowMs: 1000 }));
  await second.end();
  await replica.crash();
  return { renewed, next, reasons: [...new Set(reasons)], returned };
}

// docs/safety.md: 27
test("a replica that lacks a renewal is promoted: no window overlaps", async () => {
  const { renewed, next, reasons } = await failover();
  assert.deepEqual(reasons, ["incarnation", "fenced"]);
  assert.ok(next.fromMs >= renewed.untilMs, `${next.fromMs} lies in a window until ${renewed.untilMs}`);
});

test("the same without an incarnation: windows overlap", async () => {
  const { renewed, next, returned } = await failover({ incarnation: "none-accepting-repeats-after-failover" });
  assert.ok(next.fromMs < renewed.untilMs, "the windows are disjoint: the twin shows nothing");
  assert.equal(returned.granted, false);
});

/**
 * A process reads at a replica that the incarnation differs, is stopped for six seconds while the primary grants, and raises the
 * fence after the replica was promoted without that grant. `change`: what becomes of the statement that raises it. Returns the
 * window that was lost, and the first one that the new primary grants of the node id.
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

// docs/safety.md: 27
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
  assert.ok(next.granted && next.fromMs < lost.untilMs, "the windows are disjoint: the twin shows nothing");
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

// docs/safety.md: 27
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

test("a transaction that begins between the read and the write, on a shared connection, takes no grant back", async () => {
  for (const begin of ["BEGIN", "SET autocommit = 0"]) {
    for (const connect of [mariadb.createConnection, mysql.createConnection]) {
      const shared = await connect(server.address({ database: "test" }));
      const scope = await newScope({ nodes: { from: 0, to: 0 } });
      let isBegun = false;
      const client = spied(shared, async (text, run) => {
        if (isReplacement(text) && !isBegun) {
          isBegun = true;
          await shared.query(begin);
        }
        return run();
      });
      await assert.rejects(new MySqlStore(client).acquire(attempt({ scope })), { code: "STORE_REFUSED" });
      assert.ok(isBegun);
      await shared.query("ROLLBACK");
      await shared.end();
    }
  }
});

test("a client that aborts the signal while it fails: the reason, and no rejection that nobody handles", async () => {
  const controller = new AbortController();
  const client = {
    query() {
      controller.abort(new Error("stop"));
      return Promise.reject(new Error("after the abort"));
    },
  };
  const request = attempt({ signal: controller.signal });
  await assert.rejects(new MySqlStore(client).acquire(request), { message: "stop" });
  await sleep(10);
});

test("an answer that no server gives is refused with a code", async () => {
  for (const answer of [["x"], [Symbol("x")], [null], [[]], [], [[], []], null, undefined, 5, "x", [[{}]], [[null]]]) {
    const store = new MySqlStore({ query: async () => answer });
    for (const call of [
      () => store.acquire(attempt()),
      () => store.ensure({ scope: "s", behind: false }),
      () => store.fence(),
      () => store.migrate(),
      () => store.init({ layout: "default" }),
    ])
      await assert.rejects(call, { code: "STORE_REFUSED" });
  }
});
