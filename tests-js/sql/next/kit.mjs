// What the tests of `frazil.next()` share: installing it, minting with many clients, counting repeats, stopping a move, and variants
// that are broken.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { nextSql } from "frazil/sql";
import pg from "pg";
import { poolTo } from "../../stores/postgres/server.mjs";

/** A layout whose ticks have four IDs, so that each of them is soon full. */
export const FOUR = {
  epochMs: 1704067200000,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "node", bits: 20 },
    { kind: "sequence", bits: 2 },
  ],
};

/** The address of a new database of a server. */
export async function newDatabase(server, name, more = "") {
  await server.query(`CREATE DATABASE ${name} ${more}`);
  return server.urlOf("postgres", name);
}

/** A connection that a test closes. */
export async function connect(t, connectionString, name = "frazil tests") {
  const client = new pg.Client({ connectionString, application_name: name });
  await client.connect();
  client.on("error", () => {}); // servers are killed
  t.after(() => client.end().catch(() => {}));
  return client;
}

/** Whether a server takes statements. It may be killed meanwhile. */
export async function isUp(connectionString) {
  const client = new pg.Client({ connectionString }).on("error", () => {});
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** One value. */
export async function one(client, text) {
  const { rows } = await client.query(text);
  return Object.values(rows[0])[0];
}

/** A column of IDs. */
export const idsOf = async (client, text) =>
  (await client.query({ text, rowMode: "array" })).rows.map(([id]) => BigInt(id));

/** Makes the function and a table of what was minted, without a unique index. */
export async function install(client, layout = "default", options = { node: 5 }) {
  await client.query(nextSql(layout, options));
  await client.query("CREATE TABLE IF NOT EXISTS minted (id bigint NOT NULL)");
}

/** How many rows of the table are repeats. */
export const repeatsIn = async (client) =>
  Number(await one(client, "SELECT count(id) - count(DISTINCT id) FROM minted"));

/** Mints with many sessions, each in several transactions. Returns how many IDs there are. */
export async function mintWith(url, { clients, transactions, each, call = "frazil.next()" }) {
  const pool = poolTo(url, { max: clients });
  try {
    await Promise.all(
      Array.from({ length: clients * transactions }, () =>
        pool.query(`INSERT INTO minted SELECT ${call} FROM generate_series(1, ${each})`),
      ),
    );
  } finally {
    await pool.end();
  }
  return clients * transactions * each;
}

/** Asks until the answer is true. */
export async function until(ask) {
  while (!(await ask())) await sleep(5);
}

/** No session has an advisory lock. */
export async function assertNoLocks(client) {
  const { rows } = await client.query("SELECT * FROM pg_locks WHERE locktype = 'advisory'");
  assert.deepEqual(rows, []);
}

/** The number of the gate at which the session `mover` stops in a move. */
const GATE = 7;

/** The clock of the tests, `clock_of_test`; in a move of the session `mover`, its reading waits for the gate. */
const TEST_CLOCK = `
CREATE TABLE clock_of_test (tick bigint NOT NULL);
INSERT INTO clock_of_test VALUES (1000000);
CREATE OR REPLACE FUNCTION frazil.next_tick() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT tick FROM public.clock_of_test);
END $$;
CREATE FUNCTION tick_in_move() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('application_name') = 'mover' THEN PERFORM pg_advisory_xact_lock_shared(${GATE}); END IF;
  RETURN frazil.next_tick();
END $$;`;

const CLOCK_IN_MOVES = 'greatest("frazil".next_tick()';

/** Makes the function with the clock of the tests. `change`: of its SQL. */
export async function installWithClock(client, layout, change = (sql) => sql) {
  const sql = nextSql(layout, { node: 5 });
  assert.equal(sql.split(CLOCK_IN_MOVES).length, 4, "the three moves are written otherwise now");
  await client.query("CREATE SCHEMA frazil; CREATE TABLE minted (id bigint NOT NULL)");
  await client.query(TEST_CLOCK);
  await client.query(change(sql.replaceAll(CLOCK_IN_MOVES, "greatest(public.tick_in_move()")));
  await client.query(TEST_CLOCK.slice(TEST_CLOCK.indexOf("CREATE OR"), TEST_CLOCK.indexOf("CREATE FUNCTION")));
}

/** Sets the clock of the tests. */
export const setTick = (client, tick) => client.query(`UPDATE clock_of_test SET tick = ${tick}`);

/** Mints `count` IDs one by one. */
export const mint = (client, count = 1, call = "frazil.next()") =>
  client.query(`INSERT INTO minted SELECT ${call} FROM generate_series(1, ${count})`);

/**
 * Runs `meanwhile` while the session `mover` is in a move, between reading the word and writing it. The moves of the others go on.
 */
export async function whileMoving(t, url, call, meanwhile) {
  const gate = await connect(t, url);
  const mover = await connect(t, url, "mover");
  // The first call of a session takes two words.
  for (const client of [gate, mover]) await client.query("SELECT frazil.next_check()");
  await gate.query(`SELECT pg_advisory_lock(${GATE})`);
  const moved = mint(mover, 1, call);
  await until(() =>
    one(gate, `SELECT EXISTS (SELECT FROM pg_locks WHERE objid = ${GATE} AND NOT granted AND locktype = 'advisory')`),
  );
  try {
    await meanwhile(gate);
  } finally {
    await gate.query(`SELECT pg_advisory_unlock(${GATE})`);
    await moved;
  }
}

/** The word of `FOUR` without enough room for the counter: 3 bits, of which 2 are the sequence. */
export const narrow = (sql) =>
  sql
    .replaceAll(/>> 22(?! <<)/g, ">> 3")
    .replaceAll(">> 22 << 22", ">> 3 << 22")
    .replaceAll(") << 22", ") << 3")
    .replaceAll("4194303", "7")
    .replaceAll("2097152", "4");

/** What others do, and what would be enough at first sight. Each has the name of its function, and the SQL that makes it. */
export const BROKEN = {
  // Two sessions compute the same word, and the slower one sets it again.
  "greatest(last_value, clock)": `CREATE FUNCTION broken() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v bigint;
BEGIN
  LOOP
    v := nextval('frazil.next_word');
    IF v & 4194303 < 4 AND v >> 22 >= frazil.next_tick() THEN RETURN (v >> 22 << 22) | (v & 3); END IF;
    PERFORM setval('frazil.next_word', greatest(last_value, (CASE WHEN v & 4194303 < 4 THEN 0 ELSE (v >> 22) + 1 END) << 22,
      public.tick_in_move() << 22), false) FROM frazil.next_word;
  END LOOP;
END $$`,
  // Under the lock it looks again; but the clock that it then writes may have gone back.
  "a second look after the lock": `CREATE FUNCTION broken() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v bigint;
BEGIN
  LOOP
    v := nextval('frazil.next_word');
    IF v & 4194303 < 4 AND v >> 22 >= frazil.next_tick() THEN RETURN (v >> 22 << 22) | (v & 3); END IF;
    BEGIN
      PERFORM pg_advisory_xact_lock(1);
      PERFORM setval('frazil.next_word', public.tick_in_move() << 22, false)
      FROM frazil.next_word WHERE last_value >> 22 < frazil.next_tick();
      RAISE EXCEPTION SQLSTATE 'ZFREE';
    EXCEPTION WHEN SQLSTATE 'ZFREE' THEN NULL;
    END;
  END LOOP;
END $$`,
  // "Sharding & IDs at Instagram" (2012).
  Instagram: `CREATE FUNCTION broken() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (frazil.next_tick() << 23) | (5 << 10) | (nextval('frazil.next_word') % 1024);
END $$`,
};
