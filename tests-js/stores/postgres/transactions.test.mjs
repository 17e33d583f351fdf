// Clients inside a transaction of the program, whose rollback would undo what was handed out: each is refused, and later numbers and node
// ids of other programs do not repeat.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { PGlite } from "@electric-sql/pglite";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import postgres from "postgres";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { frazil } from "../../cli/cli.mjs";
import { attempt, newScopeOf, renewalOf } from "../kit/attempts.mjs";
import { allocation, newTag } from "../kit/segments.mjs";
import { PostgresServer, poolTo } from "./server.mjs";

const REFUSED = told({ code: "STORE_REFUSED", message: /inside a transaction of yours/ });

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

/** As above, with clients that do not show their transaction: what was written must be committed before it is answered. */
const HIDDEN = {
  async "an object of the program around a Client of pg"(work) {
    await TRANSACTIONS["a Client of pg"]((client) => work({ query: (text, values) => client.query(text, values) }));
  },
  async "postgres with one connection"(work) {
    const sql = postgres(server.url, { max: 1 });
    await sql.unsafe("BEGIN");
    await work(sql).finally(() => sql.end());
  },
  async "postgres, whose connection was reserved and released inside a transaction"(work) {
    const sql = postgres(server.url, { max: 1 });
    const reserved = await sql.reserve();
    await reserved`BEGIN`;
    reserved.release();
    await work(sql).finally(() => sql.end());
  },
  async "a Client of a pg that has no getTransactionStatus"(work) {
    await TRANSACTIONS["a Client of pg"]((client) => {
      client.getTransactionStatus = undefined;
      return work(client);
    });
  },
};

/** A client whose statements do not tell in which transaction they wrote. */
const blindTo = ({ query }) => ({
  query: (text, values) => query(text.replaceAll("txid_current_if_assigned()", "NULL"), values),
});

// docs/internals/claims.md: 28
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

  test("a mutant that does not look for the transaction repeats numbers", async () => {
    const tag = newTag();
    await store.initSegment({ tag });
    let inside;
    await HIDDEN["an object of the program around a Client of pg"](async (client) => {
      inside = await new PostgresStore(blindTo(client)).allocate(allocation({ tag }));
    });
    assert.equal((await store.allocate(allocation({ tag }))).first, inside.first, "the mutant shows nothing");
  });
});

