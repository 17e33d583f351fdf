// Failovers of Redis, on real servers: a replica that lacks grants is promoted, even while the old primary keeps running.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RedisStore } from "frazil/stores/redis";
import { attempt, overlaps, renewalOf } from "../kit/attempts.mjs";
import { startProxy } from "../kit/cut-proxy.mjs";
import { openClient, replicatedPair, unreadBy, valkey } from "./server.mjs";
import { keyOf, NO_INCARNATION, newScope, ownServer, ownStore } from "./shared-server.mjs";

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

  // docs/internals/claims.md: 27
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

  // docs/internals/claims.md: 27
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

  // docs/internals/claims.md: 22, 27
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

  // docs/internals/claims.md: 22, 27
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
    // docs/internals/claims.md: 27
    test(`${name}: what a primary grants that stood still meanwhile is not confirmed`, async (context) => {
      const codes = (await afterStandingStill(context, program)).map(({ code, granted }) => code ?? granted);
      assert.deepEqual(codes, ["STORE_UNAVAILABLE", "STORE_UNAVAILABLE"]);
    });

    test(`${name}: a mutant that confirms without asking has the lease`, async (context) => {
      const answers = await afterStandingStill(context, program, unasked);
      assert.ok(answers.some(({ granted }) => granted));
    });
  }

  // docs/internals/claims.md: 27
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
    // docs/internals/claims.md: 27
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
