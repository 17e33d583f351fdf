// The script for Postgres, run on Postgres and PGlite.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PGlite } from "@electric-sql/pglite";
import { Layout, Snowflake } from "frazil";
import { sqlFor } from "frazil/sql";
import { PostgresServer, poolTo } from "../stores/postgres/server.mjs";
import { casesOf, check, LAYOUTS, timestampText } from "./cases.mjs";

const engine = {
  isSigned: true,
  idOf: (id) => `(${id < 0n ? `${id + 1n} - 1` : id})::bigint`,
  msOf: (time) => `(extract(epoch FROM ${time}) * 1000)::numeric(30, 0)`,
  timeOf: (ms) => `timestamptz '${timestampText(ms)}+00'`,
  maxMs: Date.UTC(200_000, 0),
};

let server;
let pool;
before(async () => {
  server = await PostgresServer.start();
  pool = poolTo(server.url);
});
after(async () => {
  await pool?.end();
  await server?.stop();
});

const SIGN = /must have at most 63 bits, or begin with the time, for postgres: its columns have a sign/;

/** Every vector, in a schema for each layout. */
async function checkVectors({ run, rows }) {
  let [count, refused] = [0, 0];
  for (const [at, vector] of LAYOUTS.entries()) {
    if (
      vector.layout.plan().signedUntil === undefined &&
      vector.layout.fields.reduce((sum, { bits }) => sum + bits, 0) > 63
    ) {
      assert.throws(() => sqlFor(vector.layout, "postgres"), SIGN);
      refused++;
      continue;
    }
    const schema = `layout_${at}`;
    const script = sqlFor(vector.layout, "postgres", { schema });
    await run(`CREATE SCHEMA ${schema}`);
    await run(script);
    await run(script); // again
    const cases = casesOf(vector, { ...engine, prefix: `${schema}.` });
    count += await check(vector.name, cases, async (expressions) => {
      // The settings of a session change nothing.
      await run("SET TimeZone = 'America/New_York'; SET DateStyle = 'SQL, DMY'");
      const list = expressions.map((expression) => `(${expression})::text`).join(", ");
      return (await rows(`SELECT ARRAY[${list}] AS list`))[0].list;
    });
    await run(sqlFor(vector.layout, "postgres", { schema, down: true }));
    const left = await rows(`SELECT proname FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace`);
    assert.deepEqual(left, []);
  }
  assert.ok(count > 9_000 && refused === 4, `${count} ${refused}`);
}

test("the functions agree with the vectors on Postgres", async () => {
  const client = await pool.connect();
  try {
    await checkVectors({ run: (text) => client.query(text), rows: async (text) => (await client.query(text)).rows });
  } finally {
    client.release(true);
  }
});

test("and on PGlite", async () => {
  const database = new PGlite();
  try {
    await checkVectors({ run: (text) => database.exec(text), rows: async (text) => (await database.query(text)).rows });
  } finally {
    await database.close();
  }
});

test("a wrong number is found", async () => {
  const [vector] = LAYOUTS;
  const { epochMs } = vector.layout;
  await pool.query("CREATE SCHEMA wrong");
  await pool.query(sqlFor(vector.layout, "postgres", { schema: "wrong" }).replaceAll(`${epochMs}`, `${epochMs + 1}`));
  const ask = async (expressions) =>
    (await pool.query(`SELECT ARRAY[${expressions.map((each) => `(${each})::text`).join(", ")}] AS list`)).rows[0].list;
  await assert.rejects(check("wrong", casesOf(vector, { ...engine, prefix: "wrong." }), ask), /frazil_time/);
});

/** IDs of three months, a table of them, and the functions. */
async function filled(schema, more = "") {
  await pool.query(`CREATE SCHEMA ${schema}`);
  await pool.query(sqlFor("default", "postgres", { schema }));
  await pool.query(`CREATE TABLE ${schema}.orders (id bigint PRIMARY KEY) ${more}`);
}
const LAYOUT = Layout.named("default");
const fill = (schema, days) =>
  pool.query(`INSERT INTO ${schema}.orders SELECT unnest($1::bigint[])`, [
    days.flatMap((day) => Array.from({ length: 20 }, (_, hour) => `${LAYOUT.minIdAt(Date.UTC(2026, 8, day, hour))}`)),
  ]);
const planOf = async (query) =>
  (await pool.query(`EXPLAIN (VERBOSE) ${query}`)).rows.map((row) => row["QUERY PLAN"]).join("\n");

