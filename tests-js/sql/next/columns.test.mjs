// `frazil.next()` on a real Postgres: as a column's default, beside programs that mint, with many clients, and what it refuses.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Layout, Snowflake } from "frazil";
import { nextSql } from "frazil/sql";
import { PostgresServer } from "../../stores/postgres/server.mjs";
import {
  assertNoLocks,
  connect,
  FOUR,
  idsOf,
  install,
  installWithClock,
  mint,
  mintWith,
  newDatabase,
  one,
  repeatsIn,
  setTick,
} from "./kit.mjs";

let server;
before(async () => {
  server = await PostgresServer.start({ max_connections: 100 });
});
after(() => server?.stop());

let databases = 0;
async function database(t) {
  const url = await newDatabase(server, `next${databases++}`);
  return { url, client: await connect(t, url) };
}

test("16 clients mint 160,000 IDs, and 64 mint 64,000: all are distinct, of the node id, and of this time", async (t) => {
  const { url, client } = await database(t);
  await install(client);
  const fromMs = Number(await one(client, "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"));
  const counts = [
    await mintWith(url, { clients: 16, transactions: 10, each: 1000 }),
    await mintWith(url, { clients: 64, transactions: 10, each: 100 }),
  ];
  const untilMs = Number(await one(client, "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"));
  assert.equal(await repeatsIn(client), 0);
  const ids = await idsOf(client, "SELECT id FROM minted");
  assert.equal(ids.length, counts[0] + counts[1]);
  const layout = Layout.named("default");
  const { node, timestampMs } = layout.decodeMany(BigInt64Array.from(ids));
  assert.deepEqual(new Set(node), new Set([5]));
  // A lag of 10 ms, a lead of a second; and that of the first call, until the clock has followed.
  assert.ok(Math.min(...timestampMs.slice(0, 1000)) >= fromMs - 11);
  assert.ok(timestampMs.every((ms) => ms >= fromMs - 11 && ms <= untilMs + 1000));
  await assertNoLocks(client);
});

for (const [layout, node] of [
  ["default", 1022],
  ["twitter", { datacenter: 3, worker: 17 }],
  ["discord", { worker: 1, process: 2 }],
  ["instagram", 5000],
  ["sonyflake2", 40000],
  [Layout.named("baidu").with({ epochMs: Date.UTC(2026, 0, 1) }), 4194303],
  ["seata", 1023],
  ["multi-clock", 200],
  ["edge", 16000],
  ["safe53", 7],
  [
    {
      epochMs: 1704067200000,
      tickMs: 10,
      fields: [
        { kind: "node", bits: 3, name: "region" },
        { kind: "sequence", bits: 6 },
        { kind: "time", bits: 38 },
        { kind: "clock", bits: 2 },
        { kind: "node", bits: 4, name: "shard" },
      ],
    },
    { region: 6, shard: 9 },
  ],
])
  test(`IDs decode with their layout: ${typeof layout === "string" ? layout : layout.fields.map(({ kind }) => kind)}`, async (t) => {
    const { client } = await database(t);
    await install(client, layout, { node });
    const made = typeof layout === "string" ? Layout.named(layout) : new Layout(layout.toJSON?.() ?? layout);
    await mint(client, 3000);
    assert.equal(await repeatsIn(client), 0);
    const nowMs = Date.now();
    for (const id of await idsOf(client, "SELECT id FROM minted")) {
      const decoded = made.decode(id);
      assert.equal(decoded.node, made.joinNode(node));
      // The lead, which is at least a tick, and what a crash may lose.
      assert.ok(Math.abs(decoded.timestampMs - nowMs) < 60_000, `${decoded.date}`);
      if (decoded.clock !== undefined) assert.equal(decoded.clock, 0);
    }
  });

