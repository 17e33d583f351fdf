// Redis: connections that break silently, with and without the settings of docs/reference/stores/redis.md. The cases run at once, each with
// its own tag, because each of them waits.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RedisStore } from "frazil/stores/redis";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { drawOverBrokenConnections } from "../kit/broken-connections.mjs";
import { startServer } from "./server.mjs";

let server;
before(async () => {
  server = await startServer();
});
after(() => server?.stop());

async function connected(port, settings) {
  const client = createClient({ url: `redis://127.0.0.1:${port}`, ...settings });
  client.errors = [];
  client.on("error", (error) => client.errors.push(error));
  await client.connect();
  return client;
}

const redis = (tag, settings) => async (port) => {
  const client = await connected(port, settings);
  const store = new RedisStore(client);
  await store.initSegment({ tag });
  return { store, close: async () => client.destroy() };
};
const ioredis = (tag, settings) => async (port) => {
  const client = new Redis({ port, ...settings });
  client.on("error", () => {});
  const store = new RedisStore(client);
  await store.initSegment({ tag });
  return { store, close: async () => client.disconnect() };
};

const reconnectStrategy = (retries) => Math.min(50 * 2 ** retries, 2000);

describe("connections that break without a word", { concurrency: true }, () => {
  test("redis with pingInterval, socketTimeout and reconnectStrategy: numbers are there again", async () => {
    const settings = { pingInterval: 1000, socket: { socketTimeout: 3000, reconnectStrategy } };
    await drawOverBrokenConnections(server.port, redis("redis", settings), { tag: "redis" });
  });

  test("ioredis with socketTimeout: numbers are there again", async () => {
    await drawOverBrokenConnections(server.port, ioredis("ioredis", { socketTimeout: 3000 }), { tag: "ioredis" });
  });

  for (const [name, storeOf] of Object.entries({ redis, ioredis }))
    test(`${name} without them has none: docs/reference/stores/redis.md says so`, async () => {
      const tag = `${name}-without`;
      await assert.rejects(drawOverBrokenConnections(server.port, storeOf(tag, {}), { tag }), {
        code: "SEGMENT_EXHAUSTED",
      });
    });

  test("redis with pingInterval keeps an idle connection; with socketTimeout alone it loses it, and closes without a strategy", async () => {
    const socketTimeout = 1500;
    const clients = await Promise.all([
      connected(server.port, { pingInterval: 500, socket: { socketTimeout, reconnectStrategy } }),
      connected(server.port, { socket: { socketTimeout, reconnectStrategy } }),
      connected(server.port, { socket: { socketTimeout } }),
    ]);
    await sleep(5000);
    const [kept, lost, closed] = clients;
    assert.deepEqual(kept.errors, []);
    assert.ok(lost.errors.length > 1);
    assert.deepEqual([kept.isOpen, lost.isOpen, closed.isOpen], [true, true, false]);
    for (const client of [kept, lost]) client.destroy();
  });
});
