// What the operations of PostgresStore cost on this machine: milliseconds, round trips, and how acquiring grows with the rows.
//
//   node tests-js/bench/leases.mjs     after `npm test -- stores` has installed the server
//
// The server is on this host, so a round trip costs little and the flush to disk most. `SELECT 1` in the same round is the
// round trip, and an `UPDATE` of one row by its key is the flush.
import { randomBytes } from "node:crypto";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import { PostgresServer } from "../stores/postgres-server.mjs";

const ROUNDS = 300;
const SIZES = [64, 1024, 16_384];
const hex = () => randomBytes(16).toString("hex");
const fields = [
  { kind: "time", bits: 41 },
  { kind: "node", bits: 14 },
  { kind: "sequence", bits: 8 },
];
const layout = "0 1ms time41 node14 sequence8";

const server = await PostgresServer.start();
const client = new pg.Client({ connectionString: server.url });
await client.connect();
let trips = 0;
const counting = {
  query(text, values) {
    trips++;
    return client.query(text, values);
  },
};
const store = new PostgresStore(counting);
await store.migrate();
await client.query("CREATE TABLE one (id int PRIMARY KEY, a int); INSERT INTO one VALUES (1, 1)");

for (const size of SIZES) {
  const scope = `rows${size}`;
  await store.init({ scope, layout: { epochMs: 0, fields }, nodes: { from: 0, to: size - 1 } });
  // Every other node id is held; the rest were released at different times.
  await client.query(
    `INSERT INTO frazil_leases (scope, node, from_ms, until_ms, grant_id)
     SELECT $1, n, 0, CASE WHEN n % 2 = 0 THEN 9e15 ELSE n END, CASE WHEN n % 2 = 0 THEN md5($1 || n) END
     FROM generate_series(0, $2::int - 1) n`,
    [scope, size],
  );
  await client.query("UPDATE frazil_scopes SET next_node = node_to + 1 WHERE scope = $1", [scope]);
}
await client.query("VACUUM ANALYZE");

const times = {};
const roundTrips = {};
async function timed(name, work) {
  const before = trips;
  const started = performance.now();
  const result = await work();
  times[name] ??= [];
  times[name].push(performance.now() - started);
  roundTrips[name] = Math.max(roundTrips[name] ?? 0, trips - before);
  return result;
}

for (let round = 0; round < ROUNDS; round++) {
  await timed("SELECT 1", () => client.query("SELECT 1"));
  await timed("UPDATE by key", () => client.query("UPDATE one SET a = a + 1 WHERE id = 1"));
  for (const size of SIZES) {
    const request = { scope: `rows${size}`, grant: hex(), nonce: hex(), windowMs: 30_000, layout, owner: "bench" };
    const lease = await timed(`acquire, ${size} rows`, () => store.acquire(request));
    if (!lease.granted) throw new Error(JSON.stringify(lease));
    const renewal = { ...request, nonce: hex(), node: lease.node, untilMs: lease.untilMs };
    const renewed = await timed(`renew, ${size} rows`, () => store.renew(renewal));
    if (!renewed.granted) throw new Error(JSON.stringify(renewed));
    const released = {
      scope: request.scope,
      grant: lease.grant,
      node: lease.node,
      untilMs: 0,
      heldUntilMs: renewed.untilMs,
    };
    await timed(`release, ${size} rows`, () => store.release(released));
  }
}
await client.end();
await server.stop();

const quantile = (values, q) => values.toSorted((a, b) => a - b)[Math.floor(q * (values.length - 1))];
process.stdout.write(`| operation | p50 ms | p99 ms | round trips |\n|---|---|---|---|\n`);
for (const [name, values] of Object.entries(times)) {
  const [p50, p99] = [0.5, 0.99].map((q) => quantile(values, q).toFixed(2));
  process.stdout.write(`| ${name} | ${p50} | ${p99} | ${roundTrips[name] || 1} |\n`);
}
const ratio = quantile(times["acquire, 1024 rows"], 0.5) / quantile(times["acquire, 64 rows"], 0.5);
process.stdout.write(`\nacquire at 1,024 rows takes ${ratio.toFixed(2)} times as long as at 64.\n`);
