// The contract against a real Postgres through `pg`. pglite.test.mjs and pgbouncer.test.mjs have the other drivers.
import { PostgresStore } from "frazil/stores/postgres";
import { leaseContract } from "frazil/testing/lease-contract";
import pg from "pg";
import { mappedClocks } from "../../processes/movable-clock.mjs";
import { openWithIncarnation } from "../kit/incarnation-table.mjs";
import { PostgresServer, poolTo } from "./server.mjs";

// docs/internals/claims.md: 22, 25, 26, 27
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
