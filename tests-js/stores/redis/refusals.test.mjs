// Redis servers that are refused because they may lose leases, and the meaning of server errors.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LeaseError } from "frazil";
import { RedisStore } from "frazil/stores/redis";
import Redis from "ioredis";
import { createClient } from "redis";
import { wholeText } from "../../base/rule-texts.mjs";
import { attempt, renewalOf } from "../kit/attempts.mjs";
import { openClient, valkey } from "./server.mjs";
import { client, keyOf, NO_INCARNATION, newScope, ownServer, ownStore, store } from "./shared-server.mjs";

describe("a server that may lose leases is refused, with what to set", () => {
  const refused = (promise, ...texts) =>
    assert.rejects(promise, (error) => {
      assert.ok(error instanceof LeaseError);
      assert.equal(error.code, "STORE_REFUSED");
      for (const text of texts) assert.ok(wholeText(error).includes(text), wholeText(error));
      return true;
    });

  test("an eviction policy other than noeviction", async (context) => {
    const own = await ownServer(context);
    const stored = await ownStore(context, own.port);
    const scope = await newScope({}, stored);
    await own.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    await refused(stored.acquire(attempt({ scope })), "allkeys-lru", "noeviction");
    await refused(stored.ensure({ scope, behind: false }), "allkeys-lru");
    await refused(stored.init({ scope: "another", layout: "default" }), "allkeys-lru");
    await own.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
    await refused(stored.acquire(attempt({ scope })), "volatile-lru", "noeviction");
    await own.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    assert.ok((await stored.acquire(attempt({ scope }))).granted);
  });

  test("a replica, also one that takes writes, and a primary that became one", async (context) => {
    const own = await ownServer(context, { settings: { "min-replicas-to-write": 1 } });
    const replica = await own.replica({ "replica-read-only": "no" });
    context.after(() => replica.stop());
    while (!/^min_slaves_good_slaves:1/m.test(await own.command("INFO", "replication"))) await sleep(20);
    const scope = await newScope({}, await ownStore(context, own.port));
    const behind = await ownStore(context, replica.port);
    await refused(behind.acquire(attempt({ scope })), "replica", "primary");
    await replica.command("CONFIG", "SET", "replica-read-only", "yes");
    await refused(behind.acquire(attempt({ scope })), "replica", "primary");
    const plain = await ownStore(context, replica.port, NO_INCARNATION);
    await refused(plain.init({ scope: "s", layout: "default" }), "READONLY", "primary");
  });

  test("a Cluster of Valkey, which names its mode otherwise, needs no min-replicas-to-write", async (context) => {
    const own = await ownServer(context, { program: valkey, settings: { "cluster-enabled": "yes" } });
    const replica = await ownServer(context, { program: valkey, settings: { "cluster-enabled": "yes" } });
    await own.command("CLUSTER", "ADDSLOTSRANGE", 0, 16383);
    await own.command("CLUSTER", "MEET", "127.0.0.1", replica.port);
    while (!/^cluster_state:ok/m.test(await own.command("CLUSTER", "INFO"))) await sleep(20);
    const id = await own.command("CLUSTER", "MYID");
    while (!(await replica.command("CLUSTER", "NODES")).includes(id)) await sleep(20);
    await replica.command("CLUSTER", "REPLICATE", id);
    while (!/^connected_slaves:1/m.test(await own.command("INFO", "replication"))) await sleep(20);
    const stored = await ownStore(context, own.port);
    await stored.init({ scope: "s", layout: "default" });
    assert.ok((await stored.acquire(attempt())).granted);
  });

  test("replicas without min-replicas-to-write; with it, and no replica, it is unavailable", async (context) => {
    const own = await ownServer(context);
    const replica = await own.replica();
    const stored = await ownStore(context, own.port);
    await refused(stored.init({ scope: "s", layout: "default" }), "connected_slaves is 1", "min-replicas-to-write 1");
    await own.command("CONFIG", "SET", "min-replicas-to-write", "1");
    while (!/^min_slaves_good_slaves:1/m.test(await own.command("INFO", "replication"))) await sleep(20);
    await stored.init({ scope: "s", layout: "default" });
    await replica.stop();
    while (!/^min_slaves_good_slaves:0/m.test(await own.command("INFO", "replication"))) await sleep(20);
    await assert.rejects(stored.acquire(attempt()), { code: "STORE_UNAVAILABLE", retryable: true });
  });

  test("a user without rights; the rule in the error is enough for both clients", async (context) => {
    const own = await ownServer(context);
    await own.command("ACL", "SETUSER", "app", "on", ">secret", "~frazil:*", "-@all", "+@connection", "+eval");
    const admin = await ownStore(context, own.port);
    const scope = await newScope({}, admin);
    const user = { username: "app", password: "secret" };
    const clients = [await openClient(own.port, user), new Redis({ port: own.port, ...user })];
    clients[1].on("error", () => {});
    context.after(() => clients[0].destroy());
    context.after(() => clients[1].disconnect());
    let rule;
    await refused(new RedisStore(clients[0]).acquire(attempt({ scope })), "+info", "+hset");
    await new RedisStore(clients[0]).acquire(attempt({ scope })).catch(({ hint }) => {
      [, rule] = /ACL SETUSER your_user (.*?)\. If/.exec(hint);
    });
    await own.command("ACL", "SETUSER", "app", ...rule.split(" "));
    for (const one of clients) {
      const stored = new RedisStore(one);
      const own = await newScope({}, stored);
      const lease = await stored.acquire(attempt({ scope: own }));
      assert.ok((await stored.renew(renewalOf(lease, { scope: own }))).granted);
      await stored.ensure({ scope: own, behind: true });
      const { grant, node } = lease;
      assert.ok(await stored.release({ scope: own, grant, node, untilMs: 0, heldUntilMs: 8e15 }));
    }
  });

  test("an incarnation that is no text", async () => {
    const nothing = new RedisStore(client, { incarnation: { lua: "nil" } });
    await refused(nothing.init({ scope: "nothing", layout: "default" }), "incarnation");
  });
});

