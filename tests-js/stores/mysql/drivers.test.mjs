// Faults with drivers of MariaDB and MySQL, their settings, and broken connections.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LeaseError } from "frazil";
import { MySqlStore } from "frazil/stores/mysql";
import { PostgresStore } from "frazil/stores/postgres";
import mariadb from "mariadb";
import callbacks from "mysql2";
import mysql from "mysql2/promise";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { attempt, releaseOf, renewalOf } from "../kit/attempts.mjs";
import { allocation, newTag } from "../kit/segments.mjs";
import { freePort } from "../kit/server-process.mjs";
import { newScope, pool, poolTo, rowOf, server, sessionWith, spied } from "./one-server.mjs";

for (const flags of ["FOUND_ROWS", "-FOUND_ROWS"]) {
  test(`a renewal that changes nothing is answered once more, with the flag ${flags}`, async () => {
    const own = poolTo({ flags: [flags] });
    const store = new MySqlStore(own);
    const scope = await newScope();
    const [{ affectedRows }] = await own.query("UPDATE frazil_scopes SET writes = writes");
    assert.equal(affectedRows > 0, flags === "FOUND_ROWS");
    const lease = await store.acquire(attempt({ scope }));
    // The window does not move: its end is far away.
    const request = renewalOf(lease, { scope, windowMs: 1 });
    for (let count = 0; count < 3; count++) assert.equal((await store.renew(request)).untilMs, lease.untilMs);
    if (flags === "-FOUND_ROWS") {
      const broken = spied(own, (text, run) => run(text.replace(/,\s+l\.writes = l\.writes \+ 1/, "")));
      await assert.rejects(new MySqlStore(broken).renew(request), { code: "STORE_UNAVAILABLE" });
    }
    await own.end();
  });
}

