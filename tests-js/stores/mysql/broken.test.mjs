// MariaDB: connections of a pool that break without a word.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MySqlStore } from "frazil/stores/mysql";
import mariadb from "mariadb";
import mysql from "mysql2/promise";
import { drawOverBrokenConnections, holdOverBrokenConnections, openAll } from "../broken-connections.mjs";
import { pool, server } from "./one-server.mjs";

for (const [name, make] of [
  ["mysql2", mysql.createPool],
  ["mariadb", mariadb.createPool],
])
  for (const connectionLimit of [1, 2]) {
    const storeAt = async (port) => {
      const pool = make({ ...server.address({ database: "test" }), port, connectionLimit, connectTimeout: 2000 });
      await openAll(connectionLimit, () => pool.query("SELECT SLEEP(0.1)"));
      return { store: new MySqlStore(pool), close: async () => void pool.end().catch(() => {}) };
    };

    test(`${name}, a pool of ${connectionLimit}: after all connections broke without a word, the next attempts have others`, async () => {
      await new MySqlStore(pool).initSegment({ tag: "orders" });
      await drawOverBrokenConnections(server.port, storeAt);
    });

    // `destroy()` of the package mariadb has the server KILL the session by its number, over another connection. A session that is gone is
    // an error, which nobody handles, so the process ends; and behind a load balancer the number may be another session's.
    test(`${name}, a pool of ${connectionLimit}: where the server has ended them meanwhile, too, and no session is killed`, async () => {
      await new MySqlStore(pool).initSegment({ tag: "orders" });
      await drawOverBrokenConnections(server.port, storeAt, { ended: true });
      const [{ Value }] = await server.query("SHOW GLOBAL STATUS LIKE 'Com_kill'");
      assert.equal(Value, "0");
    });

    test(`${name}, a pool of ${connectionLimit}: so does a lease whose attempts last half a second`, async () => {
      await new MySqlStore(pool).init({ scope: "short", layout: "default" }).catch((error) => {
        if (error.code !== "STATE_CONFLICT") throw error;
      });
      await holdOverBrokenConnections(server.port, storeAt);
    });
  }

test("an object around a pool, whose connections the store cannot destroy, has no numbers", async () => {
  const over = async (port) => {
    const pool = mysql.createPool({ ...server.address({ database: "test" }), port, connectionLimit: 1 });
    const store = new MySqlStore({ query: (statement, values) => pool.query(statement, values) });
    await store.initSegment({ tag: "orders" });
    return { store, close: async () => void pool.end().catch(() => {}) };
  };
  await assert.rejects(drawOverBrokenConnections(server.port, over), { code: "SEGMENT_EXHAUSTED" });
});
