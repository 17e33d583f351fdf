// What goes wrong with Redis, on real servers: failovers, settings, rights, lost replies, queued commands, lost keys.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError, LeaseError } from "frazil";
import { lease as leaseIds } from "frazil/lease";
import { RedisStore, redisDdl } from "frazil/stores/redis";
import Redis from "ioredis";
import { createClient, createClientPool } from "redis";
import { attempt, checkSecondInit, hex, newScopeOf, overlaps, renewalOf } from "../kit/attempts.mjs";
import { startProxy } from "../kit/cut-proxy.mjs";
import { connectStore, openClient, replicatedPair, startServer, unreadBy, valkey } from "./server.mjs";

const NO_INCARNATION = { incarnation: "none-accepting-repeats-after-failover" };

let server;
let client;
let store;
before(async () => {
  server = await startServer();
  ({ client, store } = await connectStore(server.port));
});
after(async () => {
  client.destroy();
  await server.stop();
});

/** A new scope. */
const newScope = (options, of = store) => newScopeOf(of, options);
const keyOf = (scope, key) => `frazil:{${scope}}:${key}`;

/** A server of a test's own, which is stopped after it. */
async function ownServer(context, options) {
  const own = await startServer(options);
  context.after(() => own.stop());
  return own;
}
/** A store of a test's own. */
async function ownStore(context, port, options) {
  const own = await connectStore(port, options);
  context.after(() => own.close());
  return own.store;
}

describe("64 clients at once", () => {
  /** How many node ids two clients were granted, when 64 clients ask for 256 of them. */
  async function doubleGrants(acquire) {
    const leases = [];
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        for (let count = 0; count < 4; count++) leases.push(await acquire());
      }),
    );
    return leases.length - new Set(leases.map(({ node }) => node)).size;
  }

  // docs/safety.md: 22
  test("no node id is granted twice", async (context) => {
    const pool = createClientPool({ url: `redis://127.0.0.1:${server.port}` }, { maximum: 64 });
    await pool.connect();
    context.after(() => pool.destroy());
    const scope = await newScope({ nodes: { from: 0, to: 255 } });
    const stored = new RedisStore(pool);
    assert.equal(await doubleGrants(() => stored.acquire(attempt({ scope }))), 0);
    assert.equal((await stored.acquire(attempt({ scope }))).reason, "exhausted");
  });

  test("a mutant that reads and writes in two commands grants node ids twice", async (context) => {
    const pool = createClientPool({ url: `redis://127.0.0.1:${server.port}` }, { maximum: 64 });
    await pool.connect();
    context.after(() => pool.destroy());
    const key = hex();
    const acquire = async () => {
      const node = Number((await pool.get(key)) ?? 0);
      await pool.set(key, node + 1);
      return { node };
    };
    assert.ok((await doubleGrants(acquire)) > 0);
  });
});