describe("a foreign table", () => {
  const refused = told({ code: "STORE_REFUSED", message: /foreign table/ });
  /** A store whose incarnation an expression of the program tells: it is asked for no tables. */
  const storeOf = (client, schema = "far") => new PostgresStore(client, { schema, incarnation: { sql: "'one'" } });
  const WITH_LEASES = ["far", "far_part", "far_child", "far_view"];
  const OF_PUBLIC = "SERVER itself OPTIONS (schema_name 'public', table_name 'frazil_scopes')";
  // In each schema, one table or a part of it is a foreign table, or a view of one.
  before(() =>
    server.query(`CREATE EXTENSION postgres_fdw;
      CREATE SERVER itself FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '${server.port}', dbname 'postgres');
      CREATE USER MAPPING FOR postgres SERVER itself OPTIONS (user 'postgres');
      ${WITH_LEASES.map((schema) => `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.frazil_leases (LIKE frazil_leases INCLUDING ALL);`).join("")}
      IMPORT FOREIGN SCHEMA public LIMIT TO (frazil_scopes, frazil_segments) FROM SERVER itself INTO far;
      CREATE SCHEMA far_leases; IMPORT FOREIGN SCHEMA public LIMIT TO (frazil_leases) FROM SERVER itself INTO far_leases;
      CREATE TABLE far_leases.frazil_scopes (LIKE frazil_scopes INCLUDING ALL);
      CREATE TABLE far_part.frazil_scopes (LIKE frazil_scopes) PARTITION BY LIST (scope);
      CREATE TABLE far_part.inner_scopes PARTITION OF far_part.frazil_scopes DEFAULT PARTITION BY LIST (scope);
      CREATE FOREIGN TABLE far_part.outer_scopes PARTITION OF far_part.inner_scopes DEFAULT ${OF_PUBLIC};
      CREATE TABLE far_child.frazil_scopes (LIKE frazil_scopes INCLUDING ALL);
      CREATE FOREIGN TABLE far_child.more () INHERITS (far_child.frazil_scopes) ${OF_PUBLIC};
      CREATE VIEW far_view.frazil_scopes AS SELECT *, xmin FROM far.frazil_scopes;
      CREATE VIEW far_view.frazil_segments AS SELECT *, xmin FROM far.frazil_segments;
      CREATE SCHEMA plain_view; CREATE VIEW plain_view.frazil_segments AS TABLE far.frazil_segments;
      CREATE SCHEMA far_read; IMPORT FOREIGN SCHEMA public LIMIT TO (frazil_scopes, frazil_segments) FROM SERVER itself INTO far_read;
      ALTER FOREIGN TABLE far_read.frazil_scopes OPTIONS (ADD updatable 'false');
      CREATE SCHEMA read_part; CREATE TABLE read_part.frazil_scopes (LIKE frazil_scopes) PARTITION BY LIST (scope);
      CREATE FOREIGN TABLE read_part.part PARTITION OF read_part.frazil_scopes DEFAULT
        SERVER itself OPTIONS (schema_name 'public', table_name 'frazil_scopes', updatable 'false');
      CREATE TABLE read_part.frazil_leases (LIKE frazil_leases INCLUDING ALL)`),
  );
  const OURS = [undefined, "postgres", "postgres-with-start"];
  const stateOf = async (scope) => [
    await server.query("SELECT * FROM frazil_scopes WHERE scope = $1", [scope]),
    await server.query(WITH_LEASES.map((schema) => `TABLE ${schema}.frazil_leases`).join(" UNION ALL ")),
  ];

  // docs/internals/claims.md: 28
  test("its rows do not tell in which transaction they were written: a client that hides its transaction is refused", async () => {
    const tag = newTag();
    await store.initSegment({ tag });
    const scope = await newScopeOf(store);
    const { first } = await storeOf(pool).allocate(allocation({ tag }));
    let ofMutant;
    await HIDDEN["an object of the program around a Client of pg"](async (client) => {
      const blind = (text, values) => client.query(text.replaceAll("THEN 'foreign'", "THEN NULL"), values);
      ofMutant = await storeOf({ query: blind }).allocate(allocation({ tag }));
      await assert.rejects(storeOf(client).allocate(allocation({ tag })), refused);
      await assert.rejects(storeOf(client).fence({ scope }), refused);
    });
    const next = await storeOf(pool).allocate(allocation({ tag }));
    assert.deepEqual([next.first, ofMutant.first], [first + 10n, next.first], "the mutant shows nothing");
  });

  // docs/internals/claims.md: 27, 29
  test("its server may lose what it wrote while this one is as before: each client is refused, unless the program tells of that", async () => {
    const tag = newTag();
    await store.initSegment({ tag });
    for (const incarnation of OURS) {
      const far = new PostgresStore(pool, { schema: "far", ...(incarnation && { incarnation }) });
      await assert.rejects(far.allocate(allocation({ tag })), refused);
      await assert.rejects(far.initSegment({ tag: newTag() }), refused);
    }
    const sql = postgres(server.url, { max: 1 });
    for (const client of [sql, pool])
      for (const schema of ["far", "far_view", "plain_view"])
        await assert.rejects(new PostgresStore(client, { schema }).allocate(allocation({ tag })), refused);
    await sql.end();
    // What a promoted standby of that server may do.
    const [kept] = await server.query("SELECT * FROM frazil_segments WHERE tag = $1", [tag]);
    const { first } = await storeOf(pool).allocate(allocation({ tag }));
    const back = "UPDATE frazil_segments SET next_number = $2, recent = $3, incarnation = 'one' WHERE tag = $1";
    await server.query(back, [tag, first, kept.recent]);
    const again = await storeOf(pool).allocate(allocation({ tag }));
    assert.equal(again.first, first, "nothing shows the loss");
  });

  test("that it takes no writes is not taken for a server that cannot say its incarnation", async () => {
    const scope = await newScopeOf(store);
    const message = /does not allow updates\)\. If a table of frazil is a foreign table/;
    for (const schema of ["far_read", "read_part"]) {
      const far = new PostgresStore(pool, { schema });
      await assert.rejects(far.fence({ scope }), told({ code: "STORE_REFUSED", message }));
    }
  });

  test("a publication that leaves out rows is named by what the server says in detail", async () => {
    const own = await PostgresServer.start();
    const ownPool = poolTo(own.url);
    const published = new PostgresStore(ownPool);
    await published.migrate();
    const scope = await newScopeOf(published);
    await own.query("CREATE PUBLICATION part FOR TABLE frazil_leases WHERE (until_ms > 0)");
    const held = await published.acquire(attempt({ scope })).catch((error) => error);
    await ownPool.end();
    await own.stop();
    assert.equal(held.code, "STORE_REFUSED");
    assert.match(wholeText(held), /WHERE expression.*If a publication has it/);
  });

  // docs/internals/claims.md: 22
  describe("its leases", () => {
    for (const schema of [...WITH_LEASES, "far_leases"])
      test(`leases of the schema ${schema}: each call is refused and writes nothing, also the first of a scope with rows`, async () => {
        const scope = await newScopeOf(store);
        if (schema === "far_leases")
          await server.query(
            `INSERT INTO far_leases.frazil_scopes SELECT * FROM frazil_scopes WHERE scope = '${scope}'`,
          );
        // The rows that an earlier attempt made. A row of its own is granted without a look at the record.
        else await server.query(`INSERT INTO ${schema}.frazil_leases VALUES ('${scope}', 0, 0, 0)`);
        const held = await store.acquire(attempt({ scope }));
        const before = await stateOf(scope);
        const sql = postgres(server.url, { max: 1 });
        for (const client of [pool, sql])
          for (const incarnation of OURS) {
            const far = new PostgresStore(client, { schema, ...(incarnation && { incarnation }) });
            await assert.rejects(far.acquire(attempt({ scope })), refused);
            await assert.rejects(far.renew(renewalOf(held, { scope })), refused);
            await assert.rejects(far.ensure({ scope, behind: true }), refused);
            await assert.rejects(far.fence({ scope }), refused);
            await assert.rejects(far.init({ scope: `${scope}-2`, layout: "twitter" }), refused);
          }
        await sql.end();
        const { stdout } = await frazil(["fence", "postgres", "--scope", scope, "--schema", schema]);
        await assert.rejects(server.query(stdout), told({ code: "22P02", message: /is a foreign table/ }));
        assert.deepEqual(await stateOf(scope), before);
        if (schema === "far_leases") return;
        const sameServer = { sql: `'${before[0][0].incarnation}'` };
        const granted = await new PostgresStore(pool, { schema, incarnation: sameServer }).acquire(attempt({ scope }));
        assert.ok(granted.granted, "nothing would have been granted anyway");
      });
  });
});