test("as the default of a column: INSERT, RETURNING, COPY, nested inserts, a trigger, and a rollback", async (t) => {
  const { client } = await database(t);
  await client.query(nextSql("default", { node: 5 }));
  await client.query(`CREATE TABLE authors (id bigint PRIMARY KEY DEFAULT frazil.next(), name text);
    CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT frazil.next(), author bigint REFERENCES authors, title text);
    CREATE TABLE changes (id bigint PRIMARY KEY DEFAULT frazil.next(), post bigint)`);
  await client.query(`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO changes (post) VALUES (NEW.id); RETURN NEW; END';
    CREATE TRIGGER note AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION note()`);
  const [author] = await idsOf(client, "INSERT INTO authors (name) VALUES ('a') RETURNING id");
  assert.equal(Layout.named("default").decode(author).node, 5);
  // As ORMs write nested records.
  await client.query(`WITH author AS (INSERT INTO authors (name) VALUES ('b') RETURNING id)
    INSERT INTO posts (author, title) SELECT id, unnest(ARRAY['x', 'y', 'z']) FROM author`);
  await client.query("BEGIN; INSERT INTO posts (title) VALUES ('gone'); ROLLBACK");
  await client.query("COPY posts (title) FROM PROGRAM 'seq 1 10000'");
  const all = await idsOf(
    client,
    "SELECT id FROM authors UNION ALL SELECT id FROM posts UNION ALL SELECT id FROM changes",
  );
  assert.equal(all.length, 2 + 2 * 10_003);
  assert.equal(new Set(all).size, all.length);
  const [copied] = await idsOf(client, "SELECT count(*) FROM posts WHERE id IN (SELECT post FROM changes)");
  assert.equal(copied, 10_003n);
});

test("the SQL and the first rows in one transaction, as a migration does; after a rollback it begins anew", async (t) => {
  const { client } = await database(t);
  const all = [];
  for (const end of ["ROLLBACK", "COMMIT"]) {
    await client.query("BEGIN");
    await install(client);
    await client.query("INSERT INTO minted SELECT frazil.next() FROM generate_series(1, 5000)");
    all.push(...(await idsOf(client, "SELECT id FROM minted")));
    await client.query(end);
  }
  all.push(...(await idsOf(client, "SELECT frazil.next() FROM generate_series(1, 5000)")));
  assert.equal(new Set(all).size, 15_000);
});

test("a program with another node id beside it, in one column: nothing repeats", async (t) => {
  const { client } = await database(t);
  await install(client, "default", { node: 1022 });
  const ids = new Snowflake({ node: 1021 });
  await mint(client, 5000);
  const own = ids.nextMany(5000);
  await client.query("INSERT INTO minted SELECT unnest($1::bigint[])", [own.map(String)]);
  assert.equal(await repeatsIn(client), 0);
});

test("a role with EXECUTE alone uses it; another one does not, and neither may change the sequence", async (t) => {
  const { client } = await database(t);
  await client.query("CREATE ROLE app LOGIN; CREATE ROLE other LOGIN");
  await client.query(
    "CREATE TABLE orders (id bigint PRIMARY KEY, at timestamptz DEFAULT now()); GRANT ALL ON orders TO app, other",
  );
  await client.query(nextSql("default", { node: 5, grant: "app" }));
  await client.query("ALTER TABLE orders ALTER id SET DEFAULT frazil.next()");
  const name = await one(client, "SELECT current_database()");
  const app = await connect(t, server.urlOf("app", name));
  await app.query("INSERT INTO orders DEFAULT VALUES");
  await app.query("SELECT frazil.next()");
  // What a caller has in its way is not used.
  await app.query(`CREATE TEMP TABLE next_word (last_value bigint); CREATE TEMP TABLE pg_sequence (seqcache bigint);
    SET search_path = pg_temp, public`);
  await app.query("INSERT INTO public.orders DEFAULT VALUES");
  const denied = { code: "42501" };
  await assert.rejects(app.query("SELECT setval('frazil.next_word', 1)"), denied);
  await assert.rejects(app.query("SELECT frazil.next_moved(1)"), denied);
  const other = await connect(t, server.urlOf("other", name));
  await assert.rejects(other.query("INSERT INTO orders DEFAULT VALUES"), denied);
});

for (const change of ["CACHE 20", "INCREMENT -1", "CYCLE", "MINVALUE -5", "MAXVALUE 9000000000000000000"])
  test(`the sequence is altered, ${change}: a new session is refused, with the statement that mends it`, async (t) => {
    const { url, client } = await database(t);
    await install(client);
    await mint(client);
    await client.query(`ALTER SEQUENCE frazil.next_word ${change}`);
    const other = await connect(t, url);
    let hint;
    await assert.rejects(mint(other), (error) => {
      hint = error.hint;
      return error.code === "55000";
    });
    await client.query(hint);
    await mint(other, 10);
    assert.equal(await repeatsIn(client), 0);
  });

