//! docs/internals/claims.md: 40
// One move of `frazil.next()` that stops between reading the word and writing it, what others do meanwhile, and the constructions that
// repeat then.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PostgresServer } from "../../stores/postgres/server.mjs";
import {
  assertNoLocks,
  BROKEN,
  connect,
  FOUR,
  installWithClock,
  mint,
  narrow,
  newDatabase,
  repeatsIn,
  setTick,
  whileMoving,
} from "./kit.mjs";

let server;
before(async () => {
  // The session that keeps a mover waiting waits for its lock too, for 1 ms each time: on a slow machine that was taken for a deadlock.
  server = await PostgresServer.start({ deadlock_timeout: "1h" });
});
after(() => server?.stop());

const OURS = "frazil.next()";
const TICK = 1_000_000;
const LOCK_TIMEOUT = "55P03";
const STATEMENT_TIMEOUT = "57014";

let databases = 0;

/** A database with the test's clock, whose word is in the tick of the clock; and a connection to it. */
async function database(t, { layout = FOUR, change, broken } = {}) {
  const url = await newDatabase(server, `moves${databases++}`);
  const client = await connect(t, url);
  await installWithClock(client, layout, change);
  if (broken !== undefined) await client.query(broken);
  // The first check moves the word ahead of the clock, by the lead and what a crash may lose.
  await setTick(client, TICK - 2000);
  await client.query("SELECT frazil.next_check()");
  await setTick(client, TICK);
  return { url, client };
}

/** Mints one by one, without waiting for a lock. Returns how many were minted. */
async function tryToMint(client, calls, call) {
  await client.query("SET lock_timeout = '1ms'");
  let minted = 0;
  for (let each = 0; each < calls; each++) {
    try {
      await mint(client, 1, call);
      minted++;
    } catch (error) {
      if (error.code !== LOCK_TIMEOUT) throw error;
    }
  }
  return minted;
}

/** How many repeats there are after a move from a full tick that stopped while others did something; `clock`: of the mover. */
async function repeatsAfter(t, { meanwhile, clock = TICK + 20, call = OURS, refused = 0, ...options }) {
  const { url, client } = await database(t, options);
  await mint(client, 4, call);
  // As if so many calls had been refused in this tick, as while the clock is an hour behind.
  await client.query(`SELECT setval('frazil.next_word', last_value + ${refused}) FROM frazil.next_word`);
  await setTick(client, clock);
  await whileMoving(t, url, call, meanwhile);
  for (let tick = TICK + 40; tick < TICK + 60; tick++) {
    await setTick(client, tick);
    await mint(client, 4, call);
  }
  await assertNoLocks(client);
  return repeatsIn(client);
}

/** What others do during a move. */
const SCENARIOS = {
  "others mint": (call) => (gate) => tryToMint(gate, 30, call),
  "the clock goes back": (call) => async (gate) => {
    await setTick(gate, TICK);
    await tryToMint(gate, 30, call);
  },
};

for (const [name, scenario] of Object.entries(SCENARIOS))
  test(`a move stops, and ${name}: nothing repeats`, async (t) => {
    assert.equal(await repeatsAfter(t, { meanwhile: scenario(OURS) }), 0);
  });

for (const [name, scenario] of [
  ["greatest(last_value, clock)", "others mint"],
  ["a second look after the lock", "the clock goes back"],
])
  test(`${name} repeats IDs: a move stops, and ${scenario}`, async (t) => {
    const call = "broken()";
    const repeats = await repeatsAfter(t, { meanwhile: SCENARIOS[scenario](call), call, broken: BROKEN[name] });
    assert.ok(repeats > 0);
  });

test("a tick is full: 2,000 IDs in one tick of the clock are distinct, and those of Instagram's function repeat", async (t) => {
  const { client } = await database(t, { broken: BROKEN.Instagram });
  await mint(client, 2000);
  assert.equal(await repeatsIn(client), 0);
  await client.query("TRUNCATE minted");
  await mint(client, 2000, "broken()");
  assert.equal(await repeatsIn(client), 2000 - 1024);
});

