// The contract against a real MariaDB, through each of the drivers that docs/stores/mysql.md names.
import { MySqlStore } from "frazil/stores/mysql";
import { leaseContract } from "frazil/testing/lease-contract";
import mariadb from "mariadb";
import callbacks from "mysql2";
import mysql from "mysql2/promise";
import { movableClock } from "../../movable-clock.mjs";
import { MySqlServer } from "./server.mjs";

const init = (store) => (scope) => store.init({ ...scope, layout: "default" });
// docs/safety.md: 22, 25, 26, 27
leaseContract({
  name: "mysql2: a pool, and connections, of a server whose clock tests move",
  async open() {
    const { env, jump } = movableClock();
    const server = await MySqlServer.start({}, env);
    await server.query("CREATE TABLE incarnation (value bigint); INSERT INTO incarnation VALUES (1)", [], "test");
    const options = { incarnation: { sql: "SELECT value FROM incarnation" } };
    const address = server.address({ database: "test" });
    const pool = mysql.createPool(address);
    const store = new MySqlStore(pool, options);
    await store.migrate();
    const clients = [];
    return {
      store,
      init: init(store),
      async connect() {
        const client = await mysql.createConnection(address);
        client.on("error", () => {});
        clients.push(client);
        return new MySqlStore(client, options);
      },
      jumpClock: jump,
      changeIncarnation: () => server.query("UPDATE incarnation SET value = value + 1", [], "test"),
      stop: () => server.stop(),
      start: () => server.start(),
      async close() {
        await Promise.all(clients.map((client) => client.end().catch(() => {})));
        await pool.end().catch(() => {});
        await server.stop();
      },
    };
  },
});

leaseContract({
  name: "mariadb: a pool, without CLIENT_FOUND_ROWS, in another database",
  async open() {
    const server = await MySqlServer.start();
    await server.query("CREATE DATABASE `Leases-2`");
    const pool = mariadb.createPool(server.address({ foundRows: false, connectionLimit: 8 }));
    const store = new MySqlStore(pool, { database: "Leases-2" });
    await store.migrate();
    const close = async () => {
      await pool.end();
      await server.stop();
    };
    return { store, init: init(store), stop: () => server.stop(), start: () => server.start(), close };
  },
});

leaseContract({
  name: "mysql2 with callbacks, without CLIENT_FOUND_ROWS, at SERIALIZABLE, with a binary log",
  async open() {
    const settings = { "log-bin": "log", "sync-binlog": 1, "transaction-isolation": "SERIALIZABLE" };
    const server = await MySqlServer.start(settings);
    const pool = callbacks.createPool(server.address({ database: "test", flags: ["-FOUND_ROWS"] }));
    const store = new MySqlStore(pool);
    await store.migrate();
    const close = async () => {
      await pool.promise().end();
      await server.stop();
    };
    return { store, init: init(store), close };
  },
});