test("the planner inlines every function, and a range of time is one of the index", async () => {
  await filled("inlined");
  await fill(
    "inlined",
    Array.from({ length: 90 }, (_, day) => day + 1),
  );
  await pool.query("ANALYZE inlined.orders");
  for (const call of [
    "time(id)",
    "node(id)",
    "sequence(id)",
    "base62(id)",
    "typed('usr', id)",
    "parse_base62(id::text)",
  ])
    assert.doesNotMatch(await planOf(`SELECT inlined.frazil_${call} FROM inlined.orders`), /frazil_/, call);
  for (const [from, until] of [
    ["'2026-09-03Z'", "'2026-09-04Z'"],
    ["now() - interval '3 days'", "now() - interval '2 days'"],
  ]) {
    const where = `id >= inlined.frazil_from(${from}) AND id < inlined.frazil_until(${until})`;
    const plan = await planOf(`SELECT id FROM inlined.orders WHERE ${where}`);
    assert.match(plan, /Index Cond: \(\(orders.id >= .* AND \(orders.id < /, plan);
    assert.doesNotMatch(plan, /frazil_|Seq Scan/);
  }
  const { rows } = await pool.query(
    "SELECT count(*)::int AS n FROM inlined.orders WHERE id >= inlined.frazil_from('2026-09-03Z') AND id < inlined.frazil_until('2026-09-05Z')",
  );
  assert.equal(rows[0].n, 40);
});

test("the examples of the script run: a generated column and an index", async () => {
  await filled("examples");
  await fill("examples", [3]);
  const script = sqlFor("default", "postgres", { schema: "examples" });
  const examples = script.match(/^-- (ALTER|CREATE) .*;$/gm).map((line) => line.slice(3));
  assert.equal(examples.length, 2);
  const client = await pool.connect();
  try {
    await client.query("SET search_path = examples");
    for (const example of examples) await client.query(example);
    const { rows } = await client.query("SELECT id, created_at FROM orders");
    assert.equal(rows.length, 20);
    for (const { id, created_at } of rows) assert.equal(created_at.getTime(), LAYOUT.timestampOf(id));
  } finally {
    client.release(true);
  }
});

test("partitions are made by day, week and month, and each ID is in the one of its time", async () => {
  for (const by of ["day", "week", "month"]) {
    const schema = `by_${by}`;
    await filled(schema, "PARTITION BY RANGE (id)");
    const [from, until] = [Date.UTC(2026, 8, 1, 5), Date.UTC(2026, 8, 20)];
    const script = sqlFor("default", "postgres", { schema, partition: { table: "orders", by, from, until } });
    const client = await pool.connect();
    try {
      await client.query(`SET search_path = ${schema}; SET TimeZone = 'Pacific/Apia'`);
      await client.query(script);
      await client.query(script); // again
      await fill(schema, [1, 7, 8, 19]);
      const { rows } = await client.query("SELECT id, tableoid::regclass::text AS partition FROM orders ORDER BY id");
      assert.equal(rows.length, 80);
      for (const { id, partition } of rows) {
        const time = new Date(LAYOUT.timestampOf(id));
        if (by === "month") time.setUTCDate(1);
        if (by === "week") time.setUTCDate(time.getUTCDate() - ((time.getUTCDay() + 6) % 7));
        assert.equal(partition, `orders_${time.toISOString().slice(0, 10).replaceAll("-", "_")}`);
      }
      // The next ones are those that are missing.
      const call = "SELECT frazil_partitions('orders', $1, '2026-09-01Z', '2026-12-01Z') AS made";
      const { rows: made } = await client.query(call, [by]);
      assert.equal(made.length, { day: 72, week: 11, month: 2 }[by]);
      assert.deepEqual((await client.query(call, [by])).rows, []);
      const [, next] = /^-- (SELECT .*frazil_partitions.*)$/m.exec(script);
      await client.query(next);
      assert.deepEqual((await client.query(next)).rows, []);
      const plan = await planOf(
        `SELECT FROM ${schema}.orders WHERE id >= ${schema}.frazil_from('2026-10-05Z') AND id < ${schema}.frazil_until('2026-10-06Z')`,
      );
      assert.equal(plan.match(/ on \w+\.orders_2026/g).length, 1, plan);
      const early = `INSERT INTO orders VALUES (${LAYOUT.minIdAt(Date.UTC(2025, 0, 1))})`;
      await assert.rejects(client.query(early), /no partition of relation/);
      await assert.rejects(client.query(call, ["year"]), /step must be day, week or month, got year/);
    } finally {
      client.release(true);
    }
  }
});

test("the partitions of a table that was renamed are there; and long names that begin alike, or have more bytes than characters, do", async () => {
  const client = await pool.connect();
  try {
    await client.query("CREATE SCHEMA names; SET search_path = names");
    await client.query(sqlFor("default", "postgres"));
    const call = "SELECT frazil_partitions($1::text::regclass, 'month', '2026-09-01Z', $2)";
    const alike = "a".repeat(62);
    for (const table of ["orders", `${alike}1`, `${alike}2`, "заказы_покупателей_по_городам"]) {
      await client.query(`CREATE TABLE ${table} (id bigint PRIMARY KEY) PARTITION BY RANGE (id)`);
      assert.equal((await client.query(call, [table, "2026-11-01Z"])).rowCount, 2, table);
      assert.equal((await client.query(call, [table, "2026-11-01Z"])).rowCount, 0, table);
    }
    await client.query("ALTER TABLE orders RENAME TO sales");
    const { rows } = await client.query(call, ["sales", "2026-12-01Z"]);
    assert.deepEqual(rows, [{ frazil_partitions: "sales_2026_11_01" }]);
  } finally {
    client.release(true);
  }
});

test("no time gives no ID, and a number outside the layout no field", async () => {
  await pool.query("CREATE SCHEMA nulls");
  await pool.query(sqlFor("safe53", "postgres", { schema: "nulls" }));
  const calls = ["from(NULL)", "until(NULL)", "time(-1)", "node(9007199254740992)", "base62(-1)", "typed('usr', NULL)"];
  for (const call of calls) {
    const { rows } = await pool.query(`SELECT nulls.frazil_${call} AS value`);
    assert.equal(rows[0].value, null, call);
  }
});

test("an ID of a program is found by its time", async () => {
  await filled("minted");
  const id = new Snowflake({ node: 5 }).next();
  await pool.query("INSERT INTO minted.orders VALUES ($1)", [`${id}`]);
  const { rows } =
    await pool.query(`SELECT minted.frazil_node(id) AS node, minted.frazil_time(id) AS time FROM minted.orders
    WHERE id >= minted.frazil_from(now() - interval '1 hour') AND id < minted.frazil_until(now() + interval '1 hour')`);
  assert.deepEqual(rows, [{ node: 5, time: LAYOUT.decode(id).date }]);
});