describe("a replica that lacks the last grants is promoted", () => {
  /** The windows that four holders of the primary and four of the promoted replica had. */
  async function failover(context, options) {
    const { primary, replica, link } = await replicatedPair(context);
    const before = await ownStore(context, primary.port, options);
    const scope = await newScope({ nodes: { from: 0, to: 3 }, windowMaxMs: 1000 }, before);
    const request = () => attempt({ scope, windowMs: 1000 });
    while (!(await replica.command("EXISTS", keyOf(scope, "scope"))).includes("1")) await sleep(10);
    link.cut();
    const leases = [];
    for (let count = 0; count < 4; count++) leases.push(await before.acquire(request()));
    assert.ok(leases.every(({ granted }) => granted));
    await primary.crash();
    await replica.command("REPLICAOF", "NO", "ONE");
    const behind = await ownStore(context, replica.port, options);
    while (leases.length < 8) {
      const answer = await behind.acquire(request());
      if (answer.granted) leases.push(answer);
      else if (answer.reason === "incarnation") await behind.ensure({ scope, behind: false });
      else await sleep(Math.max(1, answer.freeAtMs - answer.storeNowMs));
    }
    return leases;
  }

  // docs/safety.md: 27
  test("no window overlaps", async (context) => {
    assert.equal(overlaps(await failover(context)), 0);
  });

  test("the same without an incarnation: windows overlap", async (context) => {
    assert.ok(overlaps(await failover(context, NO_INCARNATION)) > 0);
  });

  /** A grant that was lost while another server was the primary for a moment, and what the server grants afterwards. */
  async function failoverAndBack(context, options) {
    const primary = await ownServer(context, { settings: { "min-replicas-to-write": 1 } });
    const replica = await primary.replica();
    context.after(() => replica.stop());
    while (!/^min_slaves_good_slaves:1/m.test(await primary.command("INFO", "replication"))) await sleep(20);
    const stored = await ownStore(context, primary.port, options);
    const scope = await newScope({ nodes: { from: 0, to: 0 } }, stored);
    while ((await replica.command("EXISTS", keyOf(scope, "scope"))) !== "1") await sleep(10);
    await primary.command("CONFIG", "SET", "min-replicas-to-write", "0");
    await replica.command("REPLICAOF", "NO", "ONE");
    assert.ok((await stored.acquire(attempt({ scope }))).granted);
    await primary.command("REPLICAOF", "127.0.0.1", replica.port);
    while (!/^master_link_status:up/m.test(await primary.command("INFO", "replication"))) await sleep(20);
    assert.equal(await primary.command("HLEN", keyOf(scope, "rows")), "0");
    await primary.command("REPLICAOF", "NO", "ONE");
    return stored.acquire(attempt({ scope }));
  }

  // docs/safety.md: 27
  test("a primary that was demoted and is promoted again is another incarnation", async (context) => {
    assert.equal((await failoverAndBack(context)).reason, "incarnation");
  });

  test("the same with run_id alone: the node id is granted twice", async (context) => {
    const lua = 'string.match(redis.call("INFO", "server"), "run_id:(%x+)")';
    assert.ok((await failoverAndBack(context, { incarnation: { lua } })).granted);
  });
});

