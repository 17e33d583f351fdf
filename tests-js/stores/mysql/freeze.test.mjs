// The stores of docs/guides/serverless.md as printed, in an instance that is frozen between two invocations.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { stopBetweenInvocations } from "../kit/freeze.mjs";
import { connectStore, MySqlServer } from "./server.mjs";

let server;
before(async () => {
  server = await MySqlServer.start();
  const { store, close } = await connectStore(server.port);
  await store.migrate();
  for (const scope of ["mysql2", "kept"]) await store.init({ scope, layout: "default" });
  await close();
});
after(() => server?.stop());

const env = (port) => ({ DATABASE_URL: `mysql://root@127.0.0.1:${port}/test` });

test("mysql2: an instance that was stopped meets no dead connection", async () => {
  assert.equal(
    await stopBetweenInvocations({ client: "mysql.createConnection", port: server.port, scope: "mysql2", env }),
    0,
  );
});

test("a client that keeps its connections meets a dead one, and has its IDs after another attempt", async () => {
  const code = `import { MySqlStore } from "frazil/stores/mysql";
    import mysql from "mysql2/promise";
    const store = new MySqlStore(mysql.createPool(process.env.DATABASE_URL));`;
  assert.ok((await stopBetweenInvocations({ code, port: server.port, scope: "kept", env })) > 0);
});
