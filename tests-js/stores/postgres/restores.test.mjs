// How a manual restore looks to the store, on real servers: with the default incarnation, and with that of the server alone.
// docs/internals/claims.md: 27
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { PostgresStore } from "frazil/stores/postgres";
import { attempt } from "../kit/attempts.mjs";
import { runProgram } from "../kit/server-process.mjs";
import { PostgresServer, poolTo, program } from "./server.mjs";

/** The server without what tells its tables from their copies. */
const SERVER_ALONE = {
  sql: "SELECT (SELECT system_identifier FROM pg_control_system())::text || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)",
};

let server;
before(async () => {
  server = await PostgresServer.start();
});
after(() => server?.stop());

const run = (name, ...args) => runProgram(program(name), args, { user: "postgres" });

/** Leases two node ids, the second one after `keep()`; restores what was kept; and asks for one. Returns what it is answered. */
async function acquireAfter({ keep, restore }, incarnation, then = () => {}) {
  await server.query("DROP DATABASE IF EXISTS app WITH (FORCE)");
  await server.query("CREATE DATABASE app");
  const using = async (work) => {
    const pool = poolTo(server.urlOf("postgres", "app"));
    try {
      return await work(new PostgresStore(pool, { ...(incarnation && { incarnation }) }));
    } finally {
      await pool.end();
    }
  };
  const acquire = (store) => store.acquire(attempt({ scope: "default" }));
  await using(async (store) => {
    await store.migrate();
    await store.init({ layout: "default" });
    assert.equal((await acquire(store)).node, 0);
  });
  await keep?.();
  assert.equal((await using(acquire)).node, 1);
  await restore();
  return using(async (store) => {
    await then(store);
    return acquire(store);
  });
}

/** Each restore, and the options that see it. */
const RESTORES = {
  "a dump that is loaded into the same database": {
    keep: () => run("pg_dump", "--clean", "--file", `${server.data}/dump`, server.urlOf("postgres", "app")),
    restore: () =>
      run("psql", "--quiet", "--no-psqlrc", "--file", `${server.data}/dump`, server.urlOf("postgres", "app")),
    seenBy: [undefined, "postgres-with-start"],
    missedBy: [SERVER_ALONE],
  },
  "a clone of the database that takes its name": {
    async keep() {
      await server.query("DROP DATABASE IF EXISTS clone");
      await server.query("CREATE DATABASE clone TEMPLATE app");
    },
    async restore() {
      await server.query("DROP DATABASE app WITH (FORCE)");
      await server.query("ALTER DATABASE clone RENAME TO app");
    },
    seenBy: [undefined, "postgres-with-start"],
    missedBy: [SERVER_ALONE],
  },
  // As an old primary that is started again after its promoted standby, and a copy of the folder: neither has another timeline.
  "a table whose rows went back, on a server that was started since": {
    keep: () => run("pg_dump", "--data-only", "--file", `${server.data}/dump`, server.urlOf("postgres", "app")),
    async restore() {
      const url = server.urlOf("postgres", "app");
      run("psql", "--quiet", "--no-psqlrc", "--command", "TRUNCATE frazil_scopes, frazil_leases", url);
      run("psql", "--quiet", "--no-psqlrc", "--file", `${server.data}/dump`, url);
      await server.stop();
      await server.start();
    },
    seenBy: ["postgres-with-start"],
    missedBy: [undefined, SERVER_ALONE],
  },
};

for (const [name, { seenBy, missedBy, ...restored }] of Object.entries(RESTORES))
  describe(name, () => {
    for (const incarnation of seenBy)
      test(`${incarnation ?? "the default"} sees it: nothing is granted before a fence`, async () => {
        const { granted, reason } = await acquireAfter(restored, incarnation);
        assert.deepEqual([granted, reason], [false, "incarnation"]);
      });
    for (const incarnation of missedBy)
      test(`${JSON.stringify(incarnation) ?? "the default"} does not: a node id is granted twice, unless fence() is called`, async () => {
        assert.equal((await acquireAfter(restored, incarnation)).node, 1);
        const { reason } = await acquireAfter(restored, incarnation, (store) => store.fence());
        assert.equal(reason, "fenced");
      });
  });

test("a restart alone is no other incarnation by default, and one with the start", async () => {
  for (const [incarnation, reason] of [
    [undefined, undefined],
    ["postgres-with-start", "incarnation"],
  ]) {
    const restore = async () => {
      await server.stop();
      await server.start();
    };
    assert.equal((await acquireAfter({ restore }, incarnation)).reason, reason);
  }
});

test("the incarnation is the same for every session, and of the schema of the store", async () => {
  const pool = poolTo(server.url, { max: 1 });
  await pool.query('CREATE SCHEMA IF NOT EXISTS "a-b"; CREATE SCHEMA other');
  const incarnationsOf = async (options) => {
    const store = new PostgresStore(pool, { schema: "a-b", ...options });
    await store.migrate();
    await store.init({ layout: "default" });
    for (const zone of ["UTC", "Asia/Tokyo"]) {
      await pool.query(`SET search_path = other; SET TimeZone = '${zone}'; SET extra_float_digits = 0`);
      await store.ensure({ scope: "default", behind: false });
      assert.equal((await store.acquire(attempt({ scope: "default" }))).granted, true);
    }
  };
  await incarnationsOf();
  await pool.query('DROP TABLE "a-b".frazil_scopes, "a-b".frazil_leases');
  await incarnationsOf({ incarnation: "postgres-with-start" });
  await pool.end();
});
