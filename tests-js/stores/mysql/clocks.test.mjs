// Faults of the clock of a MariaDB server, and of a session.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MySqlStore } from "frazil/stores/mysql";
import { told } from "../../base/rule-texts.mjs";
import { faketimeClock } from "../../processes/movable-clock.mjs";
import { attempt } from "../kit/attempts.mjs";
import { newScope, pool, poolTo, sessionWith } from "./one-server.mjs";
import { MySqlServer } from "./server.mjs";

test("in the hour that comes twice, in the local time of the server, the clock is right", async () => {
  const { env, jump } = faketimeClock();
  const berlin = await MySqlServer.start({}, { ...env, TZ: "Europe/Berlin" });
  const own = poolTo({}, berlin);
  const store = new MySqlStore(own);
  await store.migrate();
  let offsetMs = 0;
  const wrong = [];
  // The first and the second time that it is half past two, in 2026.
  for (const [at, scope] of [
    ["2026-10-25T00:30:00Z", "first"],
    ["2026-10-25T01:30:00Z", "second"],
  ]) {
    const aimMs = Date.parse(at) - Date.now();
    await jump(aimMs - offsetMs);
    offsetMs = aimMs;
    await store.init({ scope, layout: "default" });
    const lease = await store.acquire(attempt({ scope }));
    const offMs = lease.storeNowMs - (Date.now() + offsetMs);
    assert.ok(Math.abs(offMs) < 60_000, `off by ${offMs} ms`);
    const [[{ local }]] = await own.query("SELECT FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000) AS local");
    wrong.push(Math.round((Number(local) - (Date.now() + offsetMs)) / 3_600_000));
  }
  assert.ok(wrong.includes(-1) || wrong.includes(1), "local time was not wrong: the test shows nothing");
  await own.end();
  await berlin.stop();
});

test("the time zone of the session does not matter", async () => {
  const scope = await newScope();
  for (const zone of ["+13:00", "-12:00", "SYSTEM"]) {
    const client = await sessionWith(`SET time_zone = '${zone}'`);
    const { storeNowMs } = await new MySqlStore(client).acquire(attempt({ scope }));
    assert.ok(Math.abs(storeNowMs - Date.now()) < 60_000, `${zone}: ${storeNowMs - Date.now()}`);
  }
});

test("a session whose clock SET timestamp has moved is refused", async () => {
  const scope = await newScope();
  for (const moved of ["1000", "UNIX_TIMESTAMP() - 10", "UNIX_TIMESTAMP() + 86400"]) {
    const client = await sessionWith(`SET timestamp = ${moved}`);
    const store = new MySqlStore(client);
    const refused = told({ code: "STORE_REFUSED", message: /moved by SET timestamp/ });
    await assert.rejects(store.acquire(attempt({ scope })), refused);
    await assert.rejects(store.fence({ scope }), refused);
    await client.query("SET timestamp = DEFAULT");
    assert.ok((await store.acquire(attempt({ scope }))).granted);
  }
});

test("a statement that has to wait for a table is no moved clock", async () => {
  const store = new MySqlStore(pool);
  const scope = await newScope();
  const locker = await sessionWith("LOCK TABLES frazil_leases WRITE");
  const acquired = store.acquire(attempt({ scope }));
  await sleep(1500);
  await locker.query("UNLOCK TABLES");
  const lease = await acquired;
  assert.ok(lease.granted && lease.fromMs <= lease.storeNowMs, JSON.stringify(lease));
});
