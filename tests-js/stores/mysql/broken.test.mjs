// MariaDB: pool connections that break silently. The cases run at once, each with its own tag or scope, because each of them waits.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { MySqlStore } from "frazil/stores/mysql";
import mariadb from "mariadb";
import mysql from "mysql2/promise";
import { drawOverBrokenConnections, holdOverBrokenConnections, openAll } from "../kit/broken-connections.mjs";
import { pool, server } from "./one-server.mjs";

let made = 0;
async function newTag() {
  const tag = `orders-${++made}`;
  await new MySqlStore(pool).initSegment({ tag });
  return tag;
}

async function noSessionWasKilled() {
  const [{ Value }] = await server.query("SHOW GLOBAL STATUS LIKE 'Com_kill'");
  assert.equal(Value, "0");
}

describe("connections that break without a word", { concurrency: true }, () => {
  after(noSessionWasKilled);
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
        const tag = await newTag();
        await drawOverBrokenConnections(server.port, storeAt, { tag });
      });

      // `destroy()` of the package mariadb has the server KILL the session by its number, over another connection. A session that is gone
      // is an error, which nobody handles, so the process ends; and behind a load balancer the number may be another session's.
      test(`${name}, a pool of ${connectionLimit}: where the server has ended them meanwhile, too, and no session is killed`, async () => {
        const tag = await newTag();
        await drawOverBrokenConnections(server.port, storeAt, { tag, ended: true });
        await noSessionWasKilled();
      });

      test(`${name}, a pool of ${connectionLimit}: so does a lease whose attempts last half a second`, async () => {
        const scope = `short-${++made}`;
        await new MySqlStore(pool).init({ scope, layout: "default" });
        await holdOverBrokenConnections(server.port, storeAt, { scope });
      });
    }

  test("an object around a pool, whose connections the store cannot destroy, has no numbers", async () => {
    const over = async (port) => {
      const pool = mysql.createPool({ ...server.address({ database: "test" }), port, connectionLimit: 1 });
      const store = new MySqlStore({ query: (statement, values) => pool.query(statement, values) });
      return { store, close: async () => void pool.end().catch(() => {}) };
    };
    const tag = await newTag();
    await assert.rejects(drawOverBrokenConnections(server.port, over, { tag }), { code: "SEGMENT_EXHAUSTED" });
  });
});
