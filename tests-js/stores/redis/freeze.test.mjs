// The stores of docs/guides/serverless.md as printed, in an instance that is frozen between two invocations.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { stopBetweenInvocations } from "../kit/freeze.mjs";
import { connectStore, startServer } from "./server.mjs";

let server;
before(async () => {
  server = await startServer();
  const { store, close } = await connectStore(server.port);
  for (const scope of ["redis", "ioredis", "kept"]) await store.init({ scope, layout: "default" });
  await close();
});
after(() => server?.stop());

const env = (port) => ({ REDIS_URL: `redis://127.0.0.1:${port}` });

test("redis: an instance that was stopped meets no dead connection", async () => {
  assert.equal(await stopBetweenInvocations({ client: "createClient({", port: server.port, scope: "redis", env }), 0);
});

test("ioredis: an instance that was stopped meets no dead connection", async () => {
  assert.equal(
    await stopBetweenInvocations({ client: "new Redis(process", port: server.port, scope: "ioredis", env }),
    0,
  );
});

test("a client that keeps its one connection has no answer until it notices that the connection is dead", async () => {
  const code = `import { RedisStore } from "frazil/stores/redis";
    import { createClient } from "redis";
    const client = createClient({ url: process.env.REDIS_URL });
    client.on("error", () => {});
    await client.connect();
    const store = new RedisStore(client);`;
  await assert.rejects(
    stopBetweenInvocations({ code, port: server.port, scope: "kept", env }),
    /has ended: .*STORE_UNAVAILABLE: renew had no answer/s,
  );
});
