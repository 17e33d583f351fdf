//! docs/internals/claims.md: 41
// Installing `frazil.next()` while others install it or mint: several at once, over an older one, and with another node id.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { nextSql } from "frazil/sql";
import { PostgresServer, program } from "../../stores/postgres/server.mjs";
import { connect, FOUR, install, mint, newDatabase, one, repeatsIn, until } from "./kit.mjs";

let server;
before(async () => {
  server = await PostgresServer.start({ max_connections: 100 });
});
after(() => server?.stop());

let databases = 0;
async function database(t) {
  const url = await newDatabase(server, `installs${databases++}`);
  return { url, client: await connect(t, url) };
}

/** Whether a session waits for a lock. */
const isWaiting = async (client, { processID }) =>
  one(client, `SELECT EXISTS (SELECT FROM pg_locks WHERE pid = ${processID} AND NOT granted)`);

/** Runs a script as psql does by default: statement by statement, each in a transaction, and on after errors. */
const psql = (url, input) =>
  spawnSync(program("psql"), ["--quiet", "--no-psqlrc", url], { input, encoding: "utf8" }).stderr;

const stateOf = (client) =>
  one(
    client,
    `SELECT array_agg(pg_get_functiondef(oid) ORDER BY proname)::text || (SELECT array_agg(next_home)::text FROM frazil.next_home)
     FROM pg_proc WHERE pronamespace = 'frazil'::regnamespace`,
  );

const OTHER = { schema: "other" };

async function mintInOther(client, count) {
  await client.query(`INSERT INTO minted SELECT other.next() FROM generate_series(1, ${count})`);
}

/** How many repeats there are after a node id went from one schema to another, in one session. `change`: of the SQL. */
async function repeatsAfterHandover(t, change) {
  const { client } = await database(t);
  await client.query(change(nextSql(FOUR, { node: 55, ...OTHER })));
  await client.query("SELECT other.next()");
  await install(client, FOUR);
  await mint(client, 1000);
  await client.query(change(nextSql(FOUR, { node: 6 })));
  await client.query(change(nextSql(FOUR, { node: 5, ...OTHER })));
  await mintInOther(client, 6000);
  return repeatsIn(client);
}

/** Parts of the SQL that it needs for this, as a pattern. */
const NEEDED = {
  "the move beyond what others may have issued": / OR home\.node <> \d+/g,
  "the look of sessions that had looked before": / \|\| '\/\d+'/g,
};

test("a node id goes from one schema to another: nothing repeats", async (t) => {
  assert.equal(await repeatsAfterHandover(t, (sql) => sql), 0);
});

for (const [name, part] of Object.entries(NEEDED))
  test(`a node id goes from one schema to another without ${name}: IDs repeat`, async (t) => {
    const without = (sql) => {
      assert.match(sql, part);
      return sql.replaceAll(part, "");
    };
    assert.ok((await repeatsAfterHandover(t, without)) > 0);
  });

test("a transaction issues IDs while the node id is changed: that waits for it", async (t) => {
  const { url, client } = await database(t);
  await install(client, FOUR);
  await client.query("BEGIN");
  await mint(client, 10);
  const other = await connect(t, url);
  const changed = other.query(nextSql(FOUR, { node: 6 }));
  await until(() => isWaiting(client, other));
  await mint(client, 10);
  await client.query("COMMIT");
  await changed;
  await mint(client, 10);
  assert.deepEqual(
    (await client.query("SELECT (id >> 2) & 1048575 AS node, count(*)::int FROM minted GROUP BY 1 ORDER BY 1")).rows,
    [
      { node: "5", count: 20 },
      { node: "6", count: 10 },
    ],
  );
});

test("another schema is installed with the same node id, in a transaction that is not committed: it waits, and is refused", async (t) => {
  const { url, client } = await database(t);
  const other = await connect(t, url);
  await client.query("BEGIN");
  await client.query(nextSql("default", { node: 5 }));
  const refused = assert.rejects(other.query(nextSql("default", { node: 5, ...OTHER })), {
    code: "55000",
    message: /schema "frazil"/,
  });
  await until(() => isWaiting(client, other));
  await client.query("COMMIT");
  await refused;
});

test("eight instances of a program install it at once", async (t) => {
  const { url, client } = await database(t);
  const all = await Promise.all(Array.from({ length: 8 }, () => connect(t, url)));
  for (let rounds = 0; rounds < 5; rounds++) {
    const up = nextSql("default", { node: 5 + rounds });
    await Promise.all(all.map((each) => each.query(up).then(() => each.query("SELECT frazil.next()"))));
  }
  await client.query("SELECT frazil.next()");
});

for (const [name, script] of [
  ["another layout", nextSql({ ...FOUR, epochMs: 0 }, { node: 5 })],
  ["the node id of another schema", nextSql(FOUR, { node: 55 })],
  ["down, while a column needs it", nextSql(FOUR, { down: true })],
])
  test(`psql goes on after an error, ${name}: all stays as it was`, async (t) => {
    const { url, client } = await database(t);
    await install(client, FOUR);
    await client.query(nextSql(FOUR, { node: 55, ...OTHER }));
    await client.query("CREATE TABLE orders (id bigint DEFAULT frazil.next())");
    await client.query("SELECT frazil.next()");
    const before = await stateOf(client);
    assert.match(psql(url, script), /ERROR/);
    assert.equal(await stateOf(client), before);
    await mint(client, 10);
    await (await connect(t, url)).query("INSERT INTO orders DEFAULT VALUES");
    assert.equal(await repeatsIn(client), 0);
  });
