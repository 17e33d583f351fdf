// `frazil.next()` when servers and backends are killed, replicas promoted, and databases copied; and while the server's clock steps.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Layout } from "frazil";
import { nextSql } from "frazil/sql";
import { mappedClocks } from "../../processes/movable-clock.mjs";
import { runProgram, serverFolder } from "../../stores/kit/server-process.mjs";
import { PostgresServer, poolTo, program, replicatedPair } from "../../stores/postgres/server.mjs";
import {
  connect,
  FOUR,
  install,
  installWithClock,
  isUp,
  mint,
  newDatabase,
  one,
  repeatsIn,
  setTick,
  until,
} from "./kit.mjs";

let server;
before(async () => {
  server = await PostgresServer.start({ max_connections: 100 });
});
after(() => server?.stop());

/** Mints with sessions that see their IDs, until `stop()`; what a killed server answers is ignored. Returns what was seen. */
function minting(t, url, { clients = 4 } = {}) {
  const seen = [];
  let isStopped = false;
  const pool = poolTo(url, { max: clients });
  const work = async () => {
    while (!isStopped) {
      try {
        const { rows } = await pool.query("SELECT frazil.next() AS id FROM generate_series(1, 50)");
        seen.push(...rows.map(({ id }) => id));
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  };
  const all = Promise.all(Array.from({ length: clients }, work));
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await all;
    await pool.end();
  };
  t.after(stop);
  return { seen, stop };
}

/** Kills a backend. The server ends all sessions, and takes none until it has recovered. */
async function kill(pid, session) {
  const ended = new Promise((resolve) => session.once("end", resolve));
  process.kill(pid, "SIGKILL");
  await ended;
}

const assertDistinct = (ids) => assert.equal(new Set(ids).size, ids.length);

/** Mints until there are that many more. */
const more = ({ seen }, count) => {
  const target = seen.length + count;
  return until(() => seen.length >= target);
};

test("backends and the server are killed while sessions mint: no ID that a client saw repeats", async (t) => {
  const url = await newDatabase(server, "kills");
  const client = await connect(t, url);
  await install(client);
  const minted = minting(t, url);
  await more(minted, 2000);
  for (let kills = 0; kills < 3; kills++) {
    const other = await connect(t, url);
    const pid = await one(
      other,
      "SELECT pid FROM pg_stat_activity WHERE datname = 'kills' AND query LIKE '%generate_series%' LIMIT 1",
    );
    await kill(pid, other);
    await until(() => isUp(url));
    await more(minted, 1000);
  }
  await server.crash();
  await server.start();
  await more(minted, 1000);
  server.signal("SIGKILL");
  await server.end("SIGKILL");
  await server.start();
  await more(minted, 1000);
  await minted.stop();
  assertDistinct(minted.seen);
});

const idsOf = async (client, count) =>
  (await client.query(`SELECT frazil.next()::text AS id FROM generate_series(1, ${count})`)).rows.map(({ id }) => id);

/** Without the move after a crash or a promotion. */
const withoutMove = (sql) => {
  const changed = sql.replace(`pg_relation_size('"frazil".next_incarnation') = 0`, "false");
  assert.notEqual(changed, sql);
  return changed;
};

/** The tick of the test's clock while IDs are lost; after that, the clock is 900 ms behind. */
const TICK = 1_000_000;

/** Installs the function with the test's clock, which is at the word. */
async function installAtTick(client, change) {
  await installWithClock(client, FOUR, change);
  await setTick(client, TICK - 2000);
  await client.query("SELECT frazil.next_check()");
  await setTick(client, TICK);
  await mint(client);
}

/** Mints after a loss with a clock that is 900 ms behind. */
async function mintBehind(client) {
  await setTick(client, TICK - 900);
  await client.query("SELECT frazil.next_check()");
  await setTick(client, TICK + 100);
  return idsOf(client, 4);
}

/** Stops the process that flushes the WAL in the background. Returns what kills it, unless it has ended. */
async function stopWalWriter(client) {
  const pid = await one(client, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
  process.kill(pid, "SIGSTOP");
  return () => {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  };
}

/** Each with `killWalWriter`, for which the server would wait. */
const CRASHES = {
  "a backend is killed": async (lossy, client, killWalWriter) => {
    await kill(await one(client, "SELECT pg_backend_pid()"), client);
    killWalWriter();
    await until(() => isUp(lossy.url));
  },
  "the server is killed": async (lossy, _client, killWalWriter) => {
    const crashed = lossy.crash();
    killWalWriter();
    await crashed;
    await lossy.start();
  },
};

for (const [name, crash] of Object.entries(CRASHES))
  for (const [change, isBroken] of [
    [undefined, false],
    [withoutMove, true],
  ]) {
    // docs/internals/claims.md: 41
    test(`${name}, and the WAL of IDs that a client saw is lost: ${isBroken ? "without the move they repeat" : "none repeats"}`, async (t) => {
      const lossy = await PostgresServer.start({ autovacuum: "off", fsync: "off" });
      t.after(() => lossy.stop());
      const client = await connect(t, lossy.url);
      await installAtTick(client, change);
      const killWalWriter = await stopWalWriter(client);
      // Not committed, so nothing is flushed.
      await client.query("BEGIN");
      const seen = await idsOf(client, 600);
      await crash(lossy, client, killWalWriter);
      const next = await mintBehind(await connect(t, lossy.url));
      assert.equal(new Set([...seen, ...next]).size < 604, isBroken);
    });
  }

for (const [change, isBroken] of [
  [undefined, false],
  [withoutMove, true],
])
  test(`a replica is promoted that lacks the last IDs: ${isBroken ? "without the move they repeat" : "none repeats"}`, async (t) => {
    const { primary, replica, cutOff, promote } = await replicatedPair();
    t.after(async () => {
      await primary.stop();
      await replica.stop();
    });
    const client = await connect(t, primary.url);
    await installAtTick(client, change);
    const standby = await connect(t, replica.url);
    const isThere = "SELECT count(*)::int FROM pg_tables WHERE tablename = 'minted'";
    await until(
      async () => (await one(standby, isThere)) === 1 && (await one(standby, "SELECT count(*)::int FROM minted")) === 1,
    );
    await assert.rejects(standby.query("SELECT frazil.next()"), { code: "25006" });
    await cutOff();
    const lost = await idsOf(client, 600);
    await primary.stop();
    await promote();
    const next = await mintBehind(await connect(t, replica.url));
    assert.equal(new Set([...lost, ...next]).size < 604, isBroken);
  });

test("statements that time out after a crash do not begin the wait anew", async (t) => {
  const url = await newDatabase(server, "impatient");
  const client = await connect(t, url);
  await client.query(`${nextSql("default", { node: 5 })}; SET statement_timeout = '200ms'`);
  for (let calls = 0; ; calls++) {
    try {
      await client.query("SELECT frazil.next()");
      break;
    } catch (error) {
      assert.equal(error.code, "57014");
      assert.ok(calls < 50, "each call waits anew");
    }
  }
});

test("the server's clock steps back and forward under load: nothing repeats, and an hour back is refused until it is over", async (t) => {
  const clocks = mappedClocks();
  const own = await PostgresServer.start({ max_connections: 50 }, clocks.env);
  t.after(() => own.stop());
  const client = await connect(t, own.url);
  await install(client);
  await mint(client);
  const minted = minting(t, own.url);
  for (const stepMs of [-400, 700, -900, 5000, -1, 30, -300]) {
    await more(minted, 500);
    await clocks.jump(stepMs);
  }
  await more(minted, 500);
  await clocks.jump(-3_600_000);
  await assert.rejects(mint(client), { code: "55000", hint: /go back/ });
  await clocks.jump(3_600_000);
  await more(minted, 500);
  await minted.stop();
  assertDistinct(minted.seen);
});

/** A database with IDs, which `copy(name)` copies; and a connection to the copy. */
async function copied(t, name, copy) {
  const url = await newDatabase(server, name);
  const client = await connect(t, url);
  await install(client);
  await mint(client, 10);
  await client.query("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT frazil.next())");
  await client.end();
  const other = await copy(url);
  return { url, copy: await connect(t, other) };
}

const dumped = (url, into) => {
  const file = join(serverFolder(), "dump.sql");
  runProgram(program("pg_dump"), ["--file", file, url], { user: "postgres" });
  return () =>
    runProgram(program("psql"), ["--quiet", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", "--file", file, into], {
      user: "postgres",
    });
};

const COPIES = {
  "a clone by TEMPLATE": (url) => newDatabase(server, "cloned", `TEMPLATE ${url.split("/").at(-1)}`),
  async "a dump in another database"(url) {
    const into = await newDatabase(server, "loaded");
    dumped(url, into)();
    return into;
  },
  async "a dump in its own place"(url) {
    const name = url.split("/").at(-1);
    const load = dumped(url, url);
    await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await newDatabase(server, name);
    load();
    return url;
  },
  async "a dump over the same database"(url) {
    const load = dumped(url, url);
    const client = await poolTo(url, { max: 1 });
    await client.query("DROP TABLE orders, minted; DROP SCHEMA frazil CASCADE");
    await client.end();
    load();
    return url;
  },
};

let copies = 0;
for (const [name, make] of Object.entries(COPIES)) {
  // docs/internals/claims.md: 42
  test(`${name} issues nothing, until it has another node id, or the other database is declared gone`, async (t) => {
    const { copy } = await copied(t, `copied${copies++}`, make);
    const refused = { code: "55000", message: /copy/, hint: /node id/ };
    await assert.rejects(copy.query("INSERT INTO orders DEFAULT VALUES"), refused);
    await assert.rejects(copy.query(nextSql("default", { node: 5 })), refused);
    await copy.query(nextSql("default", { node: 6 }));
    const id = await one(copy, "INSERT INTO orders DEFAULT VALUES RETURNING id");
    assert.equal(Layout.named("default").decode(id).node, 6);
    await copy.query("DELETE FROM frazil.next_home");
    await copy.query(nextSql("default", { node: 5 }));
    await mint(copy, 100);
    assert.equal(await repeatsIn(copy), 0);
  });
}
