// docs/guides/databases.md as printed: its programs, with a Postgres, and each SQL statement in its database. Needs a Node with
// node:sqlite.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Layout } from "frazil";
import * as mariadb from "mariadb";
import mysql from "mysql2/promise";
import { MySqlServer } from "../stores/mysql/server.mjs";
import { PostgresServer } from "../stores/postgres/server.mjs";
import { blocksOf, printed, programsOf, textOf } from "./examples.mjs";

const folder = fileURLToPath(new URL("./", import.meta.url));
const page = textOf("docs/guides/databases.md");
const programs = programsOf(page).filter(({ output }) => output !== undefined);
const ID = 1489237498237411329n;

const sql = blocksOf(page).filter(({ language }) => language === "sql");
/** The first block of SQL that contains a text. */
const sqlWith = (text) => sql.find(({ code }) => code.includes(text)).code;
/** The expression of a statement that selects one column of `orders`. */
const expressionOf = (statement) => /^SELECT (.*) AS created_at FROM orders;$/m.exec(statement)[1];
/** The statements of a block that has one for each database, by the first word of the comment before each. */
const byDatabase = (block) =>
  Object.fromEntries(
    block
      .split(/^-- /m)
      .filter((part) => part !== "")
      .map((part) => [/^\w+/.exec(part)[0], part.slice(part.indexOf("\n") + 1).trim()]),
  );
const expressions = {
  Postgres: expressionOf(sqlWith("to_timestamp")),
  MariaDB: expressionOf(sqlWith("TIMESTAMPADD")),
  SQLite: expressionOf(sqlWith("strftime")),
};
const smallest = byDatabase(sqlWith("-- SQLite, whole seconds"));
const generated = byDatabase(sqlWith("GENERATED ALWAYS AS (TIMESTAMPADD"));

const layout = Layout.named("default");
const { epochMs } = layout;
const last = layout.plan().lastDate.getTime();
/** The first and the last ID of the layout, and IDs of times between. */
const samples = [
  layout.compose({ timestampMs: epochMs, node: 0, sequence: 0 }),
  layout.compose({ timestampMs: last, node: 1023, sequence: 4095 }),
  ...Array.from({ length: 5000 }, (_, at) =>
    layout.compose({
      timestampMs: epochMs + Math.floor(((last - epochMs) * (at + 0.37)) / 5000),
      node: at % 1024,
      sequence: at % 4096,
    }),
  ),
];
const day = new Date("2026-11-25T00:00:00Z");

let postgres;
let maria;
before(async () => {
  // The time zones are not UTC, so that what depends on them is seen.
  const zoned = { "default-time-zone": "+05:30" };
  [postgres, maria] = await Promise.all([PostgresServer.start({ timezone: "Asia/Kolkata" }), MySqlServer.start(zoned)]);
});
after(() => Promise.all([postgres?.stop(), maria?.stop()]));

describe("the programs", { concurrency: 1 }, () => {
  test("there are programs", () => assert.equal(programs.length, 8));
  for (const { code, output, line } of programs) {
    test(`docs/guides/databases.md:${line} prints the output in the document`, async () => {
      const env = { DATABASE_URL: postgres.url };
      assert.equal(await printed(code, { folder, env }), output);
    });
  }
});