test("a call leaves no advisory lock in its transaction", async (t) => {
  const { client } = await database(t);
  await install(client);
  await client.query("BEGIN");
  await mint(client, 10_000);
  await assertNoLocks(client);
  await client.query("COMMIT");
});

test("every isolation level, and a transaction that only reads, which is refused", async (t) => {
  const { url, client } = await database(t);
  await install(client);
  for (const level of ["REPEATABLE READ", "SERIALIZABLE"]) {
    const other = await connect(t, url);
    await other.query(`BEGIN ISOLATION LEVEL ${level}`);
    await mint(other, 100);
    await mint(client, 100);
    await mint(other, 100);
    await other.query("COMMIT");
  }
  assert.equal(await repeatsIn(client), 0);
  await client.query("BEGIN READ ONLY");
  await assert.rejects(client.query("SELECT frazil.next()"), { code: "25006" });
  await client.query("ROLLBACK");
});

test("the clock goes back within the lead: calls go on; beyond it: they wait, and then fail with a hint; the clock returns: they go on", async (t) => {
  const { url, client } = await database(t);
  await installWithClock(client, FOUR);
  await setTick(client, 10_000);
  await client.query("SELECT frazil.next_check()"); // the word is at 12,000
  await setTick(client, 12_000);
  await mint(client, 10);
  await setTick(client, 11_100);
  await mint(client, 10);
  assert.equal(await repeatsIn(client), 0);
  // A step of an hour is refused at once.
  await setTick(client, 1);
  await assert.rejects(mint(client), { code: "55000", message: /ms further ahead/, hint: /go back/ });
  // Of 1,500 ms: it waits for the rest.
  await setTick(client, 10_500);
  const waiting = await connect(t, url);
  const waited = mint(waiting);
  await setTick(client, 12_000);
  await waited;
  // The clock stands still there: it waits 2 s in all, in vain.
  await setTick(client, 10_500);
  await assert.rejects(mint(client), { code: "55000" });
  await setTick(client, 13_000);
  await mint(client, 100);
  assert.equal(await repeatsIn(client), 0);
  await assertNoLocks(client);
});

test("more IDs than the lead has ticks for: the call waits for the clock", async (t) => {
  const { client } = await database(t);
  await install(client, FOUR, { node: 5, maxLeadMs: 5 });
  // Four in a millisecond, so this takes 0.4 s.
  await mint(client, 1600);
  assert.equal(await repeatsIn(client), 0);
  const behind = "SELECT max(id >> 22) - frazil.next_tick() FROM minted";
  assert.ok(Number(await one(client, behind)) <= 5);
});

test("the first call waits for a tick of 1.5 s, which is longer than other calls wait", async (t) => {
  const { client } = await database(t);
  const layout = { ...FOUR, tickMs: 1500 };
  await install(client, layout);
  await mint(client, 10);
  assert.equal(await repeatsIn(client), 0);
});

test("a time field that has ended: Baidu's, in 2024", async (t) => {
  const { client } = await database(t);
  await install(client, "baidu", { node: 5 });
  await assert.rejects(mint(client), { code: "55000", message: /time field/ });
});

test("the time field ends, and the clock is before the epoch: errors", async (t) => {
  const { client } = await database(t);
  const fields = [
    { kind: "time", bits: 20 },
    { kind: "node", bits: 20 },
    { kind: "sequence", bits: 2 },
  ];
  await installWithClock(client, { ...FOUR, fields });
  await setTick(client, 2 ** 20 - 2001);
  await client.query("SELECT frazil.next_check()");
  await setTick(client, 2 ** 20 - 1);
  await mint(client, 4);
  await assert.rejects(mint(client), { message: /time field/ });
  await setTick(client, -5);
  await assert.rejects(mint(client), { message: /ahead of the clock/ });
  assert.equal(await repeatsIn(client), 0);
});
