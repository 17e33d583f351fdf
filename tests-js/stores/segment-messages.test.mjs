// The errors of segments, with real servers: a missing right, a lost record, and wrong values for a client or an option.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Segment } from "frazil/segment";
import { LeafSegments, MySqlStore, TinyidSegments } from "frazil/stores/mysql";
import { PostgresStore } from "frazil/stores/postgres";
import { RedisStore } from "frazil/stores/redis";
import { SqliteStore } from "frazil/stores/sqlite";
import mysql from "mysql2/promise";
import { told, wholeText } from "../base/rule-texts.mjs";
import { allocation, newTag } from "./kit/segments.mjs";
import { LEAF_ALLOC } from "./migrating/old-leaf-segments.mjs";
import { TINY_ID_INFO } from "./migrating/old-tinyid.mjs";
import { MySqlServer } from "./mysql/server.mjs";
import { PostgresServer, poolTo } from "./postgres/server.mjs";
import { openClient, startServer as startRedis } from "./redis/server.mjs";

const GRANT = /GRANT SELECT, UPDATE ON frazil_segments TO your_role; initSegment\(\) needs INSERT in addition/;

let postgres;
let pool;
let mariadb;
let mysqlPool;
before(async () => {
  postgres = await PostgresServer.start();
  pool = poolTo(postgres.url);
  await new PostgresStore(pool).migrate();
  mariadb = await MySqlServer.start({ "innodb-flush-log-at-trx-commit": 1 });
  mysqlPool = mysql.createPool(mariadb.address({ database: "test", connectionLimit: 4, multipleStatements: true }));
  await new MySqlStore(mysqlPool).migrate();
});
after(async () => {
  await pool?.end();
  await mysqlPool?.end();
  await postgres?.stop();
  await mariadb?.crash();
});

/** Checks an error. `parts`: what its message and its hint have. `never`: what they have not. */
async function rejects(promise, code, parts, never = []) {
  const error = await promise.then(
    () => assert.fail("it succeeded"),
    (error) => error,
  );
  assert.equal(error.code, code, error.stack);
  for (const part of parts) assert.match(wholeText(error), part);
  for (const part of never) assert.doesNotMatch(wholeText(error), part);
}

test("Postgres: a role without rights is told those of segments, and of leases where it asked for one", async () => {
  await postgres.query("CREATE ROLE program LOGIN");
  const own = poolTo(postgres.urlOf("program"));
  const store = new PostgresStore(own);
  await rejects(store.allocate(allocation()), "STORE_REFUSED", [GRANT], [/frazil_leases/]);
  await rejects(store.initSegment({ tag: "orders" }), "STORE_REFUSED", [GRANT], [/frazil_leases/]);
  await rejects(store.fence({ scope: "s" }), "STORE_REFUSED", [/frazil_leases/, /init\(\)/], [/frazil_segments/]);
  const schema = [/permission denied for schema public/, /CREATE/, /owner/];
  await postgres.query("REVOKE CREATE ON SCHEMA public FROM PUBLIC; DROP TABLE frazil_segments");
  await rejects(store.migrate(), "STORE_REFUSED", schema, [/UPDATE/]);
  await new PostgresStore(pool).migrate();
  await own.end();
});

test("MariaDB: a user without rights is told those of segments", async () => {
  await mysqlPool.query("CREATE USER program@'%'; GRANT SELECT ON test.frazil_segments TO program@'%'");
  const own = mysql.createPool(mariadb.address({ user: "program", database: "test", connectionLimit: 1 }));
  const store = new MySqlStore(own);
  const tag = newTag();
  await rejects(store.initSegment({ tag }), "STORE_REFUSED", [GRANT], [/frazil_leases/]);
  await new MySqlStore(mysqlPool).initSegment({ tag });
  await rejects(store.allocate(allocation({ tag })), "STORE_REFUSED", [GRANT], [/frazil_leases/]);
  await own.end();
});

