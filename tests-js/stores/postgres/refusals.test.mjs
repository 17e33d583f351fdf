// Refusals and failures of Postgres and its clients: rights, missing tables, options, clients, languages.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import { Layout } from "frazil";
import { PostgresStore } from "frazil/stores/postgres";
import postgres from "postgres";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { attempt, checkSetUp, hex, renewalOf } from "../kit/attempts.mjs";
import { PostgresServer, poolTo } from "./server.mjs";
import { closing, newScope, pool, server } from "./shared-server.mjs";

test("a role without rights is refused, and the error names them", async () => {
  await server.query("CREATE ROLE nobody LOGIN");
  const own = poolTo(server.urlOf("nobody"));
  closing.push(() => own.end());
  const store = new PostgresStore(own);
  const refused = told({
    code: "STORE_REFUSED",
    message: /GRANT SELECT, UPDATE ON frazil_scopes TO your_role; GRANT SELECT, INSERT, UPDATE/,
  });
  await assert.rejects(store.acquire(attempt()), refused);
  await assert.rejects(store.init({ layout: "default" }), refused);
  // The tables exist, so nothing is created.
  await store.migrate();
  await server.query("REVOKE EXECUTE ON FUNCTION pg_current_wal_lsn() FROM PUBLIC");
  await server.query("GRANT ALL ON frazil_scopes, frazil_leases TO nobody");
  await assert.rejects(store.acquire(attempt()), told({ code: "STORE_REFUSED", message: /pg_current_wal_lsn/ }));
  await server.query("GRANT EXECUTE ON FUNCTION pg_current_wal_lsn() TO PUBLIC");
  const bad = poolTo(server.urlOf("postgres", "nowhere"));
  await assert.rejects(new PostgresStore(bad).acquire(attempt()), told({ code: "STORE_REFUSED", message: /nowhere/ }));
  await bad.end();
});

// docs/internals/claims.md: 27
test("fence() of a role whose record a policy or a trigger keeps as it is is refused, and resolves to no fence", async () => {
  const own = await PostgresServer.start();
  const owner = poolTo(own.url);
  const store = new PostgresStore(owner);
  await store.migrate();
  const scope = await newScope({}, store);
  await own.query(`CREATE ROLE app LOGIN; GRANT SELECT, UPDATE ON frazil_scopes TO app; GRANT ALL ON frazil_leases TO app;
    CREATE POLICY seen ON frazil_scopes FOR SELECT USING (true);
    CREATE FUNCTION old() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'`);
  const app = poolTo(own.urlOf("app"));
  const kept = told({ code: "STORE_REFUSED", message: /the fence of the scope "s\w+" was not raised/ });
  await own.query("ALTER TABLE frazil_scopes ENABLE ROW LEVEL SECURITY");
  await assert.rejects(new PostgresStore(app).fence({ scope }), kept);
  await own.query(`ALTER TABLE frazil_scopes DISABLE ROW LEVEL SECURITY;
    CREATE TRIGGER old BEFORE UPDATE ON frazil_scopes FOR EACH ROW EXECUTE FUNCTION old()`);
  await assert.rejects(new PostgresStore(app).fence({ scope }), kept);
  await own.query("DROP TRIGGER old ON frazil_scopes");
  assert.ok((await new PostgresStore(app).fence({ scope })) >= Date.now() + 60_000);
  // Its SQLSTATE is that of a server that lacks a function.
  await own.query("CREATE RULE nothing AS ON UPDATE TO frazil_leases DO INSTEAD NOTHING");
  await assert.rejects(store.acquire(attempt({ scope })), (error) => {
    const text = wholeText(error);
    assert.deepEqual([error.code, /0A000/.test(text), /incarnation/.test(text)], ["STORE_REFUSED", true, false]);
    return true;
  });
  for (const each of [app, owner]) await each.end();
  await own.stop();
});

test("an incarnation that the server cannot tell is refused, and the error names the option", async () => {
  // As on a server that has no such function (CockroachDB).
  await assert.rejects(
    new PostgresStore(pool, { incarnation: { sql: "SELECT no_such_function()" } }).acquire(attempt()),
    told({
      code: "STORE_REFUSED",
      message: /Pass the option incarnation/,
    }),
  );
  // As Aurora refuses it (pg_gather#9, mackerel-agent-plugins#804).
  const refusal = new Error("wal_level must be set to 'logical'");
  const query = () => Promise.reject(Object.assign(refusal, { code: "55000" }));
  await assert.rejects(
    new PostgresStore({ query }).acquire(attempt()),
    told({ code: "STORE_REFUSED", message: /Aurora/ }),
  );
  await assert.rejects(
    new PostgresStore(pool, { incarnation: { sql: "SELECT FROM WHERE" } }).acquire(attempt()),
    told({
      code: "STORE_REFUSED",
      message: /42601/,
    }),
  );
  await assert.rejects(
    new PostgresStore(pool, { incarnation: { sql: "SELECT a FROM no_such_table" } }).acquire(attempt()),
    told({
      code: "STORE_REFUSED",
      message: /no_such_table/,
    }),
  );
});