// docs/internals/claims.md: 22
describe("a lease", () => {
  for (const [name, inTransaction] of Object.entries({ ...TRANSACTIONS, ...HIDDEN }))
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

  test("a mutant that does not look for the transaction grants a node id twice", async () => {
    const scope = await newScopeOf(store);
    let inside;
    await HIDDEN["an object of the program around a Client of pg"](async (client) => {
      inside = await new PostgresStore(blindTo(client)).acquire(attempt({ scope }));
    });
    assert.equal((await store.acquire(attempt({ scope }))).node, inside.node, "the mutant shows nothing");
  });

  /** Acquires inside a transaction behind a savepoint, which ends before its outcome is asked for. `change`: what becomes of the texts. */
  async function acquireBehindSavepoint(scope, end, change = (text) => text) {
    let acquired;
    await HIDDEN["an object of the program around a Client of pg"](async ({ query }) => {
      await query("SAVEPOINT a");
      const ending = async (text, values) => {
        if (text.includes("txid_status")) await query(end);
        return query(change(text), values);
      };
      acquired = await new PostgresStore({ query: ending }).acquire(attempt({ scope })).catch((error) => error);
    });
    return acquired;
  }
  const PART = "ROLLBACK TO a; COMMIT";

  for (const [end, lasts] of [
    ["COMMIT", true],
    ["RELEASE a; COMMIT", true],
    ["ROLLBACK", false],
    [PART, false],
  ])
    test(`a transaction that ends by ${end} before its outcome is asked for is ${lasts ? "granted" : "refused"}`, async () => {
      const scope = await newScopeOf(store);
      const acquired = await acquireBehindSavepoint(scope, end);
      if (lasts) assert.ok(acquired.granted);
      else REFUSED(acquired);
      assert.equal((await store.acquire(attempt({ scope }))).node, lasts ? 1 : 0);
    });

  test("a mutant that asks for the transaction around a savepoint grants a node id twice", async () => {
    const scope = await newScopeOf(store);
    const around = (text) => text.replaceAll(/([ls]\.)?xmin AS written/g, "NULL::xid AS written");
    const inside = await acquireBehindSavepoint(scope, PART, around);
    assert.equal((await store.acquire(attempt({ scope }))).node, inside.node, "the mutant shows nothing");
  });

  /** Acquires inside a transaction, during which the server crashes, and other programs write. As above. */
  async function acquireOverCrash(change = (text) => text) {
    // Nothing of what is not committed comes to the disk, so the number of the transaction is given once more.
    const settings = { wal_level: "minimal", max_wal_senders: 0, autovacuum: "off", wal_writer_delay: "10s" };
    const crashing = await PostgresServer.start(settings);
    const first = new pg.Client(crashing.url);
    first.on("error", () => {});
    await first.connect();
    await new PostgresStore(first).migrate();
    const scope = await newScopeOf(new PostgresStore(first));
    await first.query("BEGIN");
    let query = (text, values) => first.query(text, values);
    const inside = new PostgresStore({
      async query(text, values) {
        if (text.includes("txid_status")) {
          await crashing.crash();
          await crashing.start();
          query = (...statement) => crashing.query(...statement);
          for (let others = 0; others < 3; others++) await query("SELECT txid_current() AS xact_id");
        }
        return query(change(text), values);
      },
    });
    const acquired = await inside.acquire(attempt({ scope })).catch((error) => error);
    const next = await new PostgresStore({ query }).acquire(attempt({ scope }));
    await crashing.stop();
    return { acquired, next };
  }

  test("a transaction whose number a crashed server has given to another one: nothing is granted", async () => {
    const { acquired, next } = await acquireOverCrash();
    assert.deepEqual([acquired.code, acquired.retryable, next.node], ["STORE_UNAVAILABLE", true, 0]);
  });

  test("a mutant that does not look for the start of the server grants a node id twice", async () => {
    const { acquired, next } = await acquireOverCrash((text) =>
      text.replace(/split_part\(\$1::text, '@', 2\) = .*$/m, "true"),
    );
    assert.equal(next.node, acquired.node, "the mutant shows nothing");
  });

  test("a server that does not know the transaction has taken over: nothing is granted", async () => {
    const scope = await newScopeOf(store);
    const other = (text, values) => pool.query(text, text.includes("txid_status") ? ["9000000000000"] : values);
    await assert.rejects(new PostgresStore({ query: other }).acquire(attempt({ scope })), {
      code: "STORE_UNAVAILABLE",
      retryable: true,
    });
  });
});