describe("Postgres", () => {
  test("the time of an ID is exact, from the first tick of the layout to the last", async () => {
    const rows = await postgres.query(
      `SELECT id, ${expressions.Postgres} AS t, (id >> 12) & 1023 AS node, id & 4095 AS sequence FROM unnest($1::bigint[]) AS id`,
      [samples],
    );
    assert.equal(rows.length, samples.length);
    for (const { id, t, node, sequence } of rows) {
      const decoded = layout.decode(id);
      assert.deepEqual([t, Number(node), Number(sequence)], [decoded.date, decoded.node, decoded.sequence], id);
    }
  });

  test("the expression for another layout", async () => {
    const sonyflake = Layout.named("sonyflake");
    const id = sonyflake.compose({ timestampMs: Date.parse("2030-05-06T07:08:09.120Z"), node: 5, sequence: 6 });
    const [, expression] = page.match(/it is `(\(id >> 24\).*?)`/);
    const [{ ms }] = await postgres.query(`SELECT ${expression} AS ms FROM (SELECT $1::bigint AS id) AS ids`, [id]);
    assert.equal(Number(ms), sonyflake.timestampOf(id));
  });

  test("the time of an ID of 64 bits, also where the column is negative", async () => {
    const discord = Layout.named("discord");
    const ids = ["2016-04-30T11:18:25.796Z", "2100-01-02T03:04:05.006Z"].map((time) =>
      discord.compose({ timestampMs: Date.parse(time), node: 7, sequence: 8 }),
    );
    const signed = ids.map((id) => discord.toSigned(id));
    assert.ok(signed[0] > 0n && signed[1] < 0n);
    const expression = expressionOf(sqlWith("4398046511103"));
    const rows = await postgres.query(`SELECT ${expression} AS t FROM unnest($1::bigint[]) AS id`, [signed]);
    assert.deepEqual(
      rows.map(({ t }) => t),
      ids.map((id) => discord.decode(id).date),
    );
  });

  test("the smallest ID of a time", async () => {
    assert.deepEqual(await postgres.query(smallest.Postgres), [{ id: `${layout.minIdAt(day)}` }]);
  });

  test("a period of IDs uses the index of the primary key, and a condition on the expression reads every row", async () => {
    await postgres.query("CREATE TABLE many (id bigint PRIMARY KEY)");
    await postgres.query("INSERT INTO many SELECT unnest($1::bigint[])", [samples]);
    await postgres.query("ANALYZE many");
    const planOf = async (condition) => {
      const rows = await postgres.query(`EXPLAIN SELECT count(*) FROM many WHERE ${condition}`);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    };
    assert.match(await planOf(`id >= ${samples[5]} AND id < ${samples[9]}`), /Index Only Scan using many_pkey/);
    assert.match(await planOf(`${expressions.Postgres} < '2024-02-01'`), /Seq Scan on many/);
  });

  test("the generated column, and the one that is refused", async () => {
    await postgres.query(
      `CREATE TABLE shown (id bigint PRIMARY KEY); ${generated.Postgres.replace("orders", "shown")}`,
    );
    const [{ created_at }] = await postgres.query("INSERT INTO shown VALUES ($1) RETURNING created_at", [ID]);
    assert.deepEqual(created_at, layout.decode(ID).date);
    const interval = "timestamptz 'epoch' + ((id >> 22) + 1704067200000) * interval '1 millisecond'";
    await assert.rejects(
      postgres.query(`CREATE TABLE no (id bigint, t timestamptz GENERATED ALWAYS AS (${interval}) STORED)`),
      /generation expression is not immutable/,
    );
  });

  test("the partition, and a BRIN index", async () => {
    const { output } = programs.find(({ code }) => code.includes("PARTITION"));
    await postgres.query(output);
    const november = layout.minIdAt(new Date("2026-11-30T23:59:59.999Z"));
    await postgres.query("INSERT INTO events VALUES ($1, 'x')", [november]);
    await assert.rejects(
      postgres.query("INSERT INTO events VALUES ($1, 'x')", [layout.minIdAt(new Date("2026-12-01"))]),
      /no partition of relation/,
    );
    await postgres.query("CREATE TABLE orders2 (id bigint PRIMARY KEY)");
    const [, brin] = page.match(/`(CREATE INDEX ON orders USING brin \(id\))`/);
    await postgres.query(brin.replace("orders", "orders2"));
  });
});

