// Postgres: pool connections that break silently, or that end while a statement runs. Cases with long waits run at once. Each case has its
// own database, because some lock a table, or end sessions that wait for a lock.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Segment } from "frazil/segment";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import postgres from "postgres";
import { attempt } from "../kit/attempts.mjs";
import { drawOverBrokenConnections, holdOverBrokenConnections, openAll } from "../kit/broken-connections.mjs";
import { PostgresServer, poolTo } from "./server.mjs";

let server;
let admin;
before(async () => {
  server = await PostgresServer.start();
  admin = await connected("postgres");
});
after(async () => {
  await admin?.end();
  await server?.stop();
});

async function connected(database) {
  const client = new pg.Client({ connectionString: addressOf(server.port, database) });
  await client.connect();
  return client;
}

const addressOf = (port, database) => `postgres://postgres@127.0.0.1:${port}/${database}`;

let databases = 0;
/** A new database with the tables of a store, the scopes "s" and "short", and the tag "orders". Returns its name. */
async function newDatabase() {
  const name = `case${++databases}`;
  await admin.query(`CREATE DATABASE ${name}`);
  const client = await connected(name);
  const store = new PostgresStore(client);
  await store.migrate();
  await store.init({ scope: "s", layout: "default" });
  await store.init({ scope: "short", layout: "default" });
  await store.initSegment({ tag: "orders" });
  await client.end();
  return name;
}

async function poolOf(port, database, max) {
  const pool = poolTo(addressOf(port, database), { max });
  await openAll(max, () => pool.query("SELECT pg_sleep(0.1)"));
  return pool;
}

const SOCKET = `
import { connect } from "node:net";

// Ends a connection that is silent for 3 seconds. \`postgres\` has no setting for that.
const socket = ({ host: [host], port: [port] }) =>
  new Promise((resolve, reject) => {
    const connection = connect(port, host, () => resolve(connection));
    connection.once("error", reject);
    connection.setTimeout(3000, () => connection.destroy());
  });
`;

describe("what waits for long", { concurrency: true }, () => {
  for (const max of [1, 2]) {
    test(`pg, a pool of ${max}: after all connections broke without a word, the next attempts have others`, async () => {
      const database = await newDatabase();
      await drawOverBrokenConnections(server.port, async (port) => {
        const pool = await poolOf(port, database, max);
        // Dropped connections would keep pool.end() waiting.
        return { store: new PostgresStore(pool), close: async () => void pool.end() };
      });
    });
  }

  for (const max of [1, 2]) {
    test(`pg, a pool of ${max}: so does a lease whose attempts last half a second`, async () => {
      const database = await newDatabase();
      await holdOverBrokenConnections(server.port, async (port) => {
        const pool = await poolOf(port, database, max);
        return { store: new PostgresStore(pool), close: async () => void pool.end() };
      });
    });
  }

  test("an object around a pool, whose connections the store cannot destroy, has no numbers", async () => {
    const database = await newDatabase();
    const over = async (port) => {
      const pool = await poolOf(port, database, 1);
      const store = new PostgresStore({ query: (text, values) => pool.query(text, values) });
      return { store, close: async () => void pool.end() };
    };
    await assert.rejects(drawOverBrokenConnections(server.port, over), { code: "SEGMENT_EXHAUSTED" });
  });

  test("postgres with the socket of docs/reference/stores/postgres.md: numbers are there again; without it, none", async () => {
    const page = readFileSync(new URL("../../../docs/reference/stores/postgres.md", import.meta.url), "utf8");
    assert.ok(page.includes(SOCKET.trim()), "the page has another text");
    const { socket } = await import(`data:text/javascript,${encodeURIComponent(`${SOCKET}export { socket };`)}`);
    const over = (database, settings) => async (port) => {
      const sql = postgres(addressOf(port, database), { max: 2, ...settings });
      return { store: new PostgresStore(sql), close: async () => void sql.end({ timeout: 0 }).catch(() => {}) };
    };
    const [one, other] = [await newDatabase(), await newDatabase()];
    await Promise.all([
      drawOverBrokenConnections(server.port, over(one, { socket })),
      assert.rejects(drawOverBrokenConnections(server.port, over(other, { idle_timeout: 2 })), {
        code: "SEGMENT_EXHAUSTED",
      }),
    ]);
  });

  test("a locked row costs one connection more than the pool has, however long it lasts", async () => {
    const database = await newDatabase();
    const pool = await poolOf(server.port, database, 2);
    const locker = await connected(database);
    await locker.query("BEGIN; SELECT 1 FROM frazil_segments FOR UPDATE");
    const orders = new Segment(new PostgresStore(pool), { tag: "orders", step: 10, maxAsyncWaitMs: 25_000 });
    const drawn = orders.nextMany(5);
    drawn.catch(() => {});
    await sleep(18_000);
    const { rows } = await admin.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock' AND query LIKE '%frazil_segments%'",
      [database],
    );
    assert.ok(rows[0].n >= 1 && rows[0].n <= 3, `${rows[0].n} statements wait`);
    await locker.query("COMMIT");
    await locker.end();
    assert.equal((await drawn).length, 5);
    orders.close();
    await pool.end();
  });
});

for (const [how, isReplaced, begin] of [
  ["whose time is over", true, () => AbortSignal.timeout(400)],
  ["that its caller gives up", false, () => abortedAfter(400)],
  ["whose time was spent on the wait for a connection", false, lendFirst],
])
  test(`a statement ${how} has its connection ${isReplaced ? "replaced" : "kept"}`, async (context) => {
    const database = await newDatabase();
    const pool = await poolOf(server.port, database, 1);
    const pidOf = async () => (await pool.query("SELECT pg_backend_pid() AS pid")).rows[0].pid;
    const pid = await pidOf();
    const locker = await connected(database);
    context.after(() => locker.end());
    await locker.query("BEGIN; LOCK TABLE frazil_scopes");
    const signal = await begin(pool);
    const ensured = new PostgresStore(pool).ensure({ scope: "s", behind: false, signal });
    await assert.rejects(ensured, (reason) => reason === signal.reason);
    await locker.query("COMMIT");
    assert.equal((await pidOf()) !== pid, isReplaced);
    await pool.end();
  });

function abortedAfter(ms) {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), ms);
  return controller.signal;
}

/** Keeps the connection of the pool for most of the time of an attempt. */
async function lendFirst(pool) {
  const lent = await pool.connect();
  setTimeout(() => lent.release(), 600);
  return AbortSignal.timeout(800);
}

test("a connection that the server ends while its statement runs is an error of the statement, not of the process", async () => {
  const database = await newDatabase();
  const pool = await poolOf(server.port, database, 1);
  const locker = await connected(database);
  await locker.query("BEGIN; SELECT 1 FROM frazil_scopes FOR UPDATE");
  const refused = assert.rejects(new PostgresStore(pool).ensure({ scope: "s", behind: true }), {
    code: "STORE_UNAVAILABLE",
  });
  await sleep(300);
  await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
  await refused;
  await locker.query("COMMIT");
  await locker.end();
  assert.ok((await new PostgresStore(pool).acquire(attempt())).granted);
  await pool.end();
});