test("a move stops: others take what the tick has, as long as that is not too old", async (t) => {
  const { url, client } = await database(t);
  await mint(client);
  await setTick(client, TICK + 10);
  let minted;
  // The mover took the second one.
  await whileMoving(t, url, OURS, async (gate) => {
    minted = await tryToMint(gate, 30);
  });
  assert.equal(minted, 2);
  await setTick(client, TICK + 21);
  await whileMoving(t, url, OURS, async (gate) => {
    minted = await tryToMint(gate, 30);
  });
  assert.equal(minted, 0, "an ID is 11 ms behind");
  assert.equal(await repeatsIn(client), 0);
});

test("a move stops: the statements of others time out and leave no lock; then all go on", async (t) => {
  const { url, client } = await database(t);
  await mint(client, 4);
  await whileMoving(t, url, OURS, async (gate) => {
    await client.query("SET statement_timeout = '20ms'");
    for (let call = 0; call < 10; call++) await assert.rejects(mint(client), { code: STATEMENT_TIMEOUT });
    // In a transaction that goes on behind a savepoint.
    await client.query("BEGIN; SAVEPOINT before");
    await assert.rejects(mint(client), { code: STATEMENT_TIMEOUT });
    await client.query("ROLLBACK TO before");
    const holders = await gate.query(
      "SELECT count(DISTINCT pid)::int AS pids FROM pg_locks WHERE locktype = 'advisory' AND classid <> 0",
    );
    assert.equal(holders.rows[0].pids, 1, "the mover has it alone");
    await client.query("COMMIT; SET statement_timeout = 0");
  });
  await mint(client, 100);
  await assertNoLocks(client);
  assert.equal(await repeatsIn(client), 0);
});

// The stated limit: a carry of the counter into the tick during one move.
test("as many calls as the counter has room for may be burnt in a move; after one more an ID repeats", async (t) => {
  for (const [burnt, repeats] of [
    [2 ** 22 - 1, 0],
    [2 ** 22, 1],
  ]) {
    const last = BigInt(TICK) * 2n ** 22n + BigInt(burnt) - 1n;
    const meanwhile = async (gate) => {
      // As if calls had burnt the counter up to here; the next one is that of `tryToMint`.
      await gate.query(`SELECT setval('frazil.next_word', ${last})`);
      await tryToMint(gate, 1);
    };
    assert.equal(await repeatsAfter(t, { meanwhile, clock: TICK }), repeats);
  }
});

/** A move that leaves out what the counter has when it begins. */
const withoutHalf = (sql) => {
  const changed = sql.replaceAll("last_value + 2097152 >>", "last_value >>");
  assert.notEqual(changed, sql);
  return changed;
};

for (const [name, change, isBroken] of [
  ["nothing repeats", undefined, false],
  ["they repeat if the next tick is always the first one", withoutHalf, true],
])
  test(`refused calls have burnt nearly all of the counter before a move, in which others carry it into the tick: ${name}`, async (t) => {
    for (const room of [1, 2, 12, 25]) {
      const meanwhile = (gate) => tryToMint(gate, 30);
      const repeats = await repeatsAfter(t, { meanwhile, clock: TICK, refused: 2 ** 22 - 4 - room, change });
      assert.equal(repeats > 0, isBroken, `${repeats} repeats with room for ${room} calls`);
    }
  });

test("with three bits for the counter instead of 22, eight calls in a move are too many", async (t) => {
  const meanwhile = (gate) => tryToMint(gate, 30);
  assert.ok((await repeatsAfter(t, { meanwhile, clock: TICK, change: narrow })) > 0);
  assert.equal(await repeatsAfter(t, { meanwhile, clock: TICK }), 0);
});
