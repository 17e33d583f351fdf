// Segments in a real MariaDB: the contract through each driver and at each isolation level, and failovers that lose allocations.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { MySqlStore, mysqlDdl } from "frazil/stores/mysql";
import { segmentContract } from "frazil/testing/segment-contract";
import mariadb from "mariadb";
import callbacks from "mysql2";
import mysql from "mysql2/promise";
import { told } from "../../base/rule-texts.mjs";
import { segmentFailoverTests } from "../kit/segment-failover.mjs";
import {
  allocation,
  caught,
  checkBlindReplace,
  checkLostRace,
  checkWrittenByHand,
  initIn,
  newTag,
  OVERLAPS,
} from "../kit/segments.mjs";
import { MySqlServer, replicatedPair } from "./server.mjs";

let starting;
/** The server of this file. */
const running = () => {
  starting ??= MySqlServer.start();
  return starting;
};
after(async () => (await starting)?.stop());

const poolTo = (server, more) => mysql.createPool(server.address({ database: "test", ...more }));

let opened = 0;
/** A pool and connections of the server with an incarnation that tests change. `settings`: statements for each connection. */
async function open(settings) {
  const server = await running();
  const table = `incarnation_${++opened}`;
  await server.query(`CREATE TABLE ${table} (value bigint); INSERT INTO ${table} VALUES (1)`, [], "test");
  const pool = poolTo(server, { connectionLimit: 20 });
  pool.on("connection", (connection) => {
    for (const setting of settings) connection.query(`SET SESSION ${setting}`);
  });
  const options = { incarnation: { sql: `SELECT value FROM ${table}` } };
  const store = new MySqlStore(pool, options);
  await store.migrate();
  const clients = [];
  return {
    store,
    init: initIn(store),
    async connect() {
      const client = await mysql.createConnection(server.address({ database: "test" }));
      for (const setting of settings) await client.query(`SET SESSION ${setting}`);
      clients.push(client);
      return new MySqlStore(client, options);
    },
    changeIncarnation: () => server.query(`UPDATE ${table} SET value = value + 1`, [], "test"),
    async saveRecord(tag) {
      const columns = "next_number, recent, incarnation FROM frazil_segments WHERE tag = ?";
      const [row] = await server.query(`SELECT ${columns}`, [Buffer.from(tag)], "test");
      const restore = "UPDATE frazil_segments SET next_number = ?, recent = ?, incarnation = ? WHERE tag = ?";
      return async () => void (await server.query(restore, [...Object.values(row), Buffer.from(tag)], "test"));
    },
    async close() {
      await Promise.all(clients.map((client) => client.end()));
      await pool.end();
    },
  };
}

const levelled = (level) => `TRANSACTION ISOLATION LEVEL ${level}`;
for (const [level, ...more] of [
  ["READ UNCOMMITTED"],
  ["READ COMMITTED"],
  ["REPEATABLE READ"],
  ["REPEATABLE READ", "innodb_snapshot_isolation = ON"],
  ["SERIALIZABLE"],
]) {
  // docs/internals/claims.md: 28, 29
  segmentContract({
    name: `mysql2: a pool, and connections, at ${[level, ...more].join(" with ")}`,
    open: () => open([levelled(level), ...more]),
  });
}

segmentContract({
  name: "mysql2: a pool, and connections, with NO_BACKSLASH_ESCAPES",
  open: () => open(["sql_mode = 'NO_BACKSLASH_ESCAPES'"]),
});

segmentContract({
  name: "mariadb: a pool, without CLIENT_FOUND_ROWS, in another database",
  async open() {
    const server = await running();
    await server.query("CREATE DATABASE `Segments-2`");
    const pool = mariadb.createPool(server.address({ foundRows: false, connectionLimit: 8 }));
    const store = new MySqlStore(pool, { database: "Segments-2" });
    await store.migrate();
    return { store, init: initIn(store), close: () => pool.end() };
  },
});

