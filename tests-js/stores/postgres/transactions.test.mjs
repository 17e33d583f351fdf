// Clients that are inside a transaction of the program, whose rollback would take back what was handed out: each is refused, and
// numbers and node ids that other programs get afterwards do not repeat.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { PGlite } from "@electric-sql/pglite";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import postgres from "postgres";
import { attempt, newScopeOf, renewalOf } from "../attempts.mjs";
import { allocation, newTag } from "../segments.mjs";
import { PostgresServer, poolTo } from "./server.mjs";

const REFUSED = { code: "STORE_REFUSED", message: /inside a transaction of yours/ };

let server;
let pool;
let store;
before(async () => {
  server = await PostgresServer.start();
  pool = poolTo(server.url);
  store = new PostgresStore(pool);
  await store.migrate();
});
after(async () => {
  await pool.end();
  await server.stop();
});

/** Runs work with a client that is inside a transaction, which is rolled back. */
const TRANSACTIONS = {
  async "a Client of pg"(work) {
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query("BEGIN");
    await work(client).finally(() => client.end());
  },
  async "a client that a Pool of pg has lent"(work) {
    const client = await pool.connect();
    await client.query("BEGIN");
    await work(client).finally(() => client.release(true));
  },
  async "the transaction of postgres"(work) {
    const sql = postgres(server.url, { max: 2 });
    const transaction = sql.begin(async (tx) => {
      await work(tx);
      throw new Error("roll back");
    });
    await assert.rejects(transaction, { message: "roll back" }).finally(() => sql.end());
  },
};

/** As above, with clients that do not show their transaction: only the statements of segments find it. */
const HIDDEN = {
  async "an object of the program around a Client of pg"(work) {
    await TRANSACTIONS["a Client of pg"]((client) => work({ query: (text, values) => client.query(text, values) }));
  },
  async "postgres with one connection"(work) {
    const sql = postgres(server.url, { max: 1 });
    await sql.unsafe("BEGIN");
    await work(sql).finally(() => sql.end());
  },
};

// docs/safety.md: 28
describe("a segment", () => {
  for (const [name, inTransaction] of Object.entries({ ...TRANSACTIONS, ...HIDDEN }))
    test(`${name}: allocate() is refused, and hands out nothing`, async () => {
      const tag = newTag();
      await store.initSegment({ tag });
      await inTransaction(async (client) => {
        const inside = new PostgresStore(client);
        await assert.rejects(inside.allocate(allocation({ tag })), REFUSED);
        await assert.rejects(inside.allocate(allocation({ tag })), REFUSED);
      });
      assert.equal((await store.allocate(allocation({ tag }))).first, 1n);
    });

  test("a twin that does not look for the transaction repeats numbers", async () => {
    const tag = newTag();
    await store.initSegment({ tag });
    let inside;
    await HIDDEN["an object of the program around a Client of pg"](async ({ query }) => {
      const blind = (text) => text.replaceAll("current_setting('frazil.transaction', true)", "''");
      inside = await new PostgresStore({ query: (text, values) => query(blind(text), values) }).allocate(
        allocation({ tag }),
      );
    });
    assert.equal((await store.allocate(allocation({ tag }))).first, inside.first, "the twin shows nothing");
  });
});

// docs/safety.md: 22
describe("a lease", () => {
  for (const [name, inTransaction] of Object.entries(TRANSACTIONS))
    test(`${name}: acquire(), renew(), ensure() and fence() are refused`, async () => {
      const scope = await newScopeOf(store);
      const held = await store.acquire(attempt({ scope }));
      await inTransaction(async (client) => {
        const inside = new PostgresStore(client);
        await assert.rejects(inside.acquire(attempt({ scope })), REFUSED);
        await assert.rejects(inside.renew(renewalOf(held, { scope })), REFUSED);
        await assert.rejects(inside.ensure({ scope, behind: false }), REFUSED);
        await assert.rejects(inside.fence({ scope }), REFUSED);
      });
      const next = await store.acquire(attempt({ scope }));
      assert.notEqual(next.node, held.node);
      assert.ok((await store.renew(renewalOf(held, { scope }))).granted);
    });
});

test("a transaction that has failed is named too, not taken for an outage", async () => {
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query("BEGIN");
  await assert.rejects(client.query("SELECT 1 / 0"));
  await assert.rejects(new PostgresStore(client).allocate(allocation()), REFUSED);
  await client.end();
});

test("PGlite: a transaction, and BEGIN", async () => {
  const db = await PGlite.create();
  const outside = new PostgresStore(db);
  await outside.migrate();
  await outside.initSegment({ tag: "orders" });
  await db.transaction(async (tx) => {
    await assert.rejects(new PostgresStore(tx).allocate(allocation()), REFUSED);
    await tx.rollback();
  });
  await db.exec("BEGIN");
  await assert.rejects(outside.allocate(allocation()), REFUSED);
  await db.exec("ROLLBACK");
  assert.equal((await outside.allocate(allocation())).first, 1n);
  await db.close();
});

test("PGlite: transactions of the program beside the store refuse nothing", async () => {
  const db = await PGlite.create();
  const store = new PostgresStore(db);
  await store.migrate();
  await store.initSegment({ tag: "orders" });
  let isOver = false;
  const beside = [1, 2].map(async () => {
    while (!isOver) await db.transaction((tx) => tx.query("SELECT 1"));
  });
  for (let round = 0; round < 20; round++)
    assert.equal((await store.allocate(allocation())).first, BigInt(1 + 10 * round));
  isOver = true;
  await Promise.all(beside);
  await db.close();
});

test("tables and records may be made in a transaction, as tools for migrations do it", async () => {
  const sql = postgres(server.url, { max: 1 });
  await sql.unsafe("CREATE SCHEMA moved");
  const tag = newTag();
  await sql.begin(async (tx) => {
    const inside = new PostgresStore(tx, { schema: "moved" });
    await inside.migrate();
    assert.equal(await inside.initSegment({ tag }), true);
    await inside.init({ layout: "default" });
  });
  const outside = new PostgresStore(sql, { schema: "moved" });
  assert.equal((await outside.allocate(allocation({ tag }))).first, 1n);
  assert.ok((await outside.acquire(attempt({ scope: "default" }))).granted);
  await sql.end();
});
