// The contract against a real Postgres through `pg`, and against PGlite. pgbouncer.test.mjs has the third driver.
import { PGlite } from "@electric-sql/pglite";
import { PostgresStore } from "frazil/stores/postgres";
import { leaseContract } from "frazil/testing/lease-contract";
import pg from "pg";
import { mappedClocks } from "../../processes/movable-clock.mjs";
import { openWithIncarnation } from "../kit/incarnation-table.mjs";
import { PostgresServer, poolTo } from "./server.mjs";

// docs/safety.md: 22, 25, 26, 27
leaseContract({
  name: "pg: a pool, and clients, of a server whose clock tests move",
  open: () =>
    openWithIncarnation({
      Store: PostgresStore,
      newClock: mappedClocks,
      start: (env) => PostgresServer.start({ max_connections: 200 }, env),
      query: (server, sql) => server.query(sql),
      poolTo: (server) => poolTo(server.url),
      async connect(server) {
        const client = new pg.Client({ connectionString: server.url });
        client.on("error", () => {});
        await client.connect();
        return client;
      },
    }),
});

leaseContract({
  name: "PGlite",
  async open() {
    const db = await PGlite.create();
    const store = new PostgresStore(db);
    await store.migrate();
    return {
      store,
      init: (scope) => store.init({ ...scope, layout: "default" }),
      hasClockOfProcess: true,
      close: () => db.close(),
    };
  },
});
