// `frazil.next()` beside leases in one column: what keeps a scope from granting the node id of the database.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Layout } from "frazil";
import { lease } from "frazil/lease";
import { PostgresStore } from "frazil/stores/postgres";
import { PostgresServer, poolTo } from "../../stores/postgres/server.mjs";
import { connect, installWithClock, mint, repeatsIn, setTick } from "./kit.mjs";

/** Eight node ids, of which a scope leaves out the last one by default. */
const layout = new Layout({
  epochMs: 1704067200000,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "node", bits: 3 },
    { kind: "sequence", bits: 4 },
  ],
});
/** That of `installWithClock`. */
const OURS = 5;

let server;
let pool;
let store;
before(async () => {
  server = await PostgresServer.start();
  pool = poolTo(server.url, { max: 2 });
  store = new PostgresStore(pool);
  await store.migrate();
});
after(async () => {
  await pool?.end();
  await server?.stop();
});

/** Takes all leases of a scope, each of which would rather have our node id. */
async function takeAll(t, scope, count) {
  const ask = (options) => lease(store, { scope, layout, node: OURS, ...options });
  const taken = [];
  t.after(() => Promise.all(taken.map((ids) => ids.close())));
  while (taken.length < count) taken.push(await ask({ maxAsyncWaitMs: 60_000 }));
  await assert.rejects(ask(), { code: "NODE_IDS_EXHAUSTED" });
  return taken;
}

for (const [name, scope, nodes, count] of [
  ["a scope whose node ids leave it out: nothing repeats", "kept", { from: 0, to: OURS - 1 }, OURS],
  ["a scope that grants it: IDs repeat", "shared", undefined, 7],
])
  test(`all leases and frazil.next() in one column, with ${name}`, async (t) => {
    await store.init({ scope, layout, nodes });
    const leases = await takeAll(t, scope, count);
    const isShared = leases.some((ids) => ids.node === OURS);
    assert.equal(isShared, nodes === undefined);
    const leased = (await Promise.all(leases.map((ids) => ids.nextManyAsync(40)))).flat();
    await server.query(`CREATE DATABASE ${scope}`);
    const client = await connect(t, server.urlOf("postgres", scope));
    await installWithClock(client, layout);
    await client.query("INSERT INTO minted SELECT unnest($1::bigint[])", [leased.map(String)]);
    const times = new Set(leased.map((id) => layout.decode(id).timestampMs - layout.epochMs));
    const ticks = [...times].sort((a, b) => a - b);
    // The first check moves the word ahead of the clock, by the lead and what a crash may lose.
    await setTick(client, ticks[0] - 2000);
    await client.query("SELECT frazil.next_check()");
    for (const tick of ticks) {
      await setTick(client, tick);
      await mint(client, 16);
    }
    assert.equal((await repeatsIn(client)) > 0, isShared);
    // A scope keeps its node ids.
    const other = nodes === undefined ? { from: 0, to: OURS - 1 } : undefined;
    await assert.rejects(store.init({ scope, layout, nodes: other }), { code: "STATE_CONFLICT" });
  });
