// The stores of docs/guides/serverless.md as printed, in an instance that is frozen between two invocations.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { stopBetweenInvocations } from "../kit/freeze.mjs";
import { connectStore, startServer } from "./server.mjs";

let server;
before(async () => {
  server = await startServer();
  const { store, close } = await connectStore(server.port);
  for (const scope of ["etcd"]) await store.init({ scope, layout: "default" });
  await close();
});
after(() => server?.stop());

const env = (port) => ({ ETCD_ENDPOINTS: `http://127.0.0.1:${port}` });

test("etcd: an instance that was stopped meets no dead connection", async () => {
  assert.equal(await stopBetweenInvocations({ client: "new EtcdStore", port: server.port, scope: "etcd", env }), 0);
});
