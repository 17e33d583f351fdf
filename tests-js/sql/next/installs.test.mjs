//! docs/internals/claims.md: 41
// Installing `frazil.next()`: again, with another node id, in two schemas, by roles with few rights, beside objects of others, and while
// others install it or mint.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { Layout } from "frazil";
import { nextSql } from "frazil/sql";
import { PostgresServer, program } from "../../stores/postgres/server.mjs";
import { connect, FOUR, idsOf, install, mint, newDatabase, one, repeatsIn, until } from "./kit.mjs";

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

/** How many repeats there are after a node id went from one schema to another and back, in one session. `change`: of the SQL. */
async function repeatsAfterHandover(t, change) {
  const { client } = await database(t);
  await client.query(change(nextSql(FOUR, { node: 55, ...OTHER })));
  await client.query("SELECT other.next()");
  await install(client, FOUR);
  await mint(client, 1000);
  await client.query(change(nextSql(FOUR, { node: 6 })));
  await client.query(change(nextSql(FOUR, { node: 5, ...OTHER })));
  await mintInOther(client, 6000);
  await client.query(change(nextSql(FOUR, { node: 55, ...OTHER })));
  await client.query(change(nextSql(FOUR, { node: 5 })));
  await mint(client, 1000);
  return repeatsIn(client);
}

test("a node id goes from one schema to another and back: nothing repeats", async (t) => {
  assert.equal(await repeatsAfterHandover(t, (sql) => sql), 0);
});

