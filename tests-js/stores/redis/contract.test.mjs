// The contract against a real Redis, through each of the clients that docs/stores/redis.md names, and a real Valkey.
import { RedisStore } from "frazil/stores/redis";
import { leaseContract } from "frazil/testing/lease-contract";
import Redis from "ioredis";
import { createClientPool, createCluster } from "redis";
import { createClient as createClient5 } from "redis5";
import { movableClock } from "../server-process.mjs";
import { connectStore, openClient, startServer, valkey } from "./server.mjs";

const init = (store) => (scope) => store.init({ ...scope, layout: "default" });

/** A server whose clock tests move, with a store and clients of `redis`. */
async function movable(program) {
  const { env, jump } = movableClock();
  const server = await startServer({ program, env });
  const first = await connectStore(server.port);
  const closing = [first.close];
  return {
    store: first.store,
    init: init(first.store),
    async connect() {
      const { store, close } = await connectStore(server.port);
      closing.push(close);
      return store;
    },
    jumpClock: jump,
    changeIncarnation: () => server.promote(),
    stop: () => server.stop(),
    start: () => server.start(),
    async close() {
      for (const close of closing) close();
      await server.stop();
    },
  };
}

// docs/safety.md: 22, 25, 26, 27
leaseContract({ name: "redis: clients of a server whose clock tests move", open: () => movable() });
// docs/safety.md: 22, 25, 26, 27
if (valkey) leaseContract({ name: "Valkey, whose clock tests move", open: () => movable(valkey) });

/** A server, and a store on a client that `open` makes for its port. */
const contractOf = (name, open, settings) =>
  leaseContract({
    name,
    async open() {
      const server = await startServer({ settings });
      const [client, close] = await open(server);
      const store = new RedisStore(client);
      return {
        store,
        init: init(store),
        changeIncarnation: () => server.promote(),
        async close() {
          await close();
          await server.stop();
        },
      };
    },
  });

contractOf("redis 5", async ({ port }) => {
  const client = await openClient(port, { create: createClient5 });
  return [client, () => client.destroy()];
});
contractOf("redis 6: a pool, with RESP3", async ({ port }) => {
  const pool = createClientPool({ url: `redis://127.0.0.1:${port}`, RESP: 3 });
  pool.on("error", () => {});
  await pool.connect();
  return [pool, () => pool.destroy()];
});
contractOf("ioredis with a prefix of keys", async ({ port }) => {
  const client = new Redis({ port, keyPrefix: "app:" });
  client.on("error", () => {});
  return [client, () => client.disconnect()];
});
// A REST client turns texts that look like JSON into values.
contractOf("a call eval(script, keys, args) that turns texts into numbers, as Upstash's does", async ({ port }) => {
  const client = await openClient(port);
  const numbers = (value) => (/^\d+$/.test(value) ? Number(value) : value);
  const rest = {
    eval: async (script, keys, args) => (await client.eval(script, { keys, arguments: args })).map(numbers),
  };
  return [rest, () => client.destroy()];
});

/** Makes a server a Cluster of one. */
async function cluster(server) {
  const slots = Array.from({ length: 16384 }, (_, slot) => slot);
  await server.commands(["CLUSTER", "ADDSLOTS", ...slots]);
  while (!/^cluster_state:ok/m.test(await server.command("CLUSTER", "INFO")))
    await new Promise((resolve) => setTimeout(resolve, 50));
}
/** The contract on a Cluster of one, which cannot be made a replica and promoted. */
const contractOfCluster = (name, open) =>
  leaseContract({
    name,
    async open() {
      const server = await startServer({ settings: { "cluster-enabled": "yes" } });
      await cluster(server);
      const [client, close] = await open(server);
      const store = new RedisStore(client);
      const end = async () => {
        await close();
        await server.stop();
      };
      return { store, init: init(store), close: end };
    },
  });
contractOfCluster("redis 6: a Cluster", async ({ port }) => {
  const client = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] });
  client.on("error", () => {});
  await client.connect();
  return [client, () => client.destroy()];
});
contractOfCluster("ioredis: a Cluster", async ({ port }) => {
  const client = new Redis.Cluster([{ port, host: "127.0.0.1" }]);
  client.on("error", () => {});
  return [client, () => client.disconnect()];
});
