// The scripts for MariaDB, SQLite, DuckDB and ClickHouse, each on the real engine.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Layout } from "frazil";
import { sqlFor } from "frazil/sql";
import { MySqlServer } from "../stores/mysql/server.mjs";
import { casesOf, check, LAYOUTS, timestampText } from "./cases.mjs";
import { startEngine } from "./engines.mjs";

const YEAR_10000 = Date.UTC(10_000, 0);
const LAYOUT = Layout.named("default");

/** Runs every vector. `start(script)` gives what a list of expressions has as values. */
async function checkVectors(dialect, engine, start) {
  let count = 0;
  const casesFor = (vector, script) => casesOf(vector, { ...engine, ...engine.of?.(script) });
  for (const vector of LAYOUTS) {
    let script;
    try {
      script = sqlFor(vector.layout, dialect);
    } catch (error) {
      assert.ok(engine.isSigned && error.code === "INVALID_LAYOUT", error.message);
      continue;
    }
    count += await check(vector.name, casesFor(vector, script), await start(script), engine.atOnce);
    // A wrong number is found.
    if (vector !== LAYOUTS[0]) continue;
    const wrong = script.replaceAll(`${vector.layout.epochMs}`, `${vector.layout.epochMs + 1}`);
    await assert.rejects(check("wrong", casesFor(vector, wrong), await start(wrong)), assert.AssertionError);
  }
  return count;
}

test("the functions agree with the vectors on MariaDB, and so do a generated column and partitions", async () => {
  // Not in UTC, so that what depends on the time zone is seen.
  const server = await MySqlServer.start({ "default-time-zone": "+05:30" });
  try {
    const engine = {
      idOf: (id) => `${id}`,
      msOf: (time) => `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${time}) DIV 1000`,
      timeOf: (ms) => `'${timestampText(ms)}'`,
      maxMs: YEAR_10000 - 1,
    };
    const count = await checkVectors("mariadb", engine, async (script) => {
      await server.query(script, [], "test");
      await server.query(script, [], "test"); // again
      return async (expressions) => {
        const list = expressions.map((each, at) => `CAST(${each} AS CHAR) AS c${at}`).join(", ");
        return Object.values((await server.query(`SELECT ${list}`, [], "test"))[0]);
      };
    });
    assert.ok(count > 9_000, `${count}`);
    const times = { from: Date.UTC(2026, 8, 1), until: Date.UTC(2026, 11, 1) };
    const script = sqlFor("default", "mariadb", { partition: { table: "orders", by: "month", ...times } });
    await server.query("CREATE TABLE orders (id BIGINT PRIMARY KEY)", [], "test");
    await server.query(script, [], "test");
    await server.query(/^-- (ALTER TABLE orders ADD COLUMN .*)$/m.exec(script)[1], [], "test");
    const days = [Date.UTC(2026, 7, 31), times.from, Date.UTC(2026, 9, 31, 23, 59, 59, 999), Date.UTC(2026, 10, 1)];
    for (const ms of days) await server.query("INSERT INTO orders (id) VALUES (?)", [`${LAYOUT.minIdAt(ms)}`], "test");
    const next = script
      .slice(script.indexOf("-- The next ones:\n"))
      .replace(/^-- The.*\n/, "")
      .replaceAll("-- ", "");
    await server.query(next, [], "test");
    const parts = await server.query(
      "SELECT partition_name AS name, table_rows AS n FROM information_schema.partitions WHERE table_name = 'orders' ORDER BY 1",
      [],
      "test",
    );
    assert.deepEqual(
      parts.map(({ name, n }) => [name, Number(n)]),
      [
        ["p2026_09_01", 2],
        ["p2026_10_01", 1],
        ["p2026_11_01", 1],
        ["p2026_12_01", 0],
      ],
    );
    const rows = await server.query("SELECT CAST(created_at AS CHAR) AS time FROM orders ORDER BY id", [], "test");
    assert.deepEqual(
      rows.map(({ time }) => time),
      days.map(timestampText),
    );
    await server.query(sqlFor("default", "mariadb", { down: true }), [], "test");
    await assert.rejects(server.query("SELECT frazil_time(1)", [], "test"), /frazil_time does not exist/);
  } finally {
    await server.stop();
  }
});

