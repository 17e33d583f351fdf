// The contract against a real Postgres, through each of the drivers that docs/stores.md names.
import { PGlite } from "@electric-sql/pglite";
import { PostgresStore } from "frazil/stores/postgres";
import { leaseContract } from "frazil/testing/lease-contract";
import pg from "pg";
import postgres from "postgres";
import { mappedClocks } from "../../movable-clock.mjs";
import { openWithIncarnation } from "../incarnation-table.mjs";
import { PostgresServer, poolTo, startBouncer } from "./server.mjs";

const init = (store) => (scope) => store.init({ ...scope, layout: "default" });
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
  name: "postgres, with prepared statements off, through pgbouncer in transaction mode, in a schema",
  async open() {
    const server = await PostgresServer.start();
    await server.query('CREATE SCHEMA "Leases"');
    const bouncer = await startBouncer(server);
    const sql = postgres(bouncer.url, { prepare: false, max: 8 });
    const store = new PostgresStore(sql, { schema: "Leases" });
    await store.migrate();
    const close = async () => {
      await sql.end();
      await bouncer.stop();
      await server.stop();
    };
    return { store, init: init(store), close };
  },
});

leaseContract({
  name: "PGlite",
  async open() {
    const db = await PGlite.create();
    const store = new PostgresStore(db);
    await store.migrate();
    return { store, init: init(store), hasClockOfProcess: true, close: () => db.close() };
  },
});
