// The claims of docs/guides/json.md about Postgres: through each driver, in Node, and in workerd through miniflare's Hyperdrive.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readIds, toSql } from "frazil/transport";
import pg from "pg";
import postgres from "postgres";
import { PostgresServer, poolTo } from "../stores/postgres/server.mjs";
import { startWorker, textOf } from "./workerd.mjs";

const ID = 1489237498237411329n;
let server;
let pool;
let sql;
before(async () => {
  server = await PostgresServer.start();
  pool = poolTo(server.url);
  sql = postgres(server.url, { max: 1 });
  await pool.query("CREATE TABLE links (id bigint PRIMARY KEY)");
  for (const id of [9n, 10n, ID]) await pool.query("INSERT INTO links VALUES ($1)", [id]);
});
after(async () => {
  await pool.end();
  await sql.end();
  await server.stop();
});

test("pg and postgres bind a bigint and text, and return text", async () => {
  for (const bound of [ID, toSql(ID)]) {
    const { rows } = await pool.query("SELECT id FROM links WHERE id = $1", [bound]);
    assert.deepEqual(rows, [{ id: `${ID}` }]);
    assert.deepEqual([...(await sql`SELECT id FROM links WHERE id = ${bound}`)], [{ id: `${ID}` }]);
    assert.deepEqual(readIds(rows, "id"), [{ id: ID }]);
  }
});

test("a number as a parameter finds no row", async () => {
  assert.deepEqual((await pool.query("SELECT id FROM links WHERE id = $1", [Number(ID)])).rows, []);
  assert.deepEqual([...(await sql`SELECT id FROM links WHERE id = ${Number(ID)}`)], []);
});

test("2^63 is refused by Postgres, and by toSql before it", async () => {
  await assert.rejects(pool.query("INSERT INTO links VALUES ($1)", [2n ** 63n]), /out of range for type bigint/);
  assert.throws(() => toSql(2n ** 63n), { code: "INVALID_ID" });
});

test("JSON that Postgres makes is rounded, unless the statement casts", async () => {
  const { rows } = await pool.query("SELECT row_to_json(links) AS json FROM links WHERE id = $1", [ID]);
  assert.equal(rows[0].json.id, Number(ID));
  assert.throws(() => readIds(rows, "id"), { code: "INVALID_ID", field: "id", value: Number(ID) });
  const cast = "SELECT json_build_object('id', id::text) AS json FROM links WHERE id = $1";
  assert.deepEqual((await pool.query(cast, [ID])).rows, [{ json: { id: `${ID}` } }]);
});

test("ORDER BY sorts the text if the text has the name of the column", async () => {
  const idsOf = async (select) => (await pool.query(select)).rows.map(({ id }) => id);
  assert.deepEqual(await idsOf("SELECT id::text AS id FROM links ORDER BY id"), ["10", `${ID}`, "9"]);
  assert.deepEqual(await idsOf("SELECT id FROM links ORDER BY id"), ["9", "10", `${ID}`]);
});

test("a type parser: Number rounds, BigInt is exact, for counts too", async () => {
  const read = async (parse) => {
    const types = { getTypeParser: (oid, format) => (oid === 20 ? parse : pg.types.getTypeParser(oid, format)) };
    const text = "SELECT id, COUNT(*) OVER () AS n FROM links WHERE id = $1";
    return (await pool.query({ text, values: [ID], types })).rows[0];
  };
  assert.deepEqual(await read(Number), { id: Number(ID), n: 1 });
  assert.notEqual(BigInt((await read(Number)).id), ID);
  assert.deepEqual(await read(BigInt), { id: ID, n: 1n });
});

test("workerd, through Hyperdrive: both drivers bind a bigint and text, and return text", async () => {
  const program = `import pg from "pg";
import postgres from "postgres";
export default {
  async fetch(request, { HYPERDRIVE: { connectionString } }) {
    const client = new pg.Client({ connectionString });
    await client.connect();
    const sql = postgres(connectionString, { max: 1, fetch_types: false });
    const found = [];
    for (const id of [${ID}n, "${ID}"]) {
      found.push((await client.query("SELECT id FROM links WHERE id = $1", [id])).rows[0].id);
      found.push((await sql\`SELECT id FROM links WHERE id = \${id}\`)[0].id);
    }
    await client.end();
    await sql.end();
    return Response.json(found);
  },
};`;
  const worker = await startWorker(program, { connectionString: server.url });
  try {
    assert.equal(await textOf(worker), JSON.stringify(Array(4).fill(`${ID}`)));
  } finally {
    await worker.dispose();
  }
});
