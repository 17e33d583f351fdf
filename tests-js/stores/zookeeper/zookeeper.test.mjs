// Faults with ZooKeeper, on real servers: races, lost answers, failovers, changed znodes.
import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Layout } from "frazil";
import { lease } from "frazil/lease";
import { ZooKeeperStore, zookeeperDdl } from "frazil/stores/zookeeper";
import zookeeper from "node-zookeeper-client";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { attempt, overlaps, releaseOf, renewalOf, stoppingPlace } from "../kit/attempts.mjs";
import { call, closeClient, connectStore, startEnsemble, startServer, zkCli } from "./server.mjs";
import { client, connected, newScope, server } from "./shared-server.mjs";

/** A client whose transactions `change` replaces. */
const withTransactions = (real, change) =>
  new Proxy(real, {
    get(target, name) {
      if (name === "transaction") return () => change(target.transaction());
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

/** 64 clients acquire until each has had a number of leases, from some hundred node ids whose windows end soon. */
async function contend(connect, to, rounds) {
  const scope = await newScope(to, { windowMaxMs: 1000 });
  const stores = await Promise.all(Array.from({ length: 64 }, connect));
  const windows = [];
  let refusals = 0;
  const work = async (store) => {
    for (let round = 0; round < rounds; round++) {
      const answer = await store.acquire(attempt({ scope, windowMs: 400 })).catch(() => ({ granted: false }));
      if (answer.granted) windows.push(answer);
      else refusals++;
    }
  };
  await Promise.all(stores.map(work));
  return { windows, refusals };
}

// docs/internals/claims.md: 22
test("64 clients that contend for 200 node ids never get windows that overlap", async () => {
  const { windows } = await contend(() => connected(), 199, 12);
  assert.ok(windows.length > 300, `only ${windows.length} windows`);
  assert.equal(overlaps(windows), 0);
});

test("the same check catches a store that writes without comparing", async () => {
  // What is left of a transaction: the row, with any version, and the grant.
  const careless = (transaction) =>
    new Proxy(transaction, {
      get(target, name) {
        if (name === "check" || name === "remove") return () => target;
        if (name === "setData") return (path, data) => target.setData(path, data, -1);
        if (name === "create")
          return (path, ...rest) => (path.includes("/grants/") ? target.create(path, ...rest) : target);
        return target[name].bind(target);
      },
    });
  const connect = async () => new ZooKeeperStore(withTransactions(await client(), careless));
  const scope = await newScope(63);
  // The rows are made by a whole store: the careless one drops what it would make.
  const whole = await connected();
  await whole.acquire(attempt({ scope, node: 63 }));
  const stores = await Promise.all(Array.from({ length: 16 }, connect));
  const windows = (await Promise.all(stores.map((store) => store.acquire(attempt({ scope }))))).filter(
    ({ granted }) => granted,
  );
  assert.ok(overlaps(windows) > 0, "16 stores that do not compare took 16 node ids");
});

test("the client sends version 0 of a transaction as any version; the store refuses such a znode, and makes none", async () => {
  const one = await client();
  await call(one, "create", "/version", Buffer.from("a"));
  await call(one.transaction().setData("/version", Buffer.from("b"), 0), "commit");
  // The version is 1 by now.
  await call(one.transaction().setData("/version", Buffer.from("c"), 0), "commit");
  const [data] = await call(one, "getData", "/version");
  assert.equal(data.toString(), "c", "the client compares version 0: the store needs no second write");

  const scope = await newScope(0);
  const store = await connected();
  await store.acquire(attempt({ scope }));
  const [, record] = await call(one, "getData", `/frazil/${scope}`);
  const [, row] = await call(one, "getData", `/frazil/${scope}/leases/0`);
  assert.ok(record.version > 0 && row.version > 0);

  const path = `/frazil/${scope}/leases/0`;
  const [text] = await call(one, "getData", path);
  await call(one, "remove", path);
  await call(one, "create", path, text);
  const lease = JSON.parse(text);
  const request = renewalOf(lease, { scope });
  await assert.rejects(
    store.renew(request),
    told({
      code: "STORE_REFUSED",
      message: /has the version 0: it was made by hand/,
    }),
  );
});

// docs/internals/claims.md: 22
test("a transaction that arrives after others have written does nothing", async () => {
  const scope = await newScope(0);
  const real = await client();
  const { stop, arrived } = stoppingPlace();
  let late;
  const slow = new ZooKeeperStore(
    withTransactions(real, (transaction) => {
      const commit = transaction.commit.bind(transaction);
      transaction.commit = (callback) => {
        late ??= () =>
          new Promise((resolve) => {
            commit((error, results) => {
              callback(error, results);
              resolve(error);
            });
          });
        stop();
      };
      return transaction;
    }),
  );
  const store = await connected();
  // The row is made by a lease that is released.
  const first = await store.acquire(attempt({ scope }));
  assert.ok(await store.release(releaseOf(first, { scope })));

  const aborted = new AbortController();
  const pending = slow.acquire(attempt({ scope, signal: aborted.signal }));
  await arrived;
  aborted.abort(new Error("enough"));
  await assert.rejects(pending, { message: "enough" });
  const second = await store.acquire(attempt({ scope }));
  assert.equal(second.node, 0);
  assert.equal((await late())?.name, "BAD_VERSION");
  const renewed = await store.renew(renewalOf(second, { scope }));
  assert.deepEqual([renewed.granted, renewed.grant], [true, second.grant]);
});

// docs/internals/claims.md: 24
test("a transaction whose answer was lost is unknown, and its retry is answered with the lease", async () => {
  const scope = await newScope();
  let loses = true;
  const forgetful = withTransactions(await client(), (transaction) => {
    const commit = transaction.commit.bind(transaction);
    transaction.commit = (callback) =>
      commit((error, results) => {
        // Rows are made first.
        const isGrant = results?.length > 3 && results.length < 10;
        if (isGrant && loses && !error) {
          loses = false;
          callback(zookeeper.Exception.create(zookeeper.Exception.CONNECTION_LOSS));
        } else callback(error, results);
      });
    return transaction;
  });
  const store = new ZooKeeperStore(forgetful);
  const request = attempt({ scope });
  await assert.rejects(store.acquire(request), { code: "STORE_UNAVAILABLE", retryable: true });
  const retried = await store.acquire(request);
  assert.ok(retried.granted);
  const [rows] = await call(await client(), "getChildren", `/frazil/${scope}/grants`);
  assert.deepEqual(rows, [request.grant], "the retry took another node id");
});

// docs/internals/claims.md: 27
test("an ensemble: no follower answers with the past, a leader that fails is fenced, holders go on; without a quorum nothing is granted", async () => {
  const servers = await startEnsemble({ properties: { "readonlymode.enabled": "true" } });
  const stores = [];
  for (const { port } of servers) stores.push(await connected({ client: { sessionTimeout: 4000 } }, port));
  const [first] = stores;
  await first.init({ scope: "e", layout: "default", nodes: { from: 0, to: 0 }, windowMaxMs: 1000 });
  for (let round = 0; round < 90; round++) {
    const [holder, other] = [stores[round % 3], stores[(round + 1) % 3]];
    const held = await holder.acquire(attempt({ scope: "e", windowMs: 1000 }));
    assert.ok(held.granted, `round ${round}: ${JSON.stringify(held)}`);
    assert.equal((await other.acquire(attempt({ scope: "e", windowMs: 1000 }))).reason, "exhausted", `round ${round}`);
    assert.ok(await other.release(releaseOf(held, { scope: "e", untilMs: held.storeNowMs })), `round ${round}`);
    // The next window begins when the clock has gone on.
    while ((await holder.acquire(attempt({ scope: "none" }))).reason !== "missing");
  }

  // The leader: the one that `srvr` calls so would need a port; each is stopped until the epoch changes.
  await first.init({ scope: "f", layout: "default", nodes: { from: 0, to: 3 }, windowMaxMs: 30_000 });
  const held = await first.acquire(attempt({ scope: "f", windowMs: 30_000 }));
  let isFenced = false;
  for (const [at, each] of servers.entries()) {
    if (isFenced) break;
    await each.crash();
    const other = stores[(at + 1) % 3];
    const asked = await eventually(() => other.acquire(attempt({ scope: "f", windowMs: 30_000 })));
    if (asked.reason === "incarnation") {
      await eventually(() => other.ensure({ scope: "f", behind: false }));
      const fenced = await eventually(() => other.acquire(attempt({ scope: "f", windowMs: 30_000 })));
      assert.equal(fenced.reason, "fenced");
      const renewed = await eventually(() => other.renew(renewalOf(held, { scope: "f", windowMs: 30_000 })));
      assert.ok(renewed.granted, JSON.stringify(renewed));
      isFenced = true;
    }
    await each.start();
  }
  assert.ok(isFenced, "no election was a new epoch");

  // Two of three are away. The third takes sessions for reading only, which this client does not ask for.
  await servers[0].crash();
  await servers[1].crash();
  await assert.rejects(stores[2].acquire(attempt({ scope: "f", windowMs: 30_000 })), {
    code: /STORE_UNAVAILABLE|STORE_REFUSED/,
  });
  const reader = zookeeper.createClient(`127.0.0.1:${servers[2].port}`);
  const states = [];
  reader.on("state", (state) => states.push(state.getName()));
  reader.connect();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.deepEqual(
    states.filter((state) => state !== "DISCONNECTED"),
    [],
  );
  closeClient(reader);
  await Promise.all(servers.map((each) => each.crash()));
});

/** The result of a call that may be unavailable for a while. */
async function eventually(work) {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 20 || error.code !== "STORE_UNAVAILABLE") throw error;
    }
  }
}

