// The contract against a real Redis, through each client in docs/reference/stores/redis.md, and a real Valkey.
import { RedisStore } from "frazil/stores/redis";
import { leaseContract } from "frazil/testing/lease-contract";
import Redis from "ioredis";
import { createClientPool, createCluster } from "redis";
import { createClient as createClient5 } from "redis5";
import { faketimeClock } from "../../processes/movable-clock.mjs";
import { connectStore, openClient, startServer, valkey } from "./server.mjs";

const init = (store) => (scope) => store.init({ ...scope, layout: "default" });

/**
 * A server that tests stop, with an incarnation that outlives a restart: that of the server would not. `clock`: what moves its
 * clock, if it can be moved.
 */
async function stoppable({ program, clock }) {
  const server = await startServer({ program, env: clock?.env });
  const options = { incarnation: { lua: 'redis.call("GET", "incarnation")' } };
  await server.command("SET", "incarnation", 1);
  const first = await connectStore(server.port, options);
  const closing = [first.close];
  let offsetMs = 0;
  // Valkey has read the clock a while before it runs a script.
  async function jumpClock(ms) {
    offsetMs += ms;
    await clock.jump(ms);
    for (;;) {
      const [seconds] = await first.client.eval('return redis.call("TIME")', { keys: [], arguments: [] });
      if (Math.abs(seconds * 1000 - Date.now() - offsetMs) < 5000) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  return {
    store: first.store,
    init: init(first.store),
    async connect() {
      const { store, close } = await connectStore(server.port, options);
      closing.push(close);
      return store;
    },
    ...(clock && { jumpClock }),
    changeIncarnation: () => server.command("INCR", "incarnation"),
    stop: () => server.stop(),
    start: () => server.start(),
    async close() {
      for (const close of closing) close();
      await server.stop();
    },
  };
}

// docs/internals/claims.md: 22, 25, 26, 27
leaseContract({ name: "redis: a client, and one more for each process", open: () => stoppable({}) });
// The clock of Debian's Redis cannot be moved: libfaketime and jemalloc each need the other to start.
// docs/internals/claims.md: 22, 25, 26, 27
leaseContract({
  name: "Valkey, whose clock tests move",
  open: () => stoppable({ program: valkey, clock: faketimeClock() }),
});

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
      const server = await startServer({ settings: { "cluster-enabled": "yes", "cluster-announce-ip": "127.0.0.1" } });
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
