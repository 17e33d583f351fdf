// These tests fail: the promise does not hold there, and the pages of the stores say so.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, renewalOf } from "../stores/attempts.mjs";
import { connectStore, MySqlServer } from "../stores/mysql/server.mjs";
import * as redis from "../stores/redis/server.mjs";

const scope = "default";
const nodes = { from: 0, to: 0 };

/** Acquires until a node id is granted. */
async function granted(store, windowMs) {
  for (;;) {
    const answer = await store.acquire(attempt({ scope, windowMs })).catch(() => ({ granted: false }));
    if (answer.granted) return answer;
    if (answer.reason === "incarnation") await store.ensure({ scope, behind: false });
    await sleep(50);
  }
}

test("MariaDB: two failovers, the second one back to the first server before it has the record of the other", async (t) => {
  const settings = (id) => ({ "server-id": id, "log-bin": "log", "sync-binlog": 1, "log-slave-updates": 1 });
  const [first, second] = [await MySqlServer.start(settings(1)), await MySqlServer.start(settings(2))];
  t.after(() => Promise.all([first.crash(), second.crash()]));
  await second.query("RESET MASTER; SET GLOBAL gtid_slave_pos = ''");
  await second.follow(first);
  const [one, other] = [await connectStore(first.port), await connectStore(second.port)];
  t.after(() => Promise.all([one.close(), other.close()]));
  await one.store.migrate();
  await one.store.init({ scope, layout: "default", nodes, windowMaxMs: 20_000 });
  const held = await granted(one.store, 20_000);
  await sleep(1000);
  // The second is promoted, and the first follows it, until the link is lost.
  await second.query("STOP SLAVE; RESET SLAVE ALL");
  await first.follow(second);
  await sleep(500);
  await first.query("STOP SLAVE IO_THREAD");
  await sleep(1500);
  await other.store.ensure({ scope, behind: false });
  const renewed = await other.store.renew(renewalOf(held, { scope, windowMs: 20_000 }));
  assert.ok(renewed.granted);
  await second.crash();
  await first.query("STOP SLAVE; RESET SLAVE ALL");
  const next = await granted(one.store, 20_000);
  assert.ok(next.fromMs >= renewed.untilMs, `the windows overlap by ${renewed.untilMs - next.fromMs} ms`);
});

test("Redis: an old primary becomes the primary again without the data of the promoted one", async (t) => {
  const settings = { "min-replicas-to-write": 1 };
  const old = await redis.startServer({ settings });
  const [promoted, third] = [await old.replica(settings), await old.replica(settings)];
  t.after(() => Promise.all([old, promoted, third].map((server) => server.stop())));
  const [one, other] = [await redis.connectStore(old.port), await redis.connectStore(promoted.port)];
  t.after(() => Promise.all([one.close(), other.close()]));
  for (let isMade = false; !isMade; await sleep(300))
    isMade = await one.store.init({ scope, layout: "default", nodes, windowMaxMs: 4000 }).then(
      () => true,
      () => false,
    );
  await sleep(1500);
  await promoted.command("REPLICAOF", "NO", "ONE");
  await third.command("REPLICAOF", "127.0.0.1", promoted.port);
  const held = await granted(other.store, 4000);
  for (const server of [promoted, third]) await server.command("REPLICAOF", "127.0.0.1", old.port);
  const next = await granted(one.store, 4000);
  assert.ok(next.fromMs >= held.untilMs, `the windows overlap by ${held.untilMs - next.fromMs} ms`);
});
