// The contract against a real MariaDB, through each driver in docs/reference/stores/mysql.md.
import { MySqlStore } from "frazil/stores/mysql";
import { leaseContract } from "frazil/testing/lease-contract";
import mariadb from "mariadb";
import callbacks from "mysql2";
import { openWithIncarnation } from "../kit/incarnation-table.mjs";
import { MySqlServer, withMysql2 } from "./server.mjs";

const init = (store) => (scope) => store.init({ ...scope, layout: "default" });
// docs/internals/claims.md: 22, 25, 26, 27
leaseContract({
  name: "mysql2: a pool, and connections, of a server whose clock tests move",
  open: () => openWithIncarnation(withMysql2),
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
