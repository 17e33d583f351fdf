// The contract against PGlite.
import { PGlite } from "@electric-sql/pglite";
import { PostgresStore } from "frazil/stores/postgres";
import { leaseContract } from "frazil/testing/lease-contract";

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
