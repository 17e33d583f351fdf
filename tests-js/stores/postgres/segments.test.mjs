// Segments in a real Postgres: the contract through each driver and at each isolation level, and failovers that lose allocations.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { PGlite } from "@electric-sql/pglite";
import { PostgresStore } from "frazil/stores/postgres";
import { segmentContract } from "frazil/testing/segment-contract";
import pg from "pg";
import postgres from "postgres";
import { told } from "../../base/rule-texts.mjs";
import { withoutComparison } from "../../segment/processes/broken-postgres.mjs";
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
import { PostgresServer, poolTo, replicatedPair, startBouncer } from "./server.mjs";

let starting;
/** The server of this file. */
const running = () => {
  starting ??= PostgresServer.start({ max_connections: 200 });
  return starting;
};
after(async () => (await starting)?.stop());

let opened = 0;
/** A pool and clients of the server with an incarnation that tests change. `isolation`: the level of each connection. */
async function open(isolation = "read committed") {
  const server = await running();
  const table = `incarnation_${++opened}`;
  await server.query(`CREATE TABLE ${table} (value bigint); INSERT INTO ${table} VALUES (1)`);
  const more = { options: `-c default_transaction_isolation=${isolation.replace(" ", "\\ ")}`, max: 20 };
  const pool = poolTo(server.url, more);
  assert.equal((await pool.query("SHOW transaction_isolation")).rows[0].transaction_isolation, isolation);
  const options = { incarnation: { sql: `SELECT value FROM ${table}` } };
  const store = new PostgresStore(pool, options);
  await store.migrate();
  const clients = [];
  return {
    store,
    init: initIn(store),
    async connect() {
      const client = new pg.Client({ connectionString: server.url, ...more });
      await client.connect();
      clients.push(client);
      return new PostgresStore(client, options);
    },
    changeIncarnation: () => server.query(`UPDATE ${table} SET value = value + 1`),
    async saveRecord(tag) {
      const { rows } = await pool.query("SELECT next_number, recent, incarnation FROM frazil_segments WHERE tag = $1", [
        tag,
      ]);
      const restore = "UPDATE frazil_segments SET next_number = $1, recent = $2, incarnation = $3 WHERE tag = $4";
      return async () => void (await pool.query(restore, [...Object.values(rows[0]), tag]));
    },
    async close() {
      await Promise.all(clients.map((client) => client.end()));
      await pool.end();
    },
  };
}

for (const isolation of ["read uncommitted", "read committed", "repeatable read", "serializable"]) {
  // docs/internals/claims.md: 28, 29
  segmentContract({ name: `pg: a pool, and clients, at ${isolation}`, open: () => open(isolation) });
}

segmentContract({
  name: "postgres, with prepared statements off, through pgbouncer in transaction mode, in a schema",
  async open() {
    const server = await running();
    await server.query('CREATE SCHEMA "Segments"');
    const bouncer = await startBouncer(server);
    const sql = postgres(bouncer.url, { prepare: false, max: 8 });
    const store = new PostgresStore(sql, { schema: "Segments" });
    await store.migrate();
    const close = async () => {
      await sql.end();
      await bouncer.stop();
    };
    return { store, init: initIn(store), close };
  },
});

segmentContract({
  name: "PGlite",
  async open() {
    const db = await PGlite.create();
    const store = new PostgresStore(db);
    await store.migrate();
    return { store, init: initIn(store), close: () => db.close() };
  },
});

/** A store whose client sees each statement: it may wait before, and changes the text. */
const spied = (pool, { hold = async () => {}, change = (text) => text }) =>
  new PostgresStore({
    async query(text, values) {
      const isReplacement = text.includes("UPDATE frazil_segments");
      if (isReplacement) await hold();
      return pool.query(isReplacement ? change(text) : text, values);
    },
  });

describe("a race that is lost", () => {
  let pool;
  let store;
  test("is decided again by what is there then", async (context) => {
    pool = poolTo((await running()).url, { max: 20 });
    context.after(() => pool.end());
    store = new PostgresStore(pool);
    await store.migrate();
    await checkLostRace(store, (hold) => spied(pool, { hold }));
    await checkBlindReplace(store, (hold) => spied(pool, { hold, change: withoutComparison }));
    await caught(OVERLAPS, { store: spied(pool, { change: withoutComparison }), init: initIn(store) });
  });
});

/** A column of the record of a tag. */
const columnOf = (name) => (name === "next" ? "next_number" : name);

test("a record that a person has written is used, or refused", async (context) => {
  const pool = poolTo((await running()).url);
  context.after(() => pool.end());
  const store = new PostgresStore(pool);
  await store.migrate();
  const write = async (tag, columns) => {
    for (const [name, value] of Object.entries(columns))
      await pool.query(`UPDATE frazil_segments SET ${columnOf(name)} = $1 WHERE tag = $2`, [value, tag]);
  };
  await checkWrittenByHand(store, { write });
});

test("a trigger that puts the counter back, and a column of another type: refused, and no range is allocated twice", async (context) => {
  const server = await running();
  await server.query(`CREATE SCHEMA triggered; CREATE SCHEMA narrow;
    CREATE FUNCTION back() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.next_number := OLD.next_number; RETURN NEW; END'`);
  const pool = poolTo(server.url);
  context.after(() => pool.end());
  const [triggered, narrow] = ["triggered", "narrow"].map((schema) => new PostgresStore(pool, { schema }));
  const request = allocation();
  for (const store of [triggered, narrow]) {
    await store.migrate();
    await store.initSegment({ tag: "orders", first: 32_760 });
  }
  await server.query(`ALTER TABLE narrow.frazil_segments ALTER COLUMN next_number TYPE smallint;
    CREATE TRIGGER back BEFORE UPDATE ON triggered.frazil_segments FOR EACH ROW EXECUTE FUNCTION back()`);
  const changed = told({
    code: "STORE_REFUSED",
    message: /next_number of the tag "orders" is 32760 after 32770 was written/,
  });
  await assert.rejects(triggered.allocate(request), changed);
  // The record has the attempt, but not its counter.
  await assert.rejects(
    triggered.allocate(request),
    told({
      code: "STORE_REFUSED",
      message: /next_number of the tag .* must be 32770 or more, since .*, got "32760"/,
    }),
  );
  await assert.rejects(narrow.allocate(request), told({ code: "STORE_REFUSED", message: /22003/ }));
});

test("a role whose commits do not wait for the disk: an allocation outlives a crash right after its answer", async () => {
  const own = await PostgresServer.start({ autovacuum: "off" });
  await own.query("ALTER ROLE postgres SET synchronous_commit = off");
  let pool = poolTo(own.url);
  await new PostgresStore(pool).migrate();
  const tag = newTag();
  await new PostgresStore(pool).initSegment({ tag });
  const request = allocation({ tag });
  for (let round = 0; round < 3; round++) {
    const { first } = await new PostgresStore(pool).allocate({ ...request, attempt: allocation().attempt });
    assert.equal(first, 1n + 10n * BigInt(round));
    await own.crash();
    await pool.end();
    await own.start();
    pool = poolTo(own.url);
  }
  await pool.end();
  await own.stop();
});

// docs/internals/claims.md: 29
describe("an asynchronous standby that lacks allocations is promoted", () =>
  segmentFailoverTests({
    startPair: replicatedPair,
    connect(server, options) {
      const pool = poolTo(server.url);
      return { store: new PostgresStore(pool, options), close: () => pool.end() };
    },
    nextNumber: async (server) => (await server.query("SELECT next_number FROM frazil_segments"))[0]?.next_number,
  }));