describe("MariaDB", () => {
  let pool;
  before(() => {
    pool = mysql.createPool({ host: "127.0.0.1", port: maria.port, user: "root", database: "test" });
  });
  after(() => pool.end());
  const rowsOf = async (text, values) => (await pool.query(text, values))[0];

  test("what the drivers return", async () => {
    await pool.query("CREATE TABLE orders (id BIGINT PRIMARY KEY)");
    await pool.query("INSERT INTO orders VALUES (?)", [ID]);
    assert.deepEqual(await rowsOf("SELECT id FROM orders"), [{ id: Number(ID) }]);
    const options = { supportBigNumbers: true, bigNumberStrings: true };
    const other = mysql.createPool({ host: "127.0.0.1", port: maria.port, user: "root", database: "test", ...options });
    assert.deepEqual((await other.query("SELECT id FROM orders WHERE id = ?", [ID]))[0], [{ id: `${ID}` }]);
    await other.end();
    const connection = await mariadb.createConnection({
      host: "127.0.0.1",
      port: maria.port,
      user: "root",
      database: "test",
    });
    const [row] = await connection.query("SELECT id FROM orders WHERE id = ?", [ID]);
    assert.equal(row.id, ID);
    await connection.end();
  });

  test("the time of an ID is exact and in UTC, from the first tick of the layout to the last", async () => {
    await pool.query("CREATE TABLE samples (id BIGINT PRIMARY KEY)");
    await pool.query(`INSERT INTO samples VALUES ${samples.map((id) => `(${id})`)}`);
    const select = `SELECT CAST(id AS CHAR) AS id, CAST(${expressions.MariaDB} AS CHAR) AS t, (id >> 12) & 1023 AS node, id & 4095 AS sequence FROM samples`;
    const rows = await rowsOf(select);
    assert.equal(rows.length, samples.length);
    for (const { id, t, node, sequence } of rows) {
      const decoded = layout.decode(id);
      const text = `${decoded.date.toISOString().replace("T", " ").replace("Z", "")}000`;
      assert.deepEqual([t, node, sequence], [text, decoded.node, decoded.sequence], id);
    }
    const [{ t }] = await rowsOf("SELECT CAST(FROM_UNIXTIME(1704067200) AS CHAR) AS t");
    assert.equal(t, "2024-01-01 05:30:00");
  });

  test("the smallest ID of a time", async () => {
    const [, select] = /^SELECT (.*) AS id;$/.exec(smallest.MariaDB);
    assert.deepEqual(await rowsOf(`SELECT CAST(${select} AS CHAR) AS id`), [{ id: `${layout.minIdAt(day)}` }]);
  });

  test("the generated column, and those that are refused", async () => {
    await pool.query("CREATE TABLE shown (id BIGINT PRIMARY KEY)");
    await pool.query(generated.MariaDB.replace("orders", "shown"));
    await pool.query("INSERT INTO shown (id) VALUES (?)", [382467004507910144n]);
    assert.deepEqual(await rowsOf("SELECT CAST(created_at AS CHAR) AS t FROM shown"), [
      { t: "2026-11-21 09:47:19.768" },
    ]);
    const refused = { message: /cannot be used in the GENERATED ALWAYS AS clause/ };
    const stored = generated.MariaDB.replace("orders", "samples").replace("VIRTUAL", "STORED");
    await assert.rejects(pool.query(stored), refused);
    await assert.rejects(pool.query("CREATE INDEX by_time ON shown (created_at)"), refused);
    await pool.query(
      "CREATE TABLE numbers (id BIGINT PRIMARY KEY, ms BIGINT AS ((id >> 22) + 1704067200000) STORED, KEY (ms))",
    );
  });
});

describe("SQLite", () => {
  let database;
  before(() => {
    database = new DatabaseSync(":memory:");
  });
  after(() => database.close());

  test("an ID is refused by a statement that returns numbers", () => {
    database.exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (${ID})`);
    const select = database.prepare("SELECT id FROM orders");
    assert.throws(() => select.get(), { code: "ERR_OUT_OF_RANGE" });
    select.setReadBigInts(true);
    assert.equal(select.get().id, ID);
  });

  test("the time of an ID is exact, from the first tick of the layout to the last", () => {
    database.exec("CREATE TABLE samples (id INTEGER PRIMARY KEY)");
    const insert = database.prepare("INSERT INTO samples VALUES (?)");
    for (const id of samples) insert.run(id);
    const select = `SELECT CAST(id AS TEXT) AS id, ${expressions.SQLite} AS t, (id >> 12) & 1023 AS node, id & 4095 AS sequence FROM samples`;
    const rows = database.prepare(select).all();
    assert.equal(rows.length, samples.length);
    for (const { id, t, node, sequence } of rows) {
      const decoded = layout.decode(id);
      assert.deepEqual([t, node, sequence], [decoded.date.toISOString(), decoded.node, decoded.sequence], id);
    }
  });

  test("the smallest ID of a time", () => {
    const select = database.prepare(smallest.SQLite);
    select.setReadBigInts(true);
    assert.equal(select.get().id, layout.minIdAt(day));
  });

  test("the generated column", () => {
    database.exec("CREATE TABLE shown (id INTEGER PRIMARY KEY)");
    database.exec(generated.SQLite.replace("orders", "shown"));
    database.exec("INSERT INTO shown (id) VALUES (382467004507910144)");
    assert.equal(database.prepare("SELECT created_at FROM shown").get().created_at, "2026-11-21T09:47:19.768Z");
  });
});