test("without tables or a record, the error says what to call", async () => {
  const db = await PGlite.create();
  await checkSetUp(new PostgresStore(db), () => db.query("DELETE FROM frazil_scopes"));
  await assert.rejects(
    new PostgresStore(db, { schema: "nowhere" }).migrate(),
    told({
      code: "STORE_REFUSED",
      message: /schema/,
    }),
  );
  await db.close();
});

test("npx frazil ddl prints what migrate and init do, and what a role needs", async () => {
  const cli = fileURLToPath(new URL("../../../npm/frazil/dist/cli.mjs", import.meta.url));
  const ddl = (...args) => execFileSync(process.execPath, [cli, "ddl", "postgres", ...args], { encoding: "utf8" });
  await server.query('CREATE ROLE "my app" LOGIN; CREATE SCHEMA ids; GRANT USAGE ON SCHEMA ids TO "my app"');
  const script = ddl(
    "--scope",
    "orders",
    "--nodes",
    "5-6",
    "--window-max",
    "9000",
    "--role",
    "my app",
    "--schema",
    "ids",
  );
  await server.query(script);
  const own = poolTo(server.urlOf("my%20app"));
  const store = new PostgresStore(own, { schema: "ids" });
  const lease = await store.acquire(attempt({ scope: "orders", windowMs: 9000 }));
  assert.deepEqual([lease.granted, lease.node], [true, 5]);
  assert.ok((await store.renew(renewalOf(lease, { scope: "orders", windowMs: 9000 }))).granted);
  assert.equal(
    await store.release({ scope: "orders", grant: lease.grant, node: 5, untilMs: 0, heldUntilMs: 8e15 }),
    true,
  );
  await store.ensure({ scope: "orders", behind: true });
  // The record is written once, and the tables are the same as those of migrate().
  await assert.rejects(server.query(script), { code: "23505" });
  await store.migrate();
  const columns = `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
    WHERE table_schema = $1 AND table_name LIKE 'frazil%' ORDER BY 1, 2`;
  assert.deepEqual(await server.query(columns, ["ids"]), await server.query(columns, ["public"]));
  // Without a role nothing in it can fail.
  assert.match(ddl(), /^-- GRANT SELECT, UPDATE ON frazil_scopes TO your_role;$/m);
  await own.end();
});

test("what is no client is refused: the error names what was given and what is accepted, and no password", () => {
  for (const client of [
    undefined,
    null,
    7,
    "postgres://me:secret@host/db",
    {},
    { connectionString: "postgres://me:secret@host" },
    () => {},
  ]) {
    assert.throws(
      () => new PostgresStore(client),
      (error) => {
        assert.deepEqual([error.code, error.field], ["INVALID_ARGUMENT", "client"]);
        assert.match(wholeText(error), /Pool or Client of pg, a client of postgres, PGlite/);
        assert.doesNotMatch(JSON.stringify(error), /secret/);
        return true;
      },
    );
  }
  assert.throws(
    () => new PostgresStore({ prepare() {}, exec() {} }),
    told({
      message: /SqliteStore of frazil\/stores\/sqlite/,
    }),
  );
});

test("wrong options and requests are refused before the server is asked", async () => {
  const asked = [];
  const client = { query: (text) => asked.push(text) };
  for (const options of [
    { schema: "" },
    { schema: 'a"b' },
    { schema: 7 },
    { incarnation: "aurora" },
    { incarnation: null },
    { incarnation: { sql: " " } },
    { incarnation: "none" },
    { shema: "x" },
  ])
    assert.throws(() => new PostgresStore(client, options), { code: "INVALID_OPTION" }, JSON.stringify(options));
  const store = new PostgresStore(client);
  const wrong = [
    ["scope", ["", "1a", "a b", "a".repeat(33), undefined, 7]],
    ["grant", ["", "a".repeat(31), "A".repeat(32), "g".repeat(32), 7]],
    ["nonce", ["", undefined]],
    ["windowMs", [0, -1, 1.5, Number.NaN, "1000", 1n]],
    ["layout", ["", undefined, "a\0b"]],
  ];
  for (const [field, values] of wrong)
    for (const value of values) {
      const given = { code: "INVALID_ARGUMENT", field };
      await assert.rejects(store.acquire(attempt({ [field]: value })), given, `acquire ${field} ${String(value)}`);
      const renewal = renewalOf({ grant: hex(), node: 1, untilMs: 1 }, { [field]: value });
      await assert.rejects(store.renew(renewal), given, `renew ${field} ${String(value)}`);
    }
  for (const owner of [undefined, 7, "a".repeat(201), "a\0"])
    await assert.rejects(store.acquire(attempt({ owner })), { code: "INVALID_ARGUMENT", field: "owner" });
  for (const node of [-1, 1.5, 2 ** 32, "1", null])
    await assert.rejects(store.acquire(attempt({ node })), { code: "INVALID_ARGUMENT", field: "node" });
  for (const untilMs of [-1, 1.5, 1e16, "1", undefined])
    await assert.rejects(store.release({ scope: "s", grant: hex(), node: 1, untilMs, heldUntilMs: 8e15 }), {
      field: "untilMs",
    });
  await assert.rejects(store.ensure({ scope: "s" }), { code: "INVALID_ARGUMENT", field: "behind" });
  await assert.rejects(store.acquire(), { code: "INVALID_ARGUMENT", field: "request" });
  for (const [field, options] of [
    // In seconds; and less than three ticks.
    ["windowMaxMs", { layout: "default", windowMaxMs: 60 }],
    ["windowMaxMs", { layout: Layout.named("baidu").with({ epochMs: 1_704_067_200_000 }), windowMaxMs: 2999 }],
    ["windowMaxMs", { layout: "default", windowMaxMs: 86_400_001 }],
    ["nodes.to", { layout: "default", nodes: { from: 0, to: 1024 } }],
    ["nodes.from", { layout: "default", nodes: { from: -1, to: 3 } }],
    ["nodes.to", { layout: "default", nodes: { from: 3, to: 2 } }],
    ["layuot", { layuot: "default" }],
    ["scope", { layout: "default", scope: "a b" }],
  ])
    await assert.rejects(store.init(options), { field }, JSON.stringify(options));
  await assert.rejects(store.init({ layout: "nope" }), { code: "INVALID_LAYOUT" });
  assert.deepEqual(asked, []);
});