// Statements of the program before and after those of the store, on one connection and without waiting.
// docs/internals/claims.md: 22
test("a Client of pg with pipeline: what runs between BEGIN and ROLLBACK of the program is refused", async () => {
  const client = new pg.Client({ connectionString: server.url, pipeline: true });
  await client.connect();
  const scope = await newScopeOf(store);
  const piped = new PostgresStore(client);
  for (let round = 0; round < 20; round++) {
    const begun = client.query("BEGIN");
    const acquired = assert.rejects(piped.acquire(attempt({ scope })), REFUSED);
    const ended = client.query("ROLLBACK");
    await Promise.all([begun, acquired, ended]);
  }
  assert.equal((await piped.acquire(attempt({ scope }))).node, 0);
  await client.end();
});

/** How a program releases a client: with what it has begun. */
const LEFT_OPEN = {
  BEGIN: (client) => client.query("BEGIN"),
  "BEGIN READ ONLY": (client) => client.query("BEGIN READ ONLY"),
  "a transaction that has failed": async (client) => {
    await client.query("BEGIN");
    await assert.rejects(client.query("SELECT 1 / 0"), { code: "22012" });
  },
  "a snapshot": (client) => client.query("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM frazil_leases"),
};
/** As tools for tracing wrap it: they pass the callback on, and their promise has no result then. */
class WrappedClient extends pg.Client {
  async query(...statement) {
    return await super.query(...statement);
  }
}

