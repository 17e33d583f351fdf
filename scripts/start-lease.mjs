// The part of `npm start` that leases a node id and takes numbers of a segment, as every process of a fleet would: from Postgres,
// here PGlite, which runs in the process. Beside it `Snowflake.local()` mints, whose node id is that of the machine, if a
// directory for it is given.
import assert from "node:assert/strict";
import { PGlite } from "@electric-sql/pglite";
import { Snowflake } from "frazil";
import { lease } from "frazil/lease";
import { Segment } from "frazil/segment";
import { PostgresStore } from "frazil/stores/postgres";

const database = new PGlite();
const store = new PostgresStore(database);
// Once, when the application is deployed. Node id 0 is left to local() below: the two share no state.
await store.migrate();
await store.init({ layout: "default", nodes: { from: 1, to: 1023 } });
await store.initSegment({ tag: "orders" });

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
const orders = new Segment(store, { tag: "orders" });
const numbers = [await orders.next(), orders.tryNext(), ...(await orders.nextMany(3))];
assert.deepEqual(numbers, [1n, 2n, 3n, 4n, 5n]);
process.stdout.write(
  `The segment "orders" hands out ${numbers.join(", ")}: ${orders.stats().left} more are in memory.\n`,
);
orders.close();
local?.close();
await leased.close();
await database.close();