test("a client that answers something else is refused", async () => {
  for (const result of [undefined, {}, 7, { rows: [[1]] }, [null]])
    await assert.rejects(new PostgresStore({ query: async () => result }).acquire(attempt()), {
      code: "STORE_REFUSED",
    });
  const row = { reason: null, now_ms: "1", node: "x", from_ms: 1, until_ms: 1, xact_id: null };
  await assert.rejects(
    new PostgresStore({ query: async () => [row] }).acquire(attempt()),
    told({
      code: "STORE_REFUSED",
      message: /node must be an integer .*, got x$/,
    }),
  );
});

test("a client that renames columns is refused, and the error names the transform", async () => {
  for (const name of ["camel", "pascal"]) {
    const sql = postgres(server.url, { max: 1, transform: postgres[name] });
    const message = /returned the columns nowMs/i;
    await assert.rejects(new PostgresStore(sql).acquire(attempt()), {
      code: "STORE_REFUSED",
      retryable: false,
      message,
    });
    await assert.rejects(
      new PostgresStore(sql).initSegment({ tag: name }),
      told({ message: /such as postgres\.camel\.$/ }),
    );
    await sql.end();
  }
});

// Debian has no locale of another language. `LANGUAGE` counts where the locale is not named C.
test("a server whose messages are German: each error is decided by its code", async () => {
  const german = await PostgresServer.start({ lc_messages: "C.UTF-8" }, { LANGUAGE: "de" });
  closing.push(() => german.stop());
  await assert.rejects(german.query("SELECT 1 / 0"), told({ message: /durch Null/ }));
  const own = poolTo(german.url);
  closing.push(() => own.end());
  const store = new PostgresStore(own);
  assert.equal((await store.acquire(attempt())).reason, "missing");
  await assert.rejects(store.init({ layout: "default" }), { code: "STORE_NOT_INITIALISED" });
  await store.migrate();
  await store.init({ scope: "s", layout: "default" });
  const withIncarnation = (sql) => new PostgresStore(own, { incarnation: { sql } });
  for (const [sql, message] of [
    ["SELECT a FROM no_such_table", /answered 42P01 .*no_such_table/],
    ["SELECT a FROM frazil_other", /answered 42P01 .*frazil_other/],
  ])
    await assert.rejects(withIncarnation(sql).acquire(attempt()), told({ code: "STORE_REFUSED", message }));
  await assert.rejects(
    withIncarnation("NULL").init({ scope: "none", layout: "default" }),
    told({
      code: "STORE_REFUSED",
      message: /option incarnation is null or empty/,
    }),
  );
  await german.query("CREATE ROLE nobody LOGIN");
  const nobody = poolTo(german.urlOf("nobody"));
  closing.push(() => nobody.end());
  await assert.rejects(new PostgresStore(nobody).acquire(attempt()), told({ message: /GRANT SELECT, INSERT, UPDATE/ }));
  await assert.rejects(
    new PostgresStore(nobody, { schema: "pg_catalog" }).migrate(),
    told({
      message: /migrate\(\) needs CREATE on the schema/,
    }),
  );
  const replica = await german.standby();
  closing.push(() => replica.stop());
  const reading = poolTo(replica.url);
  closing.push(() => reading.end());
  const refused = told({ code: "STORE_REFUSED", message: /read-only replica.*Connect to the primary/ });
  await assert.rejects(new PostgresStore(reading).ensure({ scope: "s", behind: false }), refused);
  await assert.rejects(new PostgresStore(reading).acquire(attempt()), refused);
});

test("Neon's call: query is taken, not unsafe, and rows may be the result itself", async () => {
  const sql = () => {};
  sql.unsafe = () => assert.fail("unsafe makes a part of a statement there");
  sql.query = async (text, values) => (await pool.query(text, values)).rows;
  const scope = await newScope({}, new PostgresStore(sql));
  assert.ok((await new PostgresStore(sql).acquire(attempt({ scope }))).granted);
});