describe("a replica is promoted while the old primary runs on", () => {
  const goodReplicas = async (of, count) => {
    while (!new RegExp(`^min_slaves_good_slaves:${count}`, "m").test(await of.command("INFO", "replication")))
      await sleep(20);
  };

  /** The windows of a holder that renews on the old primary for as long as it may, and of one on the promoted replica. */
  async function windowsOf(context, { primary, replica, promote, options }) {
    const before = await ownStore(context, primary.port, options);
    const behind = await ownStore(context, replica.port, options);
    const scope = await newScope({ nodes: { from: 0, to: 0 }, windowMaxMs: 1000 }, before);
    const request = { scope, windowMs: 1000 };
    let held = await before.acquire(attempt(request));
    while ((await replica.command("HLEN", keyOf(scope, "rows"))) !== "1") await sleep(10);
    await promote();
    for (let isRenewing = true; ; await sleep(50)) {
      if (isRenewing) {
        const answer = await before.renew(renewalOf(held, request)).catch((error) => error);
        if (answer.granted) held = answer;
        else {
          assert.equal(answer.code, "STORE_UNAVAILABLE", answer.message);
          isRenewing = false;
        }
      }
      const answer = await behind.acquire(attempt(request)).catch((error) => error);
      if (answer.granted) return [held, answer];
      if (answer.reason === "incarnation") await behind.ensure({ scope, behind: false });
      else if (answer instanceof Error) assert.equal(answer.code, "STORE_UNAVAILABLE", answer.message);
    }
  }

  /** The link to the replica loses everything, without an end of the connection. */
  async function partitioned(context, options) {
    const settings = { "min-replicas-to-write": 1 };
    const primary = await ownServer(context, { settings });
    const link = await startProxy(primary.port);
    context.after(() => link.close());
    const replica = await ownServer(context);
    await replica.command("REPLICAOF", "127.0.0.1", link.port);
    await goodReplicas(primary, 1);
    const promote = async () => {
      link.cut();
      await replica.command("REPLICAOF", "NO", "ONE");
    };
    return windowsOf(context, { primary, replica, promote, options });
  }

  // docs/safety.md: 22, 27
  test("a primary whose replica does not answer stops within the margin of the fence", async (context) => {
    assert.equal(overlaps(await partitioned(context)), 0);
  });

  test("the same without a look at the replicas: windows overlap", async (context) => {
    assert.equal(overlaps(await partitioned(context, NO_INCARNATION)), 1);
  });

  /** Two replicas follow, and one of them is promoted. If it has settings, the other one follows it after three seconds. */
  async function oneOfTwo(context, settings) {
    const primary = await ownServer(context, { settings: { "min-replicas-to-write": 1 } });
    const replicas = [await primary.replica(settings), await primary.replica(settings)];
    for (const replica of replicas) context.after(() => replica.stop());
    await goodReplicas(primary, 2);
    const follow = () => replicas[0].command("REPLICAOF", "127.0.0.1", replicas[1].port);
    const promote = async () => {
      await replicas[1].command("REPLICAOF", "NO", "ONE");
      const timer = settings && setTimeout(follow, 3000);
      context.after(() => clearTimeout(timer));
    };
    return windowsOf(context, { primary, replica: replicas[1], promote });
  }

  // docs/safety.md: 22, 27
  test("of three servers with min-replicas-to-write 1 only the one that another follows grants", async (context) => {
    assert.equal(overlaps(await oneOfTwo(context, { "min-replicas-to-write": 1 })), 0);
  });

  test("where replicas do not have it, the promoted one grants alone, and windows overlap", async (context) => {
    assert.equal(overlaps(await oneOfTwo(context)), 1);
  });

  /**
   * What a primary answers that stood still for longer than a replica may be silent, to requests that came meanwhile. Its replica was
   * promoted, after it had written once more. `clientOf`: the client of the store.
   */
  async function afterStandingStill(context, program, clientOf = (client) => client) {
    const { primary, replica } = await replicatedPair(context, { program });
    const client = await openClient(primary.port);
    context.after(() => client.destroy());
    const stored = new RedisStore(clientOf(client));
    const scope = await newScope({ nodes: { from: 0, to: 1 } }, stored);
    const held = await stored.acquire(attempt({ scope }));
    assert.ok(held.granted);
    // It looks at the connection of its last request first.
    await primary.command("PING");
    primary.signal("SIGSTOP");
    const stoppedMs = performance.now();
    while (performance.now() - stoppedMs < 4000 || unreadBy(primary).written < 1) await sleep(20);
    await replica.command("REPLICAOF", "NO", "ONE");
    while (unreadBy(primary).ended < 1) await sleep(20);
    const answers = [stored.acquire(attempt({ scope })), stored.renew(renewalOf(held, { scope }))];
    while (unreadBy(primary).written < 2) await sleep(20);
    primary.signal("SIGCONT");
    return Promise.all(answers.map((answer) => answer.catch((error) => error)));
  }

  /** A client whose server confirms everything, without being asked. */
  function unasked(client) {
    let confirmed;
    return {
      async eval(script, keys, args) {
        if (/return {"primary", confirmed}$/.test(script)) return ["primary", confirmed];
        const reply = await client.eval(script, { keys, arguments: args });
        confirmed = reply[5];
        return reply;
      },
    };
  }

  for (const [name, program] of Object.entries({ Redis: undefined, Valkey: valkey })) {
    // docs/safety.md: 27
    test(`${name}: what a primary grants that stood still meanwhile is not confirmed`, async (context) => {
      const codes = (await afterStandingStill(context, program)).map(({ code, granted }) => code ?? granted);
      assert.deepEqual(codes, ["STORE_UNAVAILABLE", "STORE_UNAVAILABLE"]);
    });

    test(`${name}: a mutant that confirms without asking has the lease`, async (context) => {
      const answers = await afterStandingStill(context, program, unasked);
      assert.ok(answers.some(({ granted }) => granted));
    });
  }

  // docs/safety.md: 27
  test("a primary of a Cluster whose replica left while it stood still does not confirm; once it knows that, it grants", async (context) => {
    const settings = { "cluster-enabled": "yes" };
    const own = await ownServer(context, { settings });
    const replica = await ownServer(context, { settings });
    await own.commands(["CLUSTER", "ADDSLOTS", ...Array(16_384).keys()]);
    await own.command("CLUSTER", "MEET", "127.0.0.1", replica.port);
    while (!/^cluster_state:ok/m.test(await own.command("CLUSTER", "INFO"))) await sleep(20);
    const id = await own.command("CLUSTER", "MYID");
    while (!(await replica.command("CLUSTER", "NODES")).includes(id)) await sleep(20);
    await replica.command("CLUSTER", "REPLICATE", id);
    while (!/^slave0:.*state=online/m.test(await own.command("INFO", "replication"))) await sleep(20);
    const stored = await ownStore(context, own.port);
    const scope = await newScope({}, stored);
    assert.ok((await stored.acquire(attempt({ scope }))).granted);
    await own.command("PING");
    own.signal("SIGSTOP");
    // Of a connection that has ended, its end is unread.
    const hasUnread = () => unreadBy(own).written > unreadBy(own).ended;
    while (!hasUnread()) await sleep(20);
    await replica.stop();
    while (hasUnread()) await sleep(20);
    const late = attempt({ scope });
    const answer = stored.acquire(late).catch((error) => error);
    while (!hasUnread()) await sleep(20);
    own.signal("SIGCONT");
    assert.equal((await answer).code, "STORE_UNAVAILABLE");
    assert.ok((await stored.acquire(late)).granted);
  });

  for (const [name, program] of Object.entries({ Redis: undefined, Valkey: valkey })) {
    // docs/safety.md: 27
    test(`${name}: a primary of a Cluster that stood still confirms nothing that it reads after its replica left; a mutant is granted that`, async (context) => {
      const settings = { "cluster-enabled": "yes", "cluster-node-timeout": 2000 };
      const servers = [];
      while (servers.length < 4) servers.push(await ownServer(context, { program, settings }));
      const [primary, second, third, replica] = servers;
      await primary.command("CLUSTER", "ADDSLOTSRANGE", 0, 16_381);
      await second.command("CLUSTER", "ADDSLOTS", 16_382);
      await third.command("CLUSTER", "ADDSLOTS", 16_383);
      for (const [index, each] of servers.entries()) {
        await each.command("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
        await each.command("CLUSTER", "MEET", "127.0.0.1", primary.port);
      }
      const shows = async (of, part, line) => {
        while (!line.test(await of.command(...part))) await sleep(20);
      };
      const id = await primary.command("CLUSTER", "MYID");
      for (const each of servers) {
        await shows(each, ["CLUSTER", "INFO"], /^cluster_state:ok/m);
        await shows(each, ["CLUSTER", "INFO"], /^cluster_known_nodes:4/m);
        await shows(each, ["CLUSTER", "NODES"], new RegExp(`${id} .* 0-16381`));
      }
      await replica.command("CLUSTER", "REPLICATE", id);
      await shows(primary, ["INFO", "replication"], /^slave0:.*state=online/m);
      // The others count its votes once they know that it is a replica.
      for (const each of [second, third]) await shows(each, ["CLUSTER", "NODES"], new RegExp(` slave ${id} `));
      const [client, mutantClient] = [await openClient(primary.port), await openClient(primary.port)];
      context.after(() => client.destroy());
      context.after(() => mutantClient.destroy());
      const [stored, mutant] = [new RedisStore(client), new RedisStore(unasked(mutantClient))];
      await stored.init({ scope: "s", layout: "default" });
      await primary.command("PING");
      primary.signal("SIGSTOP");
      await shows(replica, ["INFO", "replication"], /^role:master/m);
      const before = unreadBy(primary).written;
      // More than the server reads of a connection at once.
      const ask = (of) => Array.from({ length: 12 }, () => of.acquire(attempt()).catch((error) => error));
      const [answers, ofMutant] = [ask(stored), ask(mutant)];
      while (unreadBy(primary).written < before + 2) await sleep(20);
      primary.signal("SIGCONT");
      assert.deepEqual(new Set((await Promise.all(answers)).map(({ code }) => code)), new Set(["STORE_UNAVAILABLE"]));
      assert.ok((await Promise.all(ofMutant)).some(({ granted }) => granted));
    });
  }
});

describe("a server that may lose leases is refused, with what to set", () => {
  const refused = (promise, ...texts) =>
    assert.rejects(promise, (error) => {
      assert.ok(error instanceof LeaseError);
      assert.equal(error.code, "STORE_REFUSED");
      for (const text of texts) assert.ok(error.message.includes(text), error.message);
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
    await new RedisStore(clients[0]).acquire(attempt({ scope })).catch(({ message }) => {
      [, rule] = /ACL SETUSER your_user (.*?)\. If/.exec(message);
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
      assert.match(error.message, text);
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

describe("a reply that is lost", () => {
  /** How often the server has run a script. */
  const runs = async () =>
    Number(/cmdstat_eval:calls=(\d+)/.exec(await server.command("INFO", "commandstats"))?.[1] ?? 0);

  // docs/safety.md: 24
  test("ioredis sends the script again: it is one lease, and one renewal", async (context) => {
    const proxy = await startProxy(server.port);
    const own = new Redis({ port: proxy.port });
    own.on("error", () => {});
    context.after(() => {
      own.disconnect();
      proxy.close();
    });
    const stored = new RedisStore(own);
    const scope = await newScope({}, stored);
    const before = await runs();
    proxy.loseReply();
    const lease = await stored.acquire(attempt({ scope }));
    assert.ok(lease.granted);
    assert.equal((await runs()) - before, 2, "the script was not sent again: the test shows nothing");
    assert.equal(await server.command("HLEN", keyOf(scope, "rows")), "1");
    proxy.loseReply();
    assert.ok((await stored.renew(renewalOf(lease, { scope }))).granted);
    assert.equal((await runs()) - before, 4);
  });

  // docs/safety.md: 24
  test("redis reports it: it is unavailable, and the retry is the same lease", async (context) => {
    const proxy = await startProxy(server.port);
    const stored = await ownStore(context, proxy.port);
    context.after(() => proxy.close());
    const scope = await newScope();
    const request = attempt({ scope });
    proxy.loseReply();
    await assert.rejects(stored.acquire(request), { code: "STORE_UNAVAILABLE", retryable: true });
    const lease = await stored.acquire(request);
    assert.ok(lease.granted);
    assert.equal(await server.command("HLEN", keyOf(scope, "rows")), "1");
  });
});

// docs/safety.md: 22
test("commands that a client kept while it was offline run late, and take nothing from a later holder", async (context) => {
  const own = await ownServer(context);
  const kept = await ownStore(context, own.port);
  const scope = await newScope({ nodes: { from: 0, to: 0 } }, kept);
  const lease = await kept.acquire(attempt({ scope, windowMs: 100 }));
  await own.crash();
  const given = new AbortController();
  const late = [kept.renew(renewalOf(lease, { scope, signal: given.signal }))];
  late.push(kept.acquire(attempt({ scope, signal: given.signal })));
  const release = { scope, grant: lease.grant, node: 0, untilMs: 0, heldUntilMs: lease.untilMs, signal: given.signal };
  late.push(kept.release(release));
  given.abort(new Error("the caller does not wait"));
  for (const result of late) await assert.rejects(result, /does not wait/);
  await own.start();
  const later = await ownStore(context, own.port);
  await later.ensure({ scope, behind: false });
  // A command of the client that has kept the others: they ran before.
  await kept.ensure({ scope, behind: false });
  const [row] = (await own.commands(["HGET", keyOf(scope, "rows"), "0000000000"])) ?? [];
  const [from, until] = row.split(" ").map(Number);
  assert.ok(from === lease.fromMs && until <= lease.untilMs, row);
});

describe("keys that are lost", () => {
  test("all of them: the scope is missing, and is never made; init says so in its words", async (context) => {
    const own = await ownServer(context);
    const stored = await ownStore(context, own.port);
    const scope = await newScope({}, stored);
    const lease = await stored.acquire(attempt({ scope }));
    await own.command("FLUSHALL");
    assert.equal((await stored.acquire(attempt({ scope }))).reason, "missing");
    assert.equal((await stored.renew(renewalOf(lease, { scope }))).reason, "missing");
    assert.equal(await stored.release({ scope, grant: lease.grant, node: 0, untilMs: 0, heldUntilMs: 8e15 }), false);
    await assert.rejects(stored.ensure({ scope, behind: true }), ({ code, message }) => {
      assert.equal(code, "STORE_NOT_INITIALISED");
      assert.doesNotMatch(message, /migrate|tables/);
      assert.ok(message.includes(`looked in the key frazil:{${scope}}:`), message);
      return true;
    });
    await assert.rejects(stored.fence({ scope }), { code: "STORE_NOT_INITIALISED" });
    assert.equal(await own.command("DBSIZE"), "0");
  });

  test("the record: init refuses while rows are there", async () => {
    const scope = await newScope();
    await store.acquire(attempt({ scope }));
    await client.del(keyOf(scope, "scope"));
    assert.equal((await store.acquire(attempt({ scope }))).reason, "missing");
    await assert.rejects(store.init({ scope, layout: "default" }), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.equal(error.code, "STATE_CONFLICT");
      return true;
    });
  });

  test("a row: its node id is never granted again, and its holder is behind", async () => {
    const scope = await newScope({ nodes: { from: 0, to: 1 } });
    const lease = await store.acquire(attempt({ scope, windowMs: 1 }));
    assert.equal(lease.node, 0);
    await client.hDel(keyOf(scope, "rows"), "0000000000");
    await sleep(5);
    assert.equal((await store.acquire(attempt({ scope }))).node, 1);
    assert.equal((await store.acquire(attempt({ scope, node: 0 }))).reason, "exhausted");
    assert.equal((await store.renew(renewalOf(lease, { scope }))).reason, "behind");
  });

  test("the indexes, or what they say: no held node id is granted", async () => {
    const scope = await newScope({ nodes: { from: 0, to: 1 } });
    const leases = [await store.acquire(attempt({ scope })), await store.acquire(attempt({ scope }))];
    await client.zAdd(keyOf(scope, "ends"), { score: 1, value: "0000000001" });
    await client.del(keyOf(scope, "grants"));
    const { reason, freeAtMs } = await store.acquire(attempt({ scope }));
    assert.deepEqual([reason, freeAtMs], ["exhausted", leases[0].untilMs]);
    assert.equal(await client.zScore(keyOf(scope, "ends"), "0000000001"), leases[1].untilMs);
    await client.del(keyOf(scope, "ends"));
    assert.equal((await store.acquire(attempt({ scope }))).reason, "exhausted");
    for (const lease of leases) assert.ok((await store.renew(renewalOf(lease, { scope }))).granted);
  });

  test("the mark alone: a row that is there stays", async () => {
    const scope = await newScope({ nodes: { from: 0, to: 0 } });
    await store.acquire(attempt({ scope }));
    await client.hSet(keyOf(scope, "scope"), "next_node", "0");
    assert.equal((await store.acquire(attempt({ scope }))).reason, "exhausted");
  });

  test("no key has a time to live", async () => {
    const scope = await newScope();
    await store.acquire(attempt({ scope }));
    for (const key of ["scope", "rows", "ends", "grants"]) assert.equal(await client.ttl(keyOf(scope, key)), -1, key);
  });
});

test("redis-cli makes the record that init makes, and leaves one that is there", async () => {
  const options = { layout: "default", nodes: { from: 3, to: 40 }, windowMaxMs: 5000 };
  const [one, two] = [`a${hex().slice(0, 8)}`, `b${hex().slice(0, 8)}`];
  await store.init({ scope: one, ...options });
  const script = redisDdl({ scope: two, ...options }, {}).replace(/^redis-cli /m, `redis-cli -p ${server.port} `);
  const run = () => execFileSync("sh", ["-c", script], { encoding: "utf8", stdio: "pipe" });
  assert.match(run(), /made/);
  assert.deepEqual(await client.hGetAll(keyOf(two, "scope")), await client.hGetAll(keyOf(one, "scope")));
  await store.fence({ scope: two });
  const fenced = await client.hGetAll(keyOf(two, "scope"));
  assert.throws(run, { status: 1, stdout: "", stderr: /the record was not written/ });
  assert.deepEqual(await client.hGetAll(keyOf(two, "scope")), fenced);
});

test("of two processes that initialise a scope at once one makes the record", async () => {
  const scope = `s${hex().slice(0, 12)}`;
  const made = await Promise.all([1, 2].map(() => store.init({ scope, layout: "default" })));
  assert.deepEqual(made.sort(), [false, true]);
  await checkSecondInit(store, scope);
});

test("owners with spaces, line ends and other scripts, and the largest numbers, are kept", async () => {
  const scope = await newScope();
  const owner = "host 7\nline two ü 漢";
  const request = attempt({ scope, owner });
  const lease = await store.acquire(request);
  const { storeNowMs } = lease;
  assert.deepEqual({ ...(await store.acquire(request)), storeNowMs }, lease);
  assert.ok((await client.hGet(keyOf(scope, "rows"), "0000000000")).endsWith(` ${owner}`));
  await store.ensure({ scope, behind: true });
  const healed = await store.renew(renewalOf(lease, { scope, untilMs: 8.64e15 }));
  assert.equal(healed.untilMs, 8.64e15);
});

test("a preferred node id makes the rows before it", async () => {
  const scope = await newScope();
  assert.equal((await store.acquire(attempt({ scope, node: 1022 }))).node, 1022);
  assert.equal(await server.command("HLEN", keyOf(scope, "rows")), "1023");
});

describe("clients", () => {
  test("what is no client, and what queues commands for later, is refused", () => {
    const pipeline = new Redis({ lazyConnect: true });
    const strangers = [
      undefined,
      null,
      "redis://user:secret@host",
      {},
      { get: () => "", set: () => "" },
      createClient({ url: "redis://user:secret@host" }).multi(),
      createClient().legacy(),
      pipeline.multi(),
      pipeline.pipeline(),
      { eval: () => "", sendCommand: () => "" },
    ];
    for (const stranger of strangers)
      assert.throws(
        () => new RedisStore(stranger),
        (error) => {
          assert.ok(error instanceof ConfigError);
          assert.equal(error.code, "INVALID_ARGUMENT");
          assert.doesNotMatch(error.message, /secret/);
          return /ioredis/.test(error.message);
        },
      );
  });

  test("wrong options are refused", () => {
    const fake = { eval: async () => [] };
    for (const options of [
      { incarnation: "sql" },
      { incarnation: { lua: " " } },
      { incarnation: null },
      { prefix: "a" },
    ])
      assert.throws(() => new RedisStore(fake, options), { code: "INVALID_OPTION" });
  });

  test("replies as Buffers are read; anything else than an array is refused", async () => {
    const scope = await newScope();
    const buffers = {
      eval: async (script, keys, args) =>
        (await client.eval(script, { keys, arguments: args })).map((text) => Buffer.from(text)),
    };
    assert.ok((await new RedisStore(buffers).acquire(attempt({ scope }))).granted);
    for (const reply of [undefined, "QUEUED", [], {}])
      await assert.rejects(new RedisStore({ eval: async () => reply }).acquire(attempt({ scope })), {
        code: "STORE_REFUSED",
      });
  });
});

test("ioredis without a server: the error of lease() says that the client has no connection", async () => {
  const client = new Redis({ port: 1, host: "127.0.0.1" });
  client.on("error", () => {});
  await assert.rejects(leaseIds(new RedisStore(client), { windowMs: 3000, maxAsyncWaitMs: 500 }), {
    code: "STORE_UNAVAILABLE",
    message: /no answer within 300 ms .*: the client of Redis has no connection \(status "[a-z]+"\)/,
  });
  client.disconnect();
});