// docs/internals/claims.md: 27
test("a server with epochs that was restored from a backup is fenced", async () => {
  const restored = await startServer({ isQuorum: true });
  const opened = await connectStore(restored.port);
  await opened.store.init({ scope: "r", layout: "default", nodes: { from: 0, to: 3 } });
  const early = await opened.store.acquire(attempt({ scope: "r" }));
  await opened.close();
  await restored.stop();
  const [data, backup] = [join(restored.folder, "data"), join(restored.folder, "backup")];
  cpSync(data, backup, { recursive: true });

  await restored.start();
  const later = await connectStore(restored.port);
  await eventually(() => later.store.ensure({ scope: "r", behind: false }));
  const lost = await eventually(() => later.store.renew(renewalOf(early, { scope: "r" })));
  assert.ok(lost.granted, JSON.stringify(lost));
  await later.close();
  await restored.stop();
  rmSync(data, { recursive: true });
  cpSync(backup, data, { recursive: true });

  await restored.start();
  const again = await connectStore(restored.port);
  const refused = await again.store.acquire(attempt({ scope: "r" }));
  assert.equal(refused.reason, "incarnation");
  await again.store.ensure({ scope: "r", behind: false });
  const fenced = await again.store.acquire(attempt({ scope: "r" }));
  assert.equal(fenced.reason, "fenced");
  assert.ok(fenced.freeAtMs >= lost.untilMs, "the fence does not cover what was lost");
  await again.close();
  await restored.stop();
});