segmentContract({
  name: "mysql2 with callbacks, without CLIENT_FOUND_ROWS, with numbers in place of texts",
  async open() {
    const server = await running();
    const numbers = { supportBigNumbers: false, flags: ["-FOUND_ROWS"] };
    const pool = callbacks.createPool(server.address({ database: "test", ...numbers }));
    const store = new MySqlStore(pool);
    await store.migrate();
    return { store, init: initIn(store), close: () => pool.promise().end() };
  },
});

test("a session without autocommit, or inside a transaction, is refused, and nothing is allocated", async () => {
  const server = await running();
  const pool = poolTo(server);
  const store = new MySqlStore(pool);
  await store.migrate();
  const tag = newTag();
  await store.initSegment({ tag });
  for (const [setting, message] of [
    ["SET autocommit = 0", /autocommit must be 1, got 0/],
    ["START TRANSACTION", /inside a transaction of yours/],
  ]) {
    const client = await mysql.createConnection(server.address({ database: "test" }));
    await client.query(setting);
    const refused = { code: "STORE_REFUSED", message };
    await assert.rejects(new MySqlStore(client).allocate(allocation({ tag })), refused);
    await assert.rejects(new MySqlStore(client).initSegment({ tag: newTag() }), refused);
    await client.end();

    // A transaction that begins between reading and writing. A client of this package does not say whether one is open.
    const silent = await mariadb.createConnection(server.address({ database: "test" }));
    const beginning = spied(silent, { hold: () => silent.query(setting) });
    const other = newTag();
    for (const call of [() => beginning.allocate(allocation({ tag })), () => beginning.initSegment({ tag: other })]) {
      await assert.rejects(call(), refused);
      await silent.query("ROLLBACK");
      await silent.query("SET autocommit = 1");
    }
    assert.equal(await store.initSegment({ tag: other }), true, "a record was made inside the transaction");
    await silent.end();
  }
  assert.equal((await store.allocate(allocation({ tag }))).first, 1n);
  await pool.end();
});

test("a server that shows another incarnation to each statement gets an answer, and no record", async () => {
  const pool = poolTo(await running());
  const store = new MySqlStore(pool);
  await store.migrate();
  const tag = newTag();
  const changing = new MySqlStore(pool, { incarnation: { sql: "SELECT UUID()" } });
  const unavailable = told({ code: "STORE_UNAVAILABLE", message: /another server than writes/ });
  await assert.rejects(changing.initSegment({ tag }), unavailable);
  assert.equal(await store.initSegment({ tag }), true, "a record was made");
  await pool.end();
});

/** A database of its own with the table of segments, a pool of connections that are not strict, and a store. */
async function laxStore(context, database) {
  await (await running()).query(`CREATE DATABASE ${database}`);
  const pool = poolTo(await running(), { database });
  pool.on("connection", (connection) => connection.query("SET SESSION sql_mode = ''"));
  context.after(() => pool.end());
  const store = new MySqlStore(pool);
  await store.migrate();
  await store.initSegment({ tag: "orders" });
  return { pool, store };
}

test("a record that a person has written is used, or refused", async (context) => {
  const { pool, store } = await laxStore(context, "written");
  const write = async (tag, columns) => {
    for (const [name, value] of Object.entries(columns)) {
      const column = name === "next" ? "next_number" : name;
      await pool.query("UPDATE frazil_segments SET ?? = ? WHERE tag = ?", [column, value, Buffer.from(tag)]);
    }
  };
  await checkWrittenByHand(store, { write });
});