describe("a record that was deleted under a process", () => {
  test("is not taken for a new tag", async () => {
    const store = new PostgresStore(pool);
    const tag = newTag();
    await store.initSegment({ tag });
    const { first, count } = await store.allocate(allocation({ tag }));
    await postgres.query("DELETE FROM frazil_segments");
    const end = first + BigInt(count);
    await rejects(
      store.allocate(allocation({ tag, above: end })),
      "STORE_NOT_INITIALISED",
      [/this process has had numbers up to 10\b/, /is not new/, new RegExp(`initSegment\\(\\{ tag: "${tag}", first: `)],
      [/If the tag is new/],
    );
    // Without numbers, nobody can tell.
    await rejects(store.allocate(allocation({ tag })), "STORE_NOT_INITIALISED", [/If the tag is new/]);
  });

  for (const [Store, ddl, table, tagColumn] of [
    [LeafSegments, LEAF_ALLOC, "leaf_alloc", "biz_tag"],
    [TinyidSegments, TINY_ID_INFO, "tiny_id_info", "biz_type"],
  ])
    test(`${table}: a row that is gone is not made again under its name`, async () => {
      await mysqlPool.query(ddl);
      const store = new Store(mysqlPool);
      const never = [/If the tag is new/, /INSERT/];
      const gone = [/this process has had numbers up to 10\b/, /moved to another store/];
      await rejects(
        store.allocate(allocation({ tag: "orders", above: 11n, maxCount: 10 })),
        "STORE_NOT_INITIALISED",
        gone,
        never,
      );
      const fresh = [
        /unless it moved to another store/,
        /If the tag is new/,
        new RegExp(`INSERT INTO test.${table} \\(${tagColumn}`),
      ];
      await rejects(store.allocate(allocation({ tag: "orders", maxCount: 10 })), "STORE_NOT_INITIALISED", fresh);
    });
});

test("Redis: a counter that was changed by hand: the key, the field, the value and what to do", async (context) => {
  const server = await startRedis();
  const client = await openClient(server.port);
  context.after(async () => {
    await client.close();
    await server.stop();
  });
  const store = new RedisStore(client);
  await store.initSegment({ tag: "orders" });
  await client.hSet("frazil:segment:orders", "next", "abc");
  const remedy = [
    /frazil:segment:orders/,
    /next of the tag "orders" in the key frazil:segment:orders must be an integer, got "abc"/,
    /It was changed by hand\. Set it/,
    /above every number that was handed out/,
  ];
  await rejects(store.allocate(allocation()), "STORE_REFUSED", remedy);
  await client.hSet("frazil:segment:orders", { next: "1000", recent: "{}" });
  await rejects(store.allocate(allocation()), "STORE_REFUSED", [/frazil:segment:orders/, /recent/, /Set it to \[\]/]);
  await rejects(store.allocate(allocation({ tag: "invoices" })), "STORE_NOT_INITIALISED", [/frazil:segment:invoices/]);
  await client.configSet("maxmemory-policy", "allkeys-lru");
  await rejects(store.allocate(allocation()), "STORE_REFUSED", [/allkeys-lru/, /counters/]);
});

test("Postgres: a column that was changed by hand: the table, the column and what to do", async () => {
  const store = new PostgresStore(pool);
  const tag = newTag();
  await store.initSegment({ tag });
  await postgres.query(`UPDATE frazil_segments SET recent = '{}' WHERE tag = '${tag}'`);
  await rejects(store.allocate(allocation({ tag })), "STORE_REFUSED", [/recent/, /Set it to \[\]/, new RegExp(tag)]);
});

test("a promise in place of a client: await it", () => {
  const promise = new Promise(() => {});
  for (const make of [
    () => new PostgresStore(promise),
    () => new MySqlStore(promise),
    () => new RedisStore(promise),
    () => new LeafSegments(promise),
    () => new SqliteStore(promise),
  ])
    assert.throws(
      make,
      told({ code: "INVALID_ARGUMENT", message: /(client|database) must be .*, got a promise\. .*Await it\.$/ }),
    );
});

test("options that a segment does not have: the names of those that it has", () => {
  const store = new PostgresStore(pool);
  const given = (options) => () => new Segment(store, options);
  const known = /tag, step, maxStep/;
  assert.throws(
    given({ scope: "orders" }),
    told({ code: "INVALID_OPTION", field: "scope", message: /It is an option of lease\(\)\.$/ }),
  );
  assert.throws(given({ name: "orders" }), told({ code: "INVALID_OPTION", field: "name", message: known }));
  assert.throws(given({ bizTag: "orders" }), told({ code: "INVALID_OPTION", field: "bizTag", message: known }));
  assert.throws(given({ stap: 10 }), told({ code: "INVALID_OPTION", message: /Did you mean "step"\?/ }));
});

test("SqliteStore takes no options", () => {
  const database = { prepare() {}, exec() {} };
  new SqliteStore(database);
  new SqliteStore(database, {});
  assert.throws(() => new SqliteStore(database, { schema: "x" }), { code: "INVALID_OPTION", field: "schema" });
});