test("ACLs: who has not authenticated is refused, with the znode and what to do", async () => {
  const acl = zookeeper.ACL.CREATOR_ALL_ACL;
  const ours = await connected({ acl, prefix: "/acl", client: { auth: "ids:secret" } });
  await ours.init({ scope: "a", layout: "default" });
  assert.ok((await ours.acquire(attempt({ scope: "a" }))).granted);
  const theirs = await connected({ prefix: "/acl" });
  await assert.rejects(theirs.acquire(attempt({ scope: "a" })), (error) => {
    assert.equal(error.code, "STORE_REFUSED");
    assert.match(wholeText(error), /access to \/acl\/a.*addAuthInfo/);
    assert.doesNotMatch(wholeText(error), /secret/);
    return true;
  });
  const nobody = await connected({ acl, prefix: "/acl2" });
  await assert.rejects(nobody.init({ layout: "default" }), told({ code: "STORE_REFUSED", message: /scheme auth/ }));
});

test("without a record, the error says what to call, and names no call that does not exist", async () => {
  const store = await connected();
  assert.equal((await store.acquire(attempt({ scope: "nowhere" }))).reason, "missing");
  const message = (layout) => (error) => {
    assert.equal(error.code, "STORE_NOT_INITIALISED");
    const text = wholeText(error);
    assert.ok(text.includes(`await store.init({ scope: "nowhere", ${layout} })`), text);
    assert.doesNotMatch(text, /migrate/);
    assert.match(text, / in the znode \/frazil\/nowhere, which is below the chroot.* Check that this is the place/);
    return true;
  };
  await assert.rejects(store.fence({ scope: "nowhere" }), message("layout"));
  await assert.rejects(lease(store, { scope: "nowhere", maxAsyncWaitMs: 200 }), message('layout: "default"'));
  const scope = await newScope(3, { store });
  await assert.rejects(
    store.init({ scope, layout: "default" }),
    told({ code: "STATE_CONFLICT", message: /time41 node10/ }),
  );
});

