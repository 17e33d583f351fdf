// The part of `npm start` that leases a node id, as every process of a fleet would: from Postgres, here PGlite, which runs in
// the process. Beside it `Snowflake.local()` mints, whose node id is that of the machine, if a directory for it is given.
import { PGlite } from "@electric-sql/pglite";
import { Snowflake } from "frazil";
import { lease } from "frazil/lease";
import { PostgresStore } from "frazil/stores/postgres";

const database = new PGlite();
const store = new PostgresStore(database);
// Once, when the application is deployed. Node id 0 is left to local() below: the two share no state.
await store.migrate();
await store.init({ layout: "default", nodes: { from: 1, to: 1023 } });

const leased = await lease(store);
const [, , dir] = process.argv;
const local = dir && Snowflake.local({ dir });
for (const [name, ids] of Object.entries({ "leased  ": leased, ...(local && { "local() ": local }) })) {
  process.stdout.write(`${name} ${ids.next()}   node ${ids.node}\n`);
}
const { untilMs } = leased.health().lease;
process.stdout.write(
  `The lease of node ${leased.node} lasts until ${new Date(untilMs).toISOString()}, unless it is renewed.\n`,
);
local?.close();
await leased.close();
await database.close();
