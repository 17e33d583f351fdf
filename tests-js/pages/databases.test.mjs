// docs/guides/databases.md as printed: its programs, with a Postgres, and what it says of indexes and drivers. Needs a Node with
// node:sqlite.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Layout } from "frazil";
import { sqlFor } from "frazil/sql";
import * as mariadb from "mariadb";
import mysql from "mysql2/promise";
import { MySqlServer } from "../stores/mysql/server.mjs";
import { PostgresServer } from "../stores/postgres/server.mjs";
import { printed, programsOf, textOf } from "./examples.mjs";

const folder = fileURLToPath(new URL("./", import.meta.url));
const page = textOf("docs/guides/databases.md");
const programs = programsOf(page).filter(({ output }) => output !== undefined);
const ID = 1489237498237411329n;

const layout = Layout.named("default");
const { epochMs } = layout;
const last = layout.plan().lastDate.getTime();
/** IDs of times between the first and the last of the layout. */
const samples = Array.from({ length: 1000 }, (_, at) =>
  layout.compose({ timestampMs: epochMs + Math.floor(((last - epochMs) * at) / 1000), node: at, sequence: at }),
);

let postgres;
let maria;
before(async () => {
  [postgres, maria] = await Promise.all([PostgresServer.start(), MySqlServer.start()]);
});
after(() => Promise.all([postgres?.stop(), maria?.stop()]));

describe("the programs", { concurrency: 1 }, () => {
  test("there are programs", () => assert.equal(programs.length, 7));
  for (const { code, output, line } of programs) {
    test(`docs/guides/databases.md:${line} prints the output in the document`, async () => {
      const env = { DATABASE_URL: postgres.url };
      assert.equal(await printed(code, { folder, env }), output);
    });
  }
});

describe("Postgres", () => {
  test("a period of IDs uses the index of the primary key, and a condition on the time reads every row", async () => {
    await postgres.query("CREATE TABLE many (id bigint PRIMARY KEY)");
    await postgres.query("INSERT INTO many SELECT unnest($1::bigint[])", [samples]);
    await postgres.query("ANALYZE many");
    await postgres.query(sqlFor(layout, "postgres"));
    const planOf = async (condition) => {
      const rows = await postgres.query(`EXPLAIN SELECT count(*) FROM many WHERE ${condition}`);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    };
    assert.match(await planOf(`id >= ${samples[5]} AND id < ${samples[9]}`), /Index Only Scan using many_pkey/);
    assert.match(await planOf("frazil_time(id) < '2024-02-01'"), /Seq Scan on many/);
  });

  test("a BRIN index", async () => {
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
});