test("a node id goes from one schema to another and back, and the word is not moved: IDs repeat", async (t) => {
  const withoutMove = (sql) => {
    const changed = sql.replace("WHERE last_value > 0", "WHERE false");
    assert.notEqual(changed, sql);
    return changed;
  };
  assert.ok((await repeatsAfterHandover(t, withoutMove)) > 0);
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

test("default privileges that give others everything do not let them write the word", async (t) => {
  const { client } = await database(t);
  const name = await one(client, "SELECT current_database()");
  await client.query(`CREATE ROLE "Reader; 1" LOGIN; ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO "Reader; 1", PUBLIC;
    ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO "Reader; 1", PUBLIC; ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC`);
  await client.query(nextSql("default", { node: 5, grant: "PUBLIC" }));
  const reader = await connect(t, server.urlOf("Reader; 1", name));
  for (const text of [
    "SELECT setval('frazil.next_word', 1)",
    "SELECT nextval('frazil.next_word')",
    "DELETE FROM frazil.next_home",
    "INSERT INTO frazil.next_incarnation VALUES (now())",
  ])
    await assert.rejects(reader.query(text), { code: "42501" }, text);
  // For backups.
  await reader.query("SELECT last_value FROM frazil.next_word, frazil.next_home");
  await reader.query("SELECT frazil.next()");
});

for (const [part, text] of [
  ["the sequence", "CREATE SEQUENCE next_word AS bigint MINVALUE 0 START 0"],
  ["a table", "CREATE TABLE next_home (database text NOT NULL, layout text NOT NULL, node bigint NOT NULL)"],
  ["a function", "CREATE FUNCTION next_tick() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'"],
])
  test(`another role has put ${part} there before: it is refused, also for a superuser`, async (t) => {
    const { client } = await database(t);
    await client.query(
      `CREATE SCHEMA shared; CREATE ROLE "Early ${part}"; GRANT ALL ON SCHEMA shared TO "Early ${part}"`,
    );
    await client.query(`SET ROLE "Early ${part}"; SET search_path = shared; ${text}; RESET ALL; RESET ROLE`);
    await assert.rejects(client.query(nextSql("default", { node: 5, schema: "shared" })), {
      code: "42501",
      hint: /SET ROLE "Early/,
    });
  });

test("functions and operators that others made in public are not used, and the search path stays as it was", async (t) => {
  const { client } = await database(t);
  await client.query(`CREATE FUNCTION trap(text, text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'trap'; END$$;
    CREATE FUNCTION trap(oid, regrole) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trap'; END$$;
    CREATE FUNCTION trap(oid, regclass) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trap'; END$$;
    CREATE FUNCTION trap(oid, integer) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trap'; END$$;
    CREATE OPERATOR <> (FUNCTION = trap, LEFTARG = oid, RIGHTARG = regrole);
    CREATE OPERATOR = (FUNCTION = trap, LEFTARG = oid, RIGHTARG = regclass);
    CREATE OPERATOR = (FUNCTION = trap, LEFTARG = oid, RIGHTARG = integer);
    ALTER FUNCTION trap(text, text) RENAME TO format;
    ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO PUBLIC`);
  await client.query("BEGIN; SET LOCAL search_path = public");
  await client.query(nextSql("default", { node: 5 }));
  assert.equal(await one(client, "SHOW search_path"), "public");
  await client.query("COMMIT");
  await assert.rejects(client.query(nextSql("edge", { node: 5 })), { message: /another layout/ });
  assert.equal(await one(client, "SHOW search_path"), '"$user", public');
  await client.query("SELECT frazil.next()");
});

test("an owner without any attribute installs it, in a schema of its choice; two of them in one database are apart", async (t) => {
  const { client } = await database(t);
  const name = await one(client, "SELECT current_database()");
  await client.query(`CREATE ROLE owner LOGIN; GRANT CREATE ON DATABASE ${name} TO owner`);
  const owner = await connect(t, server.urlOf("owner", name));
  await owner.query(nextSql("default", { node: 1, schema: "Ids-1" }));
  await owner.query(nextSql("default", { node: 2, schema: "ids_1" }));
  const ids = await idsOf(owner, `SELECT unnest(ARRAY["Ids-1".next(), ids_1.next(), "Ids-1".next(), ids_1.next()])`);
  assert.deepEqual(
    ids.map((id) => Layout.named("default").decode(id).node),
    [1, 2, 1, 2],
  );
  await owner.query(nextSql("default", { schema: "Ids-1", down: true }));
  await assert.rejects(owner.query(`SELECT "Ids-1".next()`), { code: "42883" });
  await owner.query("SELECT ids_1.next()");
});

test("another schema with the same node id is refused, until one of them has another", async (t) => {
  const { client } = await database(t);
  await client.query(nextSql("default", { node: 5 }));
  const other = nextSql("default", { node: 5, schema: "other" });
  await assert.rejects(client.query(other), {
    code: "55000",
    message: /schema "frazil".*node id/,
    hint: /another node id/,
  });
  await client.query(nextSql("default", { node: 55, schema: "other" }));
  await assert.rejects(client.query(other), { code: "55000" });
  await client.query(nextSql("default", { node: 6 }));
  await client.query(other);
});

test("the SQL may run again, changes the node id, and refuses another layout; down removes all, unless a column needs it", async (t) => {
  const { client } = await database(t);
  const up = nextSql("default", { node: 1 });
  await client.query(up);
  const before = BigInt(await one(client, "SELECT frazil.next()"));
  await client.query(up);
  await client.query(nextSql("default", { node: 2, maxLagMs: 5 }));
  const after = BigInt(await one(client, "SELECT frazil.next()"));
  assert.equal(Layout.named("default").decode(after).node, 2);
  assert.ok(after > before);
  await assert.rejects(client.query(nextSql("edge", { node: 1 })), { code: "55000", hint: /down/ });
  await client.query("CREATE TABLE t (id bigint DEFAULT frazil.next())");
  const down = nextSql("default", { down: true });
  await assert.rejects(client.query(down), { code: "2BP01" });
  await client.query("DROP TABLE t");
  await client.query(down);
  await client.query(down);
  assert.equal(await one(client, "SELECT count(*)::int FROM pg_class WHERE relnamespace = 'frazil'::regnamespace"), 0);
  assert.equal(await one(client, "SELECT count(*)::int FROM pg_proc WHERE pronamespace = 'frazil'::regnamespace"), 0);
  // Made anew, it begins beyond what it issued.
  await client.query(up);
  assert.ok(BigInt(await one(client, "SELECT frazil.next()")) > after);
});