const POOLS = {
  "a Pool of pg": () => poolTo(server.url, { max: 3 }),
  "a Pool of clients whose query somebody has wrapped": () => poolTo(server.url, { max: 3, Client: WrappedClient }),
  "a Pool of pg with pipeline": () => poolTo(server.url, { max: 3, pipeline: true }),
  "a Pool of a pg that has no getTransactionStatus": () =>
    poolTo(server.url, { max: 3 }).on("connect", (client) => {
      client.getTransactionStatus = undefined;
    }),
};

// docs/internals/claims.md: 22, 28
describe("a pool whose clients were released inside a transaction", () => {
  for (const [name, open] of Object.entries(POOLS))
    for (const [how, leave] of Object.entries(LEFT_OPEN)) {
      // Without the status, its error is that of a replica: the pool ends the client, and the next attempt has another.
      if (how === "BEGIN READ ONLY" && name.endsWith("getTransactionStatus")) continue;
      test(`${name}, ${how}: each call has another client, and what it hands out lasts`, async () => {
        const own = open();
        const inside = new PostgresStore(own);
        const scope = await newScopeOf(store);
        const tag = newTag();
        await store.initSegment({ tag });
        /** Leaves all clients of the pool inside transactions, and rolls back what is done in these. */
        const among = async (work) => {
          const clients = await Promise.all([1, 2, 3].map(() => own.connect()));
          await Promise.all(clients.map(leave));
          for (const client of clients) client.release();
          const result = await work();
          for (const client of clients) await client.query("ROLLBACK").catch(() => {});
          return result;
        };
        const held = await among(() => inside.acquire(attempt({ scope })));
        const renewed = await among(() => inside.renew(renewalOf(held, { scope })));
        await among(() => inside.ensure({ scope, behind: true }));
        const { first } = await among(() => inside.allocate(allocation({ tag })));
        assert.equal(first, 1n);
        assert.equal((await store.allocate(allocation({ tag }))).first, 11n);
        assert.equal((await store.acquire(attempt({ scope }))).reason, "fenced");
        const [{ until_ms }] = await server.query("SELECT until_ms FROM frazil_leases WHERE scope = $1 AND node = $2", [
          scope,
          held.node,
        ]);
        assert.equal(Number(until_ms), renewed.untilMs);
        await own.end();
      });
    }

  test("a COMMIT of the program that is on its way is no transaction: the client stays", async () => {
    const own = poolTo(server.url, { max: 1 });
    const scope = await newScopeOf(store);
    const client = await own.connect();
    const { processID } = client;
    await client.query("BEGIN");
    const committed = client.query("COMMIT");
    client.release();
    assert.ok((await new PostgresStore(own).acquire(attempt({ scope }))).granted);
    await committed;
    assert.equal((await own.query("SELECT pg_backend_pid() AS pid")).rows[0].pid, processID);
    await own.end();
  });

  test("a pool that begins a transaction on each connection is told so, with what to do", async () => {
    const own = poolTo(server.url, { max: 1, onConnect: (client) => client.query("BEGIN") });
    await assert.rejects(
      new PostgresStore(own).ensure({ scope: "s", behind: false }),
      told({
        code: "STORE_UNAVAILABLE",
        message: /20 connections of the pool.*inside a transaction of yours.*COMMIT or ROLLBACK/,
      }),
    );
    await own.end();
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
  const scope = await newScopeOf(outside);
  await db.exec("BEGIN");
  await assert.rejects(outside.allocate(allocation()), REFUSED);
  await assert.rejects(outside.acquire(attempt({ scope })), REFUSED);
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