describe("errors of the server have the code that says whether to try again", () => {
  const rejects = (promise, code, text) =>
    assert.rejects(promise, (error) => {
      assert.equal(error.code, code, error.message);
      assert.match(wholeText(error), text);
      assert.ok(error.cause);
      return true;
    });

  test("BUSY, OOM and MISCONF are unavailable", async (context) => {
    const own = await ownServer(context, { settings: { appendonly: "no", "busy-reply-threshold": 50 } });
    const stored = await ownStore(context, own.port);
    const scope = await newScope({}, stored);
    const busy = await openClient(own.port);
    context.after(() => busy.destroy());
    const endless = busy.eval("while true do end", { keys: [], arguments: [] }).catch(() => {});
    await sleep(200);
    await rejects(stored.acquire(attempt({ scope })), "STORE_UNAVAILABLE", /BUSY/);
    await own.command("SCRIPT", "KILL");
    await endless;
    await own.command("CONFIG", "SET", "maxmemory", "1mb");
    await rejects(stored.acquire(attempt({ scope })), "STORE_UNAVAILABLE", /OOM/);
    await own.command("CONFIG", "SET", "maxmemory", "0");
    assert.ok((await stored.acquire(attempt({ scope }))).granted);
    await own.command("CONFIG", "SET", "save", "3600 1");
    rmSync(own.folder, { recursive: true });
    await own.command("BGSAVE");
    while (!/^rdb_last_bgsave_status:err/m.test(await own.command("INFO", "persistence"))) await sleep(20);
    await rejects(stored.acquire(attempt({ scope })), "STORE_UNAVAILABLE", /MISCONF/);
    // A server that cannot save what it should save does not end.
    await own.command("CONFIG", "SET", "save", "");
  });

  test("CLUSTERDOWN is unavailable", async (context) => {
    const own = await ownServer(context, { settings: { "cluster-enabled": "yes" } });
    await rejects((await ownStore(context, own.port)).acquire(attempt()), "STORE_UNAVAILABLE", /CLUSTERDOWN/);
  });

  test("a key of another type, and no password, are refused", async (context) => {
    await client.set(keyOf("strange", "scope"), "text");
    await rejects(store.acquire(attempt({ scope: "strange" })), "STORE_REFUSED", /WRONGTYPE/);
    const own = await ownServer(context);
    const stored = await ownStore(context, own.port);
    await own.command("ACL", "SETUSER", "default", ">secret");
    const plain = new Redis({ port: own.port, retryStrategy: () => null, enableReadyCheck: false });
    plain.on("error", () => {});
    context.after(() => plain.disconnect());
    await rejects(new RedisStore(plain).acquire(attempt()), "STORE_REFUSED", /NOAUTH/);
    assert.equal((await stored.acquire(attempt())).reason, "missing");
  });

  test("a server that is not there, and a client that was not connected, are unavailable with what to do", async () => {
    const offline = new Redis({ port: 1, retryStrategy: () => null });
    offline.on("error", () => {});
    await rejects(new RedisStore(offline).acquire(attempt()), "STORE_UNAVAILABLE", /connect/);
    await rejects(new RedisStore(createClient()).acquire(attempt()), "STORE_UNAVAILABLE", /await client\.connect\(\)/);
  });

  test("a client that does not wait any longer is unavailable, and the retry is accepted", async (context) => {
    const own = await ownServer(context);
    const impatient = new Redis({ port: own.port, commandTimeout: 200 });
    impatient.on("error", () => {});
    context.after(() => impatient.disconnect());
    const stored = new RedisStore(impatient);
    const scope = await newScope({}, stored);
    const request = attempt({ scope });
    own.signal("SIGSTOP");
    await rejects(stored.acquire(request), "STORE_UNAVAILABLE", /timed out/);
    own.signal("SIGCONT");
    const lease = await stored.acquire(request);
    assert.ok(lease.granted);
    assert.equal(await own.command("HLEN", keyOf(scope, "rows")), "1");
  });
});
