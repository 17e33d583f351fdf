// The contract through `postgres` and pgbouncer: a separate file, because `npm test` must not need pgbouncer.
import { PostgresStore } from "frazil/stores/postgres";
import { leaseContract } from "frazil/testing/lease-contract";
import postgres from "postgres";
import { PostgresServer, startBouncer } from "./server.mjs";

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
    return { store, init: (scope) => store.init({ ...scope, layout: "default" }), close };
  },
});