/** The expressions of a script for SQLite, by name: [parameters, expression]. */
const sqliteFunctions = (script) =>
  new Map(
    Array.from(
      script.matchAll(/^-- (frazil_\w+)\((.*)\)\nSELECT ([\s\S]*?)\n {2}FROM \(SELECT .*\);$/gm),
      ([, name, list, body]) => [name, [list.split(", "), body]],
    ),
  );

test("the expressions agree with the vectors on SQLite, and so does a generated column", async () => {
  const database = new DatabaseSync(":memory:");
  const engine = {
    isSigned: true,
    idOf: (id) => (id === -(2n ** 63n) ? "(-9223372036854775807 - 1)" : `${id}`),
    msOf: (time) => `CAST(round((julianday(${time}) - 2440587.5) * 86400000) AS INTEGER)`,
    timeOf: (ms) => `'${timestampText(ms)}'`,
    maxMs: YEAR_10000 - 1,
    of(script) {
      const functions = sqliteFunctions(script);
      return {
        call(name, args) {
          const [parameters, body] = functions.get(`frazil_${name}`);
          return `(SELECT ${body} FROM (SELECT ${parameters.map((each, at) => `${args[at]} AS ${each}`).join(", ")}))`;
        },
      };
    },
  };
  const count = await checkVectors("sqlite", engine, (script) => {
    database.exec(script); // as it is printed
    return (expressions) =>
      expressions.map(
        (expression) => Object.values(database.prepare(`SELECT CAST(${expression} AS TEXT) AS value`).get())[0],
      );
  });
  assert.ok(count > 9_000, `${count}`);
  database.exec("CREATE TABLE orders (id INTEGER PRIMARY KEY)");
  database.exec(/^-- (ALTER TABLE .*)$/m.exec(sqlFor("default", "sqlite"))[1]);
  const id = LAYOUT.minIdAt(Date.UTC(2026, 10, 1, 2, 3, 4, 567));
  database.prepare("INSERT INTO orders VALUES (?)").run(id);
  assert.deepEqual(
    { ...database.prepare("SELECT created_at FROM orders").get() },
    { created_at: "2026-11-01 02:03:04.567" },
  );
});

for (const [dialect, title, engine] of [
  [
    "duckdb",
    "DuckDB",
    {
      idOf: (id, isWide) => `${id}::${isWide ? "UBIGINT" : "BIGINT"}`,
      msOf: (time) => `epoch_ms(${time})`,
      timeOf: (ms) => `TIMESTAMP '${timestampText(ms)}'`,
      maxMs: Date.UTC(200_000, 0),
    },
  ],
  [
    "clickhouse",
    "ClickHouse",
    {
      isUnchecked: true,
      // Its time for a query grows faster than the query.
      atOnce: 30,
      idOf: (id) => `toUInt64('${id}')`,
      msOf: (time) => `toUnixTimestamp64Milli(${time})`,
      timeOf: (ms) => `toDateTime64('${timestampText(ms)}', 3, 'UTC')`,
      maxMs: Date.UTC(2300, 0) - 1,
    },
  ],
])
  test(`the functions agree with the vectors on ${title}`, async () => {
    const started = startEngine(dialect);
    try {
      const count = await checkVectors(dialect, engine, async (script) => {
        await started.ask({ script });
        await started.ask({ script }); // again
        return (expressions) =>
          started.ask({
            query: `SELECT ${expressions.map((each, at) => `CAST(${each} AS ${dialect === "duckdb" ? "VARCHAR" : "Nullable(String)"}) AS c${at}`).join(", ")}`,
          });
      });
      assert.ok(count > 9_000, `${count}`);
      await started.ask({ script: sqlFor("default", dialect, { down: true }) });
      await assert.rejects(started.ask({ query: "SELECT frazil_time(1)" }), /frazil_time/);
    } finally {
      started.stop();
    }
  });