test("two calls of init at once write one record, and one that was broken off is completed", async () => {
  const store = await connected();
  const options = { scope: "both", layout: "default" };
  const made = await Promise.all([store.init(options), (await connected()).init(options)]);
  assert.deepEqual(made.sort(), [false, true]);
  await call(await client(), "create", "/frazil/half", Buffer.alloc(0));
  assert.equal((await store.acquire(attempt({ scope: "half" }))).reason, "missing");
  await store.init({ scope: "half", layout: "default" });
  assert.ok((await store.acquire(attempt({ scope: "half" }))).granted);
});

test("the commands of zookeeperDdl do what init does, and the record is not written twice", async () => {
  const options = { scope: "cli", layout: "default", nodes: { from: 7, to: 8 } };
  const commands = zookeeperDdl(options, { prefix: "/by/hand" }).trim().split("\n");
  const run = (command) =>
    zkCli(server.port, ...command.match(/'[^']*'|\S+/g).map((word) => word.replace(/^'|'$/g, "")));
  for (const command of commands) run(command);
  assert.throws(() => run(commands.at(-1)), /version No is not valid|BadVersion/);
  const store = await connected({ prefix: "/by/hand" });
  assert.equal((await store.acquire(attempt({ scope: "cli" }))).reason, "incarnation");
  await store.ensure({ scope: "cli", behind: false });
  assert.equal((await store.acquire(attempt({ scope: "cli" }))).node, 7);
  // What `init` writes differs in the epoch alone.
  await store.init({ ...options, scope: "code" });
  const one = await client();
  const [byCode] = await call(one, "getData", "/by/hand/code");
  const text = /'(.*)'/.exec(commands.at(-1))[1];
  assert.deepEqual({ ...JSON.parse(byCode), incarnation: "" }, JSON.parse(text));
  const [children] = await call(one, "getChildren", "/by/hand/code");
  assert.deepEqual(children.sort(), (await call(one, "getChildren", "/by/hand/cli"))[0].sort());
});

test("rows are JSON that people can read, and a preferred node id 1,023 beyond the rows is granted", async () => {
  const scope = await newScope(1023);
  const store = await connected();
  const granted = await store.acquire(attempt({ scope, node: 1023, owner: "host 7" }));
  assert.equal(granted.node, 1023);
  const text = zkCli(server.port, "get", `/frazil/${scope}/leases/1023`);
  const { fromMs, untilMs, grant } = granted;
  const row = JSON.parse(text.split("\n").find((line) => line.startsWith("{")));
  assert.deepEqual([row.node, row.fromMs, row.untilMs, row.grant, row.owner], [1023, fromMs, untilMs, grant, "host 7"]);
});

test("a scope that somebody has changed by hand is refused, with the znode", async () => {
  const scope = await newScope(0);
  const store = await connected();
  const one = await client();
  const held = await store.acquire(attempt({ scope }));
  await call(one, "remove", `/frazil/${scope}/grants/${held.grant}`);
  await assert.rejects(store.release(releaseOf(held, { scope })), told({ code: "STORE_REFUSED", message: /grants\// }));
  await call(one, "remove", `/frazil/${scope}/clock`);
  await assert.rejects(store.acquire(attempt({ scope })), told({ code: "STORE_REFUSED", message: /clock is missing/ }));
  await call(one, "setData", `/frazil/${scope}`, Buffer.from("text"), -1);
  await assert.rejects(
    store.fence({ scope }),
    told({ code: "STORE_REFUSED", message: /must have JSON as the store writes it, got "text"/ }),
  );
});

test("what is no client or no option is refused, and the constructor sends nothing", () => {
  for (const value of [undefined, null, "127.0.0.1:2181", {}, { get() {} }])
    assert.throws(() => new ZooKeeperStore(value), { code: "INVALID_ARGUMENT", field: "client" });
  const make = () => assert.fail("called by the constructor");
  for (const [field, value] of [
    ["prefix", "frazil"],
    ["prefix", "/"],
    ["prefix", "/a/"],
    ["acl", []],
    ["incarnation", "zxid"],
  ])
    assert.throws(() => new ZooKeeperStore(make, { [field]: value }), { code: "INVALID_OPTION", field });
  assert.throws(() => new ZooKeeperStore(make, { prefx: "/a" }), told({ code: "INVALID_OPTION", message: /prefix/ }));
  assert.ok(Layout.named("default"));
});
