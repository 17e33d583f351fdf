// Faults with settings of servers and sessions of MariaDB and MySQL, and with transactions of the program.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MySqlStore } from "frazil/stores/mysql";
import mariadb from "mariadb";
import mysql from "mysql2/promise";
import { told } from "../../base/rule-texts.mjs";
import { attempt, hex, renewalOf } from "../kit/attempts.mjs";
import { allocation, newTag } from "../kit/segments.mjs";
import { isReplacement, newScope, pool, poolTo, rowOf, server, sessionWith, spied } from "./one-server.mjs";
import { MySqlServer } from "./server.mjs";

test("a session without autocommit, or inside a transaction, is refused", async () => {
  const scope = await newScope();
  const manual = new MySqlStore(await sessionWith("SET autocommit = 0"));
  await assert.rejects(
    manual.acquire(attempt({ scope })),
    told({
      code: "STORE_REFUSED",
      message: /autocommit must be 1, got 0/,
    }),
  );
  const client = await sessionWith("START TRANSACTION");
  const refused = told({ code: "STORE_REFUSED", message: /inside a transaction of yours/ });
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
  const refused = told({ code: "STORE_REFUSED", message: /Connect to the primary/ });
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
  const refused = (message) => told({ code: "STORE_REFUSED", message });
  // The default of MariaDB.
  await assert.rejects(store.migrate(), refused(/sync_binlog must be 1 .*, got 0.*SET GLOBAL sync_binlog = 1/));
  await logging.query("SET GLOBAL sync_binlog = 100");
  await assert.rejects(store.migrate(), refused(/sync_binlog must be 1 .*, got 100.*SET GLOBAL sync_binlog = 1/));
  await logging.query("SET GLOBAL sync_binlog = 1");
  await store.migrate();
  await store.init({ scope: "s", layout: "default" });
  const lease = await store.acquire(attempt());
  assert.ok(lease.granted);
  for (const value of [0, 2]) {
    await logging.query(`SET GLOBAL innodb_flush_log_at_trx_commit = ${value}`);
    const renewal = store.renew(renewalOf(lease));
    await assert.rejects(renewal, refused(new RegExp(`innodb_flush_log_at_trx_commit is ${value} and must be 1`)));
  }
  for (const value of [3, 1]) {
    await logging.query(`SET GLOBAL innodb_flush_log_at_trx_commit = ${value}`);
    assert.ok((await store.renew(renewalOf(await store.acquire(attempt())))).granted);
  }
  const statements = await mysql.createConnection(logging.address({ database: "test" }));
  await statements.query("SET SESSION binlog_format = 'STATEMENT'");
  await assert.rejects(
    new MySqlStore(statements).acquire(attempt()),
    refused(/binlog_format must be ROW or MIXED, got STATEMENT/),
  );
  await statements.end();
  const galera = spied(own, (text, run) => run(text.replace("@@global.wsrep_on", "1")));
  await assert.rejects(new MySqlStore(galera).acquire(attempt()), refused(/Galera cluster is not supported/));
  await own.end();
  await logging.stop();
});

test("a table of another engine is refused", async () => {
  await server.query("CREATE DATABASE isam; CREATE TABLE isam.frazil_leases (a int) ENGINE = MyISAM");
  await assert.rejects(
    new MySqlStore(pool, { database: "isam" }).migrate(),
    told({
      code: "STORE_REFUSED",
      message: /engine MyISAM, and must be InnoDB.*ALTER TABLE frazil_leases ENGINE = InnoDB/,
    }),
  );
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

/** As MySQL, which has no such variable: of a read, only the status in the protocol tells. */
const unknowing = (own) => ({
  async getConnection() {
    const connection = await own.getConnection();
    const query = connection.query.bind(connection);
    connection.query = ({ sql, ...statement }, values) =>
      query({ ...statement, sql: sql.replaceAll("@@in_transaction", "0") }, values);
    return connection;
  },
  query: () => assert.fail("the store takes a connection"),
});
const openMariadb = (more) =>
  mariadb.createPool(server.address({ database: "test", connectionLimit: 2, noControlAfterUse: true, ...more }));

for (const [name, open, wrap = (own) => own] of [
  ["mysql2", () => poolTo({ connectionLimit: 2 })],
  ["mysql2 on MySQL", () => poolTo({ connectionLimit: 2 }), unknowing],
  ["mariadb whose clean-up is off", openMariadb],
  ["mariadb whose clean-up is off, on MySQL", openMariadb, unknowing],
])
  for (const begin of ["START TRANSACTION", "START TRANSACTION READ ONLY"]) {
    // There, a read does not tell, and the error of the write is that of a replica.
    if (name === "mysql2 on MySQL" && begin.endsWith("ONLY")) continue;
    // docs/internals/claims.md: 22, 28
    test(`${name}: a connection of a pool that was released inside ${begin} is replaced`, async () => {
      const own = open();
      const inside = new MySqlStore(wrap(own));
      const store = new MySqlStore(pool);
      const scope = await newScope();
      const tag = newTag();
      await store.initSegment({ tag });
      /** Leaves all connections of the pool inside transactions, and rolls back what is done in these. */
      const among = async (work) => {
        const connections = [await own.getConnection(), await own.getConnection()];
        for (const connection of connections) {
          await connection.query(begin);
          await connection.query("SELECT COUNT(*) FROM frazil_leases");
        }
        for (const connection of connections) await connection.release();
        const result = await work();
        for (const connection of connections) await connection.query("ROLLBACK").catch(() => {});
        return result;
      };
      const held = await among(() => inside.acquire(attempt({ scope })));
      const renewed = await among(() => inside.renew(renewalOf(held, { scope })));
      await among(() => inside.ensure({ scope, behind: true }));
      assert.equal((await among(() => inside.allocate(allocation({ tag })))).first, 1n);
      assert.equal((await store.allocate(allocation({ tag }))).first, 11n);
      assert.equal((await store.acquire(attempt({ scope }))).reason, "fenced");
      assert.equal((await rowOf(scope, held.node)).until_ms, renewed.untilMs);
      await own.end();
    });
  }
