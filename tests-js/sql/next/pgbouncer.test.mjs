// `frazil.next()` through pgbouncer in transaction mode: a client has another session in each transaction.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PostgresServer, startBouncer } from "../../stores/postgres/server.mjs";
import { assertNoLocks, connect, install, mintWith, repeatsIn } from "./kit.mjs";

test("24 clients share three sessions: nothing repeats, and no lock stays with a session", async (t) => {
  const server = await PostgresServer.start();
  t.after(() => server.stop());
  const bouncer = await startBouncer(server);
  t.after(() => bouncer.stop());
  const client = await connect(t, server.url);
  await install(client);
  const count = await mintWith(bouncer.url, { clients: 24, transactions: 20, each: 100 });
  assert.equal(count, Number((await client.query("SELECT count(DISTINCT id) AS ids FROM minted")).rows[0].ids));
  assert.equal(await repeatsIn(client), 0);
  await assertNoLocks(client);
});
