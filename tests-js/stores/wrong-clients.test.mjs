// Real clients in the store of another database. Without the refusal, a statement that the server cannot parse would look like an outage,
// which a lease's driver waits out.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { PGlite } from "@electric-sql/pglite";
import { lease } from "frazil/lease";
import { EtcdStore } from "frazil/stores/etcd";
import { MySqlStore } from "frazil/stores/mysql";
import { PostgresStore } from "frazil/stores/postgres";
import { RedisStore } from "frazil/stores/redis";
import { SqliteStore } from "frazil/stores/sqlite";
import { LeafStore, ZooKeeperStore } from "frazil/stores/zookeeper";
import Redis from "ioredis";
import mariadb from "mariadb";
import mysqlCallback from "mysql2";
import mysql from "mysql2/promise";
import zookeeper from "node-zookeeper-client";
import pg from "pg";
import postgres from "postgres";
import { createClient, createClientPool } from "redis";
import { told, wholeText } from "../base/rule-texts.mjs";
import { PostgresServer, poolTo } from "./postgres/server.mjs";

const STORES = { PostgresStore, MySqlStore, RedisStore, SqliteStore, ZooKeeperStore };
const nobody = { host: "127.0.0.1", port: 1, user: "me", password: "secret" };
const pools = [];
const closing = (pool) => {
  pools.push(pool);
  return pool;
};
after(() => Promise.allSettled(pools.map((pool) => (pool.promise?.() ?? pool).end())));

// Nothing connects: a constructor asks no server.
const CLIENTS = {
  "a Pool of pg": [PostgresStore, () => closing(new pg.Pool(nobody))],
  "a Client of pg": [PostgresStore, () => new pg.Client(nobody)],
  postgres: [PostgresStore, () => closing(postgres(nobody))],
  PGlite: [PostgresStore, () => Object.create(PGlite.prototype)],
  "a pool of mysql2/promise": [MySqlStore, () => closing(mysql.createPool(nobody))],
  "a pool of mysql2 with callbacks": [MySqlStore, () => closing(mysqlCallback.createPool(nobody))],
  "a pool of mariadb": [MySqlStore, () => closing(mariadb.createPool({ ...nobody, minimumIdle: 0 }))],
  "a client of redis": [RedisStore, () => createClient()],
  "a pool of redis": [RedisStore, () => createClientPool()],
  "a Redis of ioredis": [RedisStore, () => new Redis({ lazyConnect: true })],
  "a client of node-zookeeper-client": [ZooKeeperStore, () => zookeeper.createClient("127.0.0.1:1")],
};

for (const [name, [Right, open]] of Object.entries(CLIENTS)) {
  test(`${name} is accepted by ${Right.name}, and refused by the other stores with its name`, () => {
    const client = open();
    new Right(client);
    for (const Store of Object.values(STORES).filter((each) => each !== Right))
      assert.throws(
        () => new Store(client),
        (error) => {
          assert.equal(error.code, "INVALID_ARGUMENT", Store.name);
          assert.match(wholeText(error), new RegExp(`${Right.name} of frazil/stores/\\w+ takes it.$`), Store.name);
          assert.doesNotMatch(wholeText(error), /secret/);
          return true;
        },
      );
  });
}

test("a password or a connection string in the options is in no error, whatever name it was given", async () => {
  const text = "mysql://me:secret@127.0.0.1:1/db";
  const client = { query() {}, eval() {} };
  const etcd = (options) => new EtcdStore({ endpoints: ["http://127.0.0.1:1"], ...options });
  const zookeeper = (options) => new ZooKeeperStore(() => {}, options);
  const wrong = [text, new URL(text), { url: text }, { connection: { url: text } }];
  const calls = [
    ...[MySqlStore, PostgresStore, RedisStore].flatMap((Store) =>
      wrong.map((options) => () => new Store(client, options)),
    ),
    ...[MySqlStore, PostgresStore, RedisStore].map((Store) => () => new Store(client, { incarnation: new URL(text) })),
    ...[text, new URL(text), { endpoint: text }].map((options) => () => new EtcdStore(options)),
    ...[{ passwort: "secret" }, { pasword: "secret" }].map((options) => () => etcd(options)),
    ...[...wrong, { auth: "me:secret" }, { acl: "digest:me:secret" }].map((options) => () => zookeeper(options)),
    () => new LeafStore(() => {}, { leafName: "x", auth: "me:secret" }),
    ...wrong.map((options) => () => lease(new MySqlStore(client), options)),
  ];
  for (const call of calls)
    await assert.rejects(
      async () => call(),
      (error) => {
        assert.equal(error.code, "INVALID_OPTION");
        assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /secret/, `${call}`);
        return true;
      },
    );
});

test("what Postgres answers a wrapped client of MySqlStore is refused at once", async () => {
  const server = await PostgresServer.start();
  after(() => server.stop());
  const pool = closing(poolTo(server.url));
  pool.on("error", () => {}); // the server may stop before the pool ends
  const store = new MySqlStore({ query: ({ sql }, values) => pool.query(sql, values) });
  await assert.rejects(
    store.ensure({ scope: "default", behind: false }),
    told({
      code: "STORE_REFUSED",
      retryable: false,
      message: /answered 42601 .* It needs PostgresStore of frazil\/stores\/postgres/,
    }),
  );
});