const OWNER = "O'Reilly \\' \" ? :node 😀 é";
const mysql2With = (name, more, ...settings) => [
  `mysql2, ${name}`,
  () => {
    const own = poolTo({ connectionLimit: 1, ...more });
    own.on("connection", (connection) => {
      for (const setting of settings) connection.query(setting);
    });
    return own;
  },
];
const mariadbWith = (name, more) => [
  `mariadb, ${name}`,
  () => mariadb.createPool(server.address({ database: "test", connectionLimit: 1, ...more })),
];
for (const [name, open] of [
  mysql2With("supportBigNumbers", { supportBigNumbers: true }),
  mysql2With("bigNumberStrings", { supportBigNumbers: true, bigNumberStrings: true }),
  mysql2With("rowsAsArray", { rowsAsArray: true }),
  mysql2With("namedPlaceholders", { namedPlaceholders: true }),
  mysql2With("nestTables", { nestTables: true }),
  mysql2With("typeCast: false for numbers", {
    typeCast: (field, next) => (field.type === "LONGLONG" ? field.string() : next()),
  }),
  mysql2With("bigint by typeCast", {
    typeCast: (field, next) => {
      if (field.type !== "LONGLONG") return next();
      const text = field.string();
      return text === null ? null : BigInt(text);
    },
  }),
  mysql2With("latin1", { charset: "latin1_swedish_ci" }),
  mysql2With("NO_BACKSLASH_ESCAPES", {}, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'"),
  mysql2With("sql_mode ANSI, not strict", {}, "SET sql_mode = 'ANSI'"),
  mysql2With("sql_mode TRADITIONAL", {}, "SET sql_mode = 'TRADITIONAL'"),
  mysql2With("sql_select_limit = 1", {}, "SET sql_select_limit = 1"),
  ...["utf16", "ucs2", "utf32"].flatMap((charset) => {
    const collation = `SET collation_connection = '${charset}_general_ci'`;
    return [
      mysql2With(`collation_connection ${charset}`, {}, collation),
      mysql2With(`collation_connection ${charset}, not strict`, {}, collation, "SET sql_mode = ''"),
    ];
  }),
  mysql2With("sql_safe_updates", {}, "SET sql_safe_updates = 1"),
  mysql2With("multipleStatements", { multipleStatements: true }),
  mariadbWith("its defaults", {}),
  mariadbWith("bigIntAsNumber, insertIdAsNumber", { bigIntAsNumber: true, insertIdAsNumber: true }),
  mariadbWith("bigNumberStrings", { supportBigNumbers: true, bigNumberStrings: true }),
  mariadbWith("rowsAsArray", { rowsAsArray: true }),
  mariadbWith("nestTables", { nestTables: true }),
  mariadbWith("metaAsArray", { metaAsArray: true }),
  mariadbWith("namedPlaceholders", { namedPlaceholders: true }),
  mariadbWith("foundRows: false", { foundRows: false }),
  ["mariadb, a connection", () => mariadb.createConnection(server.address({ database: "test" }))],
  ["mysql2, a connection", () => mysql.createConnection(server.address({ database: "test" }))],
]) {
  test(`${name}: a lease is acquired, renewed and released, and a fence raised`, async () => {
    const own = await open();
    const store = new MySqlStore(own);
    const scope = await newScope({ nodes: { from: 3, to: 80 } }, store);
    const leases = [];
    for (let count = 0; count < 3; count++) leases.push(await store.acquire(attempt({ scope, owner: OWNER })));
    assert.deepEqual(
      leases.map(({ node }) => node),
      [3, 4, 5],
    );
    assert.ok((await store.acquire(attempt({ scope, node: 70 }))).node === 70);
    const renewed = await store.renew(renewalOf(leases[0], { scope }));
    assert.ok(renewed.untilMs >= leases[0].untilMs);
    const { owner, until_ms } = await rowOf(scope, 3);
    assert.deepEqual([owner, until_ms], [OWNER, renewed.untilMs]);
    assert.equal(await store.release(releaseOf(leases[1], { scope })), true);
    assert.equal((await rowOf(scope, 4)).owner, null);
    await store.ensure({ scope, behind: true });
    assert.equal((await store.acquire(attempt({ scope }))).reason, "fenced");
    assert.ok((await store.fence({ scope })) > renewed.untilMs);
    const [{ layout, incarnation }] = await server.query(
      "SELECT * FROM frazil_scopes WHERE scope = ?",
      [scope],
      "test",
    );
    assert.ok(layout.endsWith("sequence12") && incarnation !== "", `${layout} ${incarnation}`);
    const tag = newTag();
    assert.equal(await store.initSegment({ tag }), true);
    assert.equal(await store.initSegment({ tag }), false);
    for (const first of [1n, 11n]) assert.equal((await store.allocate(allocation({ tag }))).first, first);
    await own.end();
  });
}

test("what is no client, or has callbacks only, is refused with what to do", async () => {
  for (const client of [undefined, null, 7, "mysql://me:secret@host/db", {}, { uri: "mysql://me:secret@host" }])
    assert.throws(
      () => new MySqlStore(client),
      (error) => {
        assert.deepEqual([error.code, error.field], ["INVALID_ARGUMENT", "client"]);
        assert.match(wholeText(error), /a pool or a connection of mysql2/);
        assert.doesNotMatch(JSON.stringify(error), /secret/);
        return true;
      },
    );
  // As the package `mysql` and mariadb/callback answer.
  for (const result of [undefined, { on() {} }])
    await assert.rejects(
      new MySqlStore({ query: () => result }).acquire(attempt()),
      told({
        code: "STORE_REFUSED",
        message: /mysql2\/promise or pool\.promise\(\)/,
      }),
    );
  const connection = callbacks.createConnection(server.address({ database: "test" }));
  const scope = await newScope();
  assert.ok((await new MySqlStore(connection).acquire(attempt({ scope }))).granted);
  await connection.promise().end();
  for (const result of [undefined, 7, [[[1]], []], [[null], []], {}])
    await assert.rejects(new MySqlStore({ query: async () => result }).acquire(attempt()), { code: "STORE_REFUSED" });
});

test("wrong options and requests are refused before the server is asked", async () => {
  const asked = [];
  const client = { query: (text) => asked.push(text) };
  for (const options of [
    { database: "" },
    { database: "a`b" },
    { database: 7 },
    { incarnation: "galera" },
    { incarnation: null },
    { incarnation: { sql: " " } },
    { incarnation: { sql: "'?'" } },
    { schema: "x" },
  ])
    assert.throws(() => new MySqlStore(client, options), { code: "INVALID_OPTION" }, JSON.stringify(options));
  const store = new MySqlStore(client);
  for (const wrong of [{ scope: "a'b" }, { grant: "x" }, { nonce: undefined }, { owner: "\0" }, { node: -1 }])
    await assert.rejects(store.acquire(attempt(wrong)), { code: "INVALID_ARGUMENT" });
  assert.deepEqual(asked, []);
});

/** Locks the rows of a scope until the call that it returns. */
async function lockRows(scope) {
  const blocker = await sessionWith("START TRANSACTION");
  await blocker.query("SELECT * FROM frazil_leases WHERE scope = ? FOR UPDATE", [scope]);
  return () => blocker.query("COMMIT");
}

for (const [name, open] of [
  ["mysql2", (user) => poolTo({ user })],
  ["mariadb", (user) => mariadb.createPool(server.address({ database: "test", user, connectionLimit: 2 }))],
]) {
  test(`${name}: a connection that breaks in mid-renewal is STORE_UNAVAILABLE, and the retry is accepted`, async () => {
    const user = `ended_${name}`;
    await server.query(`CREATE USER ${user}; GRANT ALL ON test.* TO ${user}`);
    const own = open(user);
    const store = new MySqlStore(own);
    const scope = await newScope();
    const lease = await store.acquire(attempt({ scope }));
    const unlock = await lockRows(scope);
    const request = renewalOf(lease, { scope });
    const renewal = assert.rejects(store.renew(request), (error) => {
      assert.ok(error instanceof LeaseError);
      assert.deepEqual([error.code, error.retryable], ["STORE_UNAVAILABLE", true]);
      assert.ok(error.cause instanceof Error);
      return true;
    });
    await sleep(200);
    await server.query(`KILL USER ${user}`);
    await renewal;
    // And when the caller does not wait any more.
    const signal = AbortSignal.timeout(50);
    await assert.rejects(store.renew({ ...request, signal }), (error) => error === signal.reason);
    await unlock();
    assert.ok((await store.renew(request)).granted);
    await own.end();
  });
}

test("a statement that the server takes for too large is refused, not taken for an outage", async () => {
  const scope = await newScope();
  const store = new MySqlStore(await sessionWith("SET max_join_size = 1"));
  await assert.rejects(
    store.acquire(attempt({ scope })),
    told({
      code: "STORE_REFUSED",
      retryable: false,
      message: /answered 1104 /,
    }),
  );
});

test("a server whose messages are German: each error is decided by its number", async () => {
  const german = await sessionWith("SET lc_messages = 'de_DE'");
  await assert.rejects(german.query("SELECT * FROM nothing"), { errno: 1146, message: /existiert nicht/ });
  const away = new MySqlStore(german, { database: "away" });
  await server.query("CREATE DATABASE away");
  assert.equal((await away.acquire(attempt())).reason, "missing");
  await assert.rejects(away.allocate(allocation()), { code: "STORE_NOT_INITIALISED" });
  const scope = await newScope();
  for (const sql of ["SELECT a FROM no_such_table", "SELECT a FROM frazil_other"])
    await assert.rejects(
      new MySqlStore(german, { incarnation: { sql } }).acquire(attempt({ scope })),
      told({
        code: "STORE_REFUSED",
        message: /answered 1146 /,
      }),
    );
});

test("a server that is not there is STORE_UNAVAILABLE with the cause, for each client", async () => {
  const address = { host: "127.0.0.1", port: await freePort(), user: "root" };
  const [one, two] = [mysql.createPool(address), mariadb.createPool({ ...address, acquireTimeout: 500 })];
  for (const client of [one, two])
    await assert.rejects(new MySqlStore(client).acquire(attempt()), (error) => {
      assert.deepEqual([error.code, error.retryable], ["STORE_UNAVAILABLE", true]);
      assert.ok(error.cause instanceof Error);
      return true;
    });
  await one.end();
  await two.end();
});

test("a client that aborts the signal while it fails: the reason, and no rejection that nobody handles", async () => {
  const controller = new AbortController();
  const client = {
    query() {
      controller.abort(new Error("stop"));
      return Promise.reject(new Error("after the abort"));
    },
  };
  const request = attempt({ signal: controller.signal });
  await assert.rejects(new MySqlStore(client).acquire(request), { message: "stop" });
  await sleep(10);
});

test("an answer that no server gives is refused with a code", async () => {
  for (const answer of [["x"], [Symbol("x")], [null], [[]], [], [[], []], null, undefined, 5, "x", [[{}]], [[null]]]) {
    const store = new MySqlStore({ query: async () => answer });
    for (const call of [
      () => store.acquire(attempt()),
      () => store.ensure({ scope: "s", behind: false }),
      () => store.fence(),
      () => store.migrate(),
      () => store.init({ layout: "default" }),
    ])
      await assert.rejects(call, { code: "STORE_REFUSED" });
  }
});

test("what this server answers a wrapped client of PostgresStore is refused at once", async (context) => {
  const [, open] = mariadbWith("its defaults", {});
  const other = open();
  context.after(() => other.end());
  for (const client of [pool, other]) {
    const store = new PostgresStore({ query: async (text) => client.query(text) });
    await assert.rejects(
      store.ensure({ scope: "default", behind: false }),
      told({
        code: "STORE_REFUSED",
        retryable: false,
        message: /answered 1064 .* MySqlStore of frazil\/stores\/mysql/s,
      }),
    );
  }
});
