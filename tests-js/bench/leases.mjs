// What the operations of lease stores cost on this machine: milliseconds, and how acquiring grows with the rows.
//
//   npm run bench -- leases                     every store
//   node tests-js/bench/leases.mjs postgres     one of them, whose server `npm test -- stores-postgres` installs
//
// The server is on this host, so a round trip costs little and the flush to disk most. `ensure` changes nothing here: it is a
// read. Half of the node ids are held; the rest were released.
import { Layout } from "frazil";
import { layoutText } from "frazil/lease";
import mysql from "mysql2/promise";
import pg from "pg";
import { createClient } from "redis";
import { STORES, serverModule } from "../stores/kit/all-stores.mjs";
import { attempt, hex, releaseOf } from "../stores/kit/attempts.mjs";
import { call, closeClient, connectClient } from "../stores/zookeeper/server.mjs";
import { quantile } from "./record.mjs";

const ROUNDS = 200;
const SIZES = [64, 1024];
/** The stores that make rows fast are measured with many besides. */
const MANY = { postgres: 16_384, redis: 16_384 };
/** How many processes start at once. */
const CLIENTS = 64;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The default layout, with room for the largest scope. */
const LAYOUT = new Layout({
  epochMs: Layout.named("default").epochMs,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "node", bits: 14 },
    { kind: "sequence", bits: 8 },
  ],
});
const layout = layoutText(LAYOUT);

async function acquire(store, scope, windowMs) {
  const request = attempt({ scope, windowMs, layout, owner: "bench" });
  const lease = await store.acquire(request);
  if (!lease.granted) throw new Error(JSON.stringify(lease));
  return { ...request, ...lease };
}

/** Makes the rows of a scope, by as many clients at once. Returns the seconds that took. */
async function fill(stores, scope, size) {
  const held = [];
  let left = size;
  const started = performance.now();
  await Promise.all(
    stores.map(async (store) => {
      while (left-- > 0) held.push(await acquire(store, scope, DAY_MS));
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const nodes = new Set(held.map(({ node }) => node));
  if (nodes.size !== size) throw new Error(`${held.length} grants of ${nodes.size} node ids`);
  for (const lease of held.filter(({ node }) => node % 2 === 1)) await stores[0].release(releaseOf(lease, { scope }));
  return seconds;
}

/** A round trip, and a write that the server flushes, through the client that the store is measured with; and what ends it. */
const BASELINES = {
  async postgres(server) {
    const pool = new pg.Pool({ connectionString: server.url, max: 1 });
    pool.on("error", () => {}); // the server ends before the pool
    await pool.query("CREATE TABLE baseline AS SELECT 1 AS n");
    return [() => pool.query("SELECT 1"), () => pool.query("UPDATE baseline SET n = n + 1"), () => pool.end()];
  },
  async mysql(server) {
    const client = await mysql.createConnection(server.address({ database: "test" }));
    await client.query("CREATE TABLE baseline AS SELECT 1 AS n");
    return [() => client.query("SELECT 1"), () => client.query("UPDATE baseline SET n = n + 1"), () => client.end()];
  },
  async redis(server) {
    const client = await createClient({ socket: { port: server.port } }).connect();
    return [() => client.ping(), () => client.set("baseline", "1"), () => client.close()];
  },
  async etcd(server) {
    const [key, value] = [btoa("baseline"), btoa("1")];
    return [() => server.call("kv/range", { key }), () => server.call("kv/put", { key, value }), () => {}];
  },
  async zookeeper(server) {
    const client = await connectClient(server.port);
    await call(client, "create", "/baseline");
    const write = () => call(client, "setData", "/baseline", Buffer.from("1"), -1);
    return [() => call(client, "exists", "/baseline"), write, () => closeClient(client)];
  },
};

async function measure(name) {
  const { startServer, connectStore } = await import(serverModule(name));
  const server = await startServer();
  const connections = await Promise.all(Array.from({ length: CLIENTS }, () => connectStore(server.port)));
  const stores = connections.map(({ store }) => store);
  const [store] = stores;
  await store.migrate?.();
  const times = {};
  const timed = async (operation, work) => {
    const started = performance.now();
    const result = await work();
    times[operation] ??= [];
    times[operation].push(performance.now() - started);
    return result;
  };
  const [roundTrip, write, end] = await BASELINES[name](server);
  const sizes = name in MANY ? [...SIZES, MANY[name]] : SIZES;
  const rates = [];
  for (const size of sizes) {
    await store.init({
      scope: `rows${size}`,
      layout: LAYOUT,
      nodes: { from: 0, to: size - 1 },
      windowMaxMs: DAY_MS,
    });
    rates.push(size / (await fill(stores, `rows${size}`, size)));
  }
  for (let round = 0; round < ROUNDS; round++) {
    await timed("a round trip", roundTrip);
    await timed("a write that is flushed", write);
    for (const size of sizes) {
      const scope = `rows${size}`;
      await timed(`ensure, ${size} rows`, () => store.ensure({ scope, behind: false }));
      const lease = await timed(`acquire, ${size} rows`, () => acquire(store, scope, 30_000));
      const renewal = { ...lease, nonce: hex() };
      const renewed = await timed(`renew, ${size} rows`, () => store.renew(renewal));
      if (!renewed.granted) throw new Error(JSON.stringify(renewed));
      await timed(`release, ${size} rows`, () => store.release(releaseOf(renewed, { scope })));
    }
  }
  await end();
  await Promise.all(connections.map(({ close }) => close()));
  await server.stop();
  for (const [operation, values] of Object.entries(times)) {
    const [p50, p99] = [0.5, 0.99].map((q) => quantile(values, q).toFixed(2));
    process.stdout.write(`| ${name} | ${operation} | ${p50} | ${p99} |\n`);
  }
  for (const [at, rate] of rates.entries())
    process.stdout.write(
      `| ${name} | ${sizes[at]} node ids to ${CLIENTS} clients | ${Math.round(rate)} a second | |\n`,
    );
}

process.stdout.write("| store | operation | p50 ms | p99 ms |\n|---|---|---|---|\n");
for (const name of process.argv.length > 2 ? process.argv.slice(2) : STORES) await measure(name);