test("a column of another type, a view, and a trigger that puts the counter back: refused, and no range is allocated twice", async (context) => {
  const { pool, store } = await laxStore(context, "narrow");
  for (const type of ["int", "mediumint unsigned", "decimal(30)", "varchar(30)"]) {
    await pool.query(`ALTER TABLE frazil_segments MODIFY next_number ${type} NOT NULL`);
    const message = /next_number of the table frazil_segments has the type \w+, and must be bigint/;
    await assert.rejects(store.allocate(allocation()), told({ code: "STORE_REFUSED", message }));
  }
  await pool.query("ALTER TABLE frazil_segments MODIFY next_number bigint unsigned NOT NULL");
  assert.equal((await store.allocate(allocation())).first, 1n);
  await pool.query("RENAME TABLE frazil_segments TO kept");
  await pool.query("CREATE VIEW frazil_segments AS SELECT * FROM kept");
  const isView = told({ code: "STORE_REFUSED", message: /frazil_segments is no table .*no view/ });
  await assert.rejects(store.allocate(allocation()), isView);

  const triggered = await laxStore(context, "triggered");
  await triggered.pool.query(
    "CREATE TRIGGER back BEFORE UPDATE ON frazil_segments FOR EACH ROW SET NEW.next_number = OLD.next_number",
  );
  assert.equal((await triggered.store.allocate(allocation())).first, 1n);
  const lowered = told({
    code: "STORE_REFUSED",
    message: /next_number of the tag .* must be 11 or more, since the numbers up to 10 were allocated, got "1"/,
  });
  for (let process = 0; process < 3; process++) await assert.rejects(triggered.store.allocate(allocation()), lowered);
});

test("the SQL of ddl makes a record for each of two tags that differ in blanks at their end", async () => {
  const server = await running();
  await server.query("CREATE DATABASE printed");
  await server.query(mysqlDdl({ tags: ["a", "a ", "a"] }, {}), [], "printed");
  const [{ count }] = await server.query("SELECT COUNT(*) AS count FROM frazil_segments", [], "printed");
  assert.equal(Number(count), 2);
});

/** A store whose client sees each statement that writes a record: it may wait before, and changes the text. */
const spied = (pool, { hold = async () => {}, change = (text) => text }) =>
  new MySqlStore({
    async query(statement, values) {
      const isWrite = /SET t\.next_number|INSERT INTO\s+\S*frazil_segments/.test(statement.sql);
      if (isWrite) await hold();
      return pool.query(isWrite ? { ...statement, sql: change(statement.sql) } : statement, values);
    },
  });

/** Takes the comparison of the record out of the statement. Its values stay, since the driver counts them. */
function withoutComparison(sql) {
  const broken = sql
    .replace("t.next_number = CAST(? AS SIGNED) AND", "CAST(? AS SIGNED) IS NOT NULL AND")
    .replace("HEX(t.recent) = ?\n", "? IS NOT NULL\n");
  assert.equal(broken.match(/IS NOT NULL/g)?.length, 2, broken);
  return broken;
}

test("a race that is lost is decided again by what is there then", async () => {
  const pool = poolTo(await running(), { connectionLimit: 20 });
  const store = new MySqlStore(pool);
  await store.migrate();
  await checkLostRace(store, (hold) => spied(pool, { hold }));
  await checkBlindReplace(store, (hold) => spied(pool, { hold, change: withoutComparison }));
  await caught(OVERLAPS, { store: spied(pool, { change: withoutComparison }), init: initIn(store) });
  await pool.end();
});

// docs/internals/claims.md: 29
describe("a replica that lacks allocations is promoted", () =>
  segmentFailoverTests({
    startPair: replicatedPair,
    connect(server, options) {
      const pool = poolTo(server);
      return { store: new MySqlStore(pool, options), close: () => pool.end().catch(() => {}) };
    },
    nextNumber: async (server) => (await server.query("SELECT next_number FROM test.frazil_segments"))[0]?.next_number,
  }));

test("connections whose collation is binary, of either driver", async () => {
  const server = await running();
  const pools = [
    poolTo(server, { charset: "UTF8MB4_BIN" }),
    mariadb.createPool({ ...server.address({ database: "test" }), collation: "UTF8MB4_BIN" }),
  ];
  for (const pool of pools) {
    const store = new MySqlStore(pool);
    await store.migrate();
    const tag = newTag();
    await store.initSegment({ tag });
    assert.equal((await store.allocate(allocation({ tag }))).first, 1n);
    assert.equal((await store.allocate(allocation({ tag }))).first, 11n);
    await pool.end();
  }
});
