// Faults with Redis, on real servers: lost replies, queued commands, lost keys, clients.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "frazil";
import { lease as leaseIds } from "frazil/lease";
import { RedisStore, redisDdl } from "frazil/stores/redis";
import Redis from "ioredis";
import { createClient, createClientPool } from "redis";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { attempt, checkSecondInit, hex, renewalOf } from "../kit/attempts.mjs";
import { startProxy } from "../kit/cut-proxy.mjs";
import { client, keyOf, newScope, ownServer, ownStore, server, store } from "./shared-server.mjs";

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

  // docs/internals/claims.md: 22
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

describe("a reply that is lost", () => {
  /** How often the server has run a script. */
  const runs = async () =>
    Number(/cmdstat_eval:calls=(\d+)/.exec(await server.command("INFO", "commandstats"))?.[1] ?? 0);

  // docs/internals/claims.md: 24
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

  // docs/internals/claims.md: 24
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

// docs/internals/claims.md: 22
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
    await assert.rejects(stored.ensure({ scope, behind: true }), ({ code, message, hint }) => {
      assert.equal(code, "STORE_NOT_INITIALISED");
      assert.doesNotMatch(`${message} ${hint}`, /migrate|tables/);
      assert.ok(message.includes(` in the key frazil:{${scope}}:`), message);
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
          assert.doesNotMatch(wholeText(error), /secret/);
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
  await assert.rejects(
    leaseIds(new RedisStore(client), { windowMs: 3000, maxAsyncWaitMs: 500 }),
    told({
      code: "STORE_UNAVAILABLE",
      message: /no answer within 300 ms .*: the client of Redis has no connection \(status "[a-z]+"\)/,
    }),
  );
  client.disconnect();
});
