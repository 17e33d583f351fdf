// Segments in a real Redis and a real Valkey: the contract through each client, and failovers that lose allocations.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Segment } from "frazil/segment";
import { RedisStore } from "frazil/stores/redis";
import { segmentContract } from "frazil/testing/segment-contract";
import Redis from "ioredis";
import { createClientPool } from "redis";
import { createClient as createClient5 } from "redis5";
import { told } from "../../base/rule-texts.mjs";
import { repeatsOf, segmentFailoverTests } from "../kit/segment-failover.mjs";
import { caught, checkBlindReplace, checkLostRace, checkWrittenByHand, initIn, OVERLAPS } from "../kit/segments.mjs";
import { connectStore, openClient, replicatedPair, startServer, valkey } from "./server.mjs";

const PROGRAMS = { Redis: undefined, Valkey: valkey };

const starting = {};
/** A server of this file. */
const running = (name = "Redis") => {
  starting[name] ??= startServer({ program: PROGRAMS[name] });
  return starting[name];
};
after(async () => {
  for (const server of await Promise.all(Object.values(starting))) await server.stop();
});

/** A client, and one more for each process, of a server with an incarnation that tests change. */
async function open(name) {
  const server = await running(name);
  const options = { incarnation: { lua: 'redis.call("GET", "incarnation")' } };
  await server.command("SET", "incarnation", 1);
  const first = await connectStore(server.port, options);
  const closing = [first.close];
  return {
    store: first.store,
    init: initIn(first.store),
    async connect() {
      const { store, close } = await connectStore(server.port, options);
      closing.push(close);
      return store;
    },
    changeIncarnation: () => server.command("INCR", "incarnation"),
    async saveRecord(tag) {
      const key = `frazil:segment:${tag}`;
      const { client } = first;
      const record = await client.hGetAll(key);
      return async () => void (await client.hSet(key, record));
    },
    async close() {
      for (const close of closing) close();
    },
  };
}

for (const name of Object.keys(PROGRAMS)) {
  // docs/internals/claims.md: 28, 29
  segmentContract({ name: `redis: a client, and one more for each process, of ${name}`, open: () => open(name) });
}

/** The contract through a client that `connect` makes for a port, on a server whose promotions are its incarnations. */
const contractOf = (name, connect) =>
  segmentContract({
    name,
    async open() {
      const server = await startServer();
      const [client, close] = await connect(server.port);
      const store = new RedisStore(client);
      return {
        store,
        init: initIn(store),
        changeIncarnation: () => server.promote(),
        async close() {
          await close();
          await server.stop();
        },
      };
    },
  });

contractOf("redis 5", async (port) => {
  const client = await openClient(port, { create: createClient5 });
  return [client, () => client.destroy()];
});
contractOf("redis 6: a pool, with RESP3", async (port) => {
  const pool = createClientPool({ url: `redis://127.0.0.1:${port}`, RESP: 3 });
  pool.on("error", () => {});
  await pool.connect();
  return [pool, () => pool.destroy()];
});
contractOf("ioredis with a prefix of keys", async (port) => {
  const client = new Redis({ port, keyPrefix: "app:" });
  client.on("error", () => {});
  return [client, () => client.disconnect()];
});
contractOf(
  "a call eval(script, keys, args) that turns texts that look like JSON into values, as Upstash's does",
  async (port) => {
    const client = await openClient(port);
    const parsed = (text) => {
      try {
        return JSON.parse(text);
      } catch {
        return text;
      }
    };
    const rest = {
      eval: async (script, keys, args) => (await client.eval(script, { keys, arguments: args })).map(parsed),
    };
    return [rest, () => client.destroy()];
  },
);

/** A store whose client sees each script: it may wait before, and changes the text. */
const spied = (client, { hold = async () => {}, change = (script) => script }) =>
  new RedisStore({
    async eval(script, keys, args) {
      const isReplacement = script.includes("replaced");
      if (isReplacement) await hold();
      return client.eval(isReplacement ? change(script) : script, { keys, arguments: args });
    },
  });

/** Takes the comparison of the record out of the script. */
function withoutComparison(script) {
  const broken = script.replace(/local same = .*/, "local same = true");
  assert.notEqual(broken, script);
  return broken;
}

test("a race that is lost is decided again by what is there then", async (context) => {
  const { port } = await running();
  const { store, client, close } = await connectStore(port);
  context.after(close);
  await checkLostRace(store, (hold) => spied(client, { hold }));
  await checkBlindReplace(store, (hold) => spied(client, { hold, change: withoutComparison }));
  await caught(OVERLAPS, { store: spied(client, { change: withoutComparison }), init: initIn(store) });
});

test("a record that a person has written is used, or refused", async (context) => {
  const server = await running();
  const { store, close } = await connectStore(server.port);
  context.after(close);
  const write = (tag, columns) => server.command("HSET", `frazil:segment:${tag}`, ...Object.entries(columns).flat());
  await checkWrittenByHand(store, { write, writesTexts: true });
});

/** A server that saves snapshots alone is killed twice, and processes draw numbers before, in between and after. */
async function killedTwice(context, failoverSkip) {
  const server = await startServer({ settings: { appendonly: "no", save: "" } });
  context.after(() => server.crash());
  const numbers = [];
  for (let life = 0; life < 3; life++) {
    const { store, close } = await connectStore(server.port);
    if (life === 0) {
      await store.initSegment({ tag: "orders" });
      await server.command("SAVE");
    }
    const orders = new Segment(store, { tag: "orders", step: 100, maxStep: 100, failoverSkip });
    numbers.push(...(await orders.nextMany(1000)));
    orders.close();
    close();
    await server.crash();
    await server.start();
  }
  return repeatsOf(numbers);
}

test("a server that goes back to one snapshot twice skips to different numbers", async (context) => {
  // So long that an overlap would come once in some 10^8 runs.
  assert.equal(await killedTwice(context, 10 ** 12), 0);
  assert.ok((await killedTwice(context, 0)) > 0, "the mutant shows nothing");
});

for (const [name, program] of Object.entries(PROGRAMS)) {
  // docs/internals/claims.md: 29
  describe(`a replica of ${name} that lacks allocations is promoted`, () =>
    segmentFailoverTests({
      async startPair(context) {
        const { primary, replica, link } = await replicatedPair(context, { program });
        const promote = () => replica.command("REPLICAOF", "NO", "ONE");
        return { primary, replica, cutOff: async () => link.cut(), promote };
      },
      connect: (server, options) => connectStore(server.port, options),
      nextNumber: (server) => server.command("HGET", "frazil:segment:orders", "next"),
    }));
}

test("a tag without a record names its key with the prefix of the client, and a key that expires is refused", async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const client = new Redis({ port: server.port, keyPrefix: "app:" });
  t.after(() => client.disconnect());
  const store = new RedisStore(client);
  const request = { tag: "my orders", count: 1, maxCount: 1, above: 0n, failoverSkip: 0 };
  const ask = () => store.allocate({ ...request, holder: "0".repeat(32), attempt: "1".repeat(32) });
  await assert.rejects(
    ask(),
    told({
      code: "STORE_NOT_INITIALISED",
      message: / in the key app:frazil:segment:my orders of/,
    }),
  );
  await store.initSegment({ tag: "my orders" });
  await client.expire("frazil:segment:my orders", 1000);
  const rule = /the key app:frazil:segment:my orders expires in \d+ s.*Run PERSIST app:frazil:segment:my orders,/;
  await assert.rejects(ask(), told({ code: "STORE_REFUSED", message: rule }));
  await client.persist("frazil:segment:my orders");
  assert.equal((await ask()).first, 1n);
});
