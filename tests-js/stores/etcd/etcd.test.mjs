// Faults with etcd, on real servers: contending clients, lost answers, rights, space, members, options.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { lease as leaseIds } from "frazil/lease";
import { EtcdStore } from "frazil/stores/etcd";
import { etcdDdl } from "../../../npm/frazil/dist/stores/etcd.mjs";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { attempt, hex, renewalOf, stoppingPlace } from "../kit/attempts.mjs";
import { freePort } from "../kit/server-process.mjs";
import { changingFetch, newScope, running, server, startCluster, startServer, storeOf } from "./one-server.mjs";
import { EtcdServer } from "./server.mjs";

/** How many of these leases have a node id that another one has. */
const repeats = (leases) => leases.length - new Set(leases.map(({ node }) => node)).size;

/** 64 clients take 256 node ids in all, four each, in a scope that has so many rows. */
async function contend(options) {
  const scope = await newScope({ nodes: { from: 0, to: 255 } });
  const leases = [];
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      const store = storeOf(options);
      for (let count = 0; count < 4; count++) {
        const answer = await store.acquire(attempt({ scope }));
        if (answer.granted) leases.push(answer);
      }
    }),
  );
  return leases;
}

describe("clients that contend", () => {
  // docs/internals/claims.md: 22
  test("64 clients take 256 node ids, each once", async () => {
    const leases = await contend();
    assert.equal(leases.length, 256);
    assert.equal(repeats(leases), 0);
  });

  test("the same check finds node ids granted twice if the comparisons are left out", async () => {
    const blind = changingFetch({ request: (json) => ({ ...json, compare: [] }) });
    assert.ok(repeats(await contend({ fetch: blind })) > 0);
  });
});

/**
 * A client is stopped between its read and its write of a node id, which another client takes meanwhile. Returns what both were
 * answered. `change`: what becomes of the request that comes late.
 */
async function lateWrite(change) {
  const scope = await newScope({ nodes: { from: 0, to: 0 } });
  const other = storeOf();
  await other.release({ scope, ...(await other.acquire(attempt({ scope }))), untilMs: 0, heldUntilMs: 8e15 });
  const { stop, arrived, goOn } = stoppingPlace();
  const changed = changingFetch({ request: change });
  const stopping = async (url, init) => {
    if (init.body.includes("request_put")) await stop();
    return changed(url, init);
  };
  const late = storeOf({ fetch: stopping, timeoutMs: 10_000 }).acquire(attempt({ scope }));
  await arrived;
  const taken = await other.acquire(attempt({ scope }));
  goOn();
  return [taken, await late];
}

describe("a client that is stopped between its read and its write", () => {
  // docs/internals/claims.md: 22
  test("does not take a node id that another one took meanwhile", async () => {
    const [taken, late] = await lateWrite((json) => json);
    assert.ok(taken.granted);
    assert.equal(late.reason, "exhausted");
  });

  test("takes it if the revision of the row is not compared", async () => {
    const [taken, late] = await lateWrite((json) => ({ ...json, compare: [] }));
    assert.ok(taken.granted && late.granted && late.fromMs < taken.untilMs);
  });
});

test("three members: compaction, defragmentation, restarts, a killed and a replaced member are no other incarnation", async () => {
  const members = await startCluster(3);
  const [first, second, third] = members;
  const store = new EtcdStore({ endpoints: members.map(({ url }) => url) });
  await store.init({ scope: "s", layout: "default" });
  let held = await store.acquire(attempt());
  assert.ok(held.granted);
  const renew = async (what) => {
    for (let tries = 0; ; tries++) {
      try {
        const answer = await store.renew(renewalOf(held));
        assert.ok(answer.granted, `${what}: ${JSON.stringify(answer)}`);
        held = answer;
        return;
      } catch (error) {
        // An election, or a write whose answer is lost.
        if (error.code !== "STORE_UNAVAILABLE" || tries === 20) throw error;
        await sleep(200);
      }
    }
  };
  await renew("at rest");
  const { header } = await first.call("kv/range", { key: btoa("none") });
  first.etcdctl(["compact", header.revision]);
  for (const member of members) member.etcdctl(["defrag"]);
  await renew("compacted and defragmented");
  // The endpoint that is asked first.
  await first.crash();
  await renew("the first member killed");
  await first.start();
  first.signal("SIGSTOP");
  await renew("the first member stopped");
  first.signal("SIGCONT");
  for (const member of members) {
    await member.stop();
    await member.start();
    await renew("a member restarted");
  }
  await third.crash();
  const { members: list } = await first.call("cluster/member/list");
  const { ID } = list.find(({ name }) => name === third.name);
  // etcd refuses a change of its members until a quorum of them has been connected for 5 s.
  const change = async (args) => {
    for (let tries = 0; ; tries++) {
      try {
        return first.etcdctl(["member", ...args]);
      } catch (error) {
        if (!/unhealthy/.test(error.message) || tries === 60) throw error;
        await sleep(250);
      }
    }
  };
  await change(["remove", BigInt(ID).toString(16)]);
  await renew("a member removed");
  await change(["add", third.name, `--peer-urls=http://127.0.0.1:${third.peerPort}`]);
  third.data += "-new";
  third.args = ["--initial-cluster-state=existing"];
  await third.start();
  await renew("a member replaced");
  await second.stop();
  await renew("the second member stopped, with the new one in the quorum");
  const { incarnation, fenceMs } = JSON.parse(first.etcdctl(["get", "frazil/s/scope", "--print-value-only"]));
  assert.match(incarnation, /\/0$/);
  assert.equal(fenceMs, 0);
});

test("a member that is cut off from the others answers nothing, although it has the keys", async () => {
  const [first, ...others] = await startCluster(3);
  const store = storeOf({ timeoutMs: 1000 }, first);
  await store.init({ scope: "s", layout: "default" });
  for (const other of others) other.signal("SIGSTOP");
  await assert.rejects(store.acquire(attempt()), { code: "STORE_UNAVAILABLE" });
  // What a read that is not linearizable would have shown.
  const stale = await first.call("kv/range", { key: btoa("frazil/s/scope"), serializable: true });
  assert.equal(stale.count, "1");
  for (const other of others) other.signal("SIGCONT");
});

describe("answers that are lost", () => {
  /** Loses the answer of the next transaction that writes, after it took place. */
  const losing = () => {
    const state = { lose: false, writes: 0 };
    state.fetch = async (url, init) => {
      const isWrite = init.body.includes("request_put");
      if (isWrite) state.writes++;
      const response = await fetch(url, init);
      if (!state.lose || !isWrite) return response;
      state.lose = false;
      await response.text();
      throw new TypeError("fetch failed", { cause: new Error("other side closed") });
    };
    return state;
  };

  // docs/internals/claims.md: 22, 26
  test("of acquire, renew and release: unknown, sent once, and the repeated call has the same lease", async () => {
    const state = losing();
    // Two endpoints: the write must not go to the other one.
    const { url } = server;
    const store = storeOf({ fetch: state.fetch, endpoints: [url, url.replace("127.0.0.1", "localhost")] });
    const scope = await newScope({ nodes: { from: 0, to: 1 } });
    await store.release({ scope, ...(await store.acquire(attempt({ scope }))), untilMs: 0, heldUntilMs: 8e15 });
    const unknown = async (call) => {
      state.lose = true;
      state.writes = 0;
      await assert.rejects(call(), { code: "STORE_UNAVAILABLE", retryable: true });
      assert.equal(state.writes, 1);
    };
    const request = attempt({ scope });
    await unknown(() => store.acquire(request));
    const held = await store.acquire(request);
    assert.ok(held.granted);
    // One node id was taken, not two.
    assert.ok((await store.acquire(attempt({ scope }))).granted);
    assert.equal((await store.acquire(attempt({ scope }))).reason, "exhausted");
    const renewal = renewalOf(held, { scope, windowMs: 50_000 });
    await sleep(5);
    await unknown(() => store.renew(renewal));
    assert.ok((await store.renew(renewal)).granted);
    const known = await store.renew({ ...renewal, nonce: hex(), untilMs: 8e15 }).catch(() => undefined);
    assert.notEqual(known?.granted, true);
    await unknown(() => store.release({ scope, grant: held.grant, node: held.node, untilMs: 0, heldUntilMs: 8e15 }));
    assert.ok((await store.acquire(attempt({ scope }))).granted, "the release did not take place");
  });

  test("a call that aborts rejects with its reason, and the next one asks another endpoint", async () => {
    const asked = [];
    const hanging = (url, init) => {
      asked.push(new URL(url).hostname);
      return url.includes("localhost") ? new Promise(() => {}) : fetch(url, init);
    };
    const { url } = server;
    const store = storeOf({ fetch: hanging, endpoints: [url.replace("127.0.0.1", "localhost"), url] });
    const scope = await newScope();
    const controller = new AbortController();
    const reason = new Error("given up");
    setTimeout(() => controller.abort(reason), 50);
    await assert.rejects(store.acquire(attempt({ scope, signal: controller.signal })), (error) => error === reason);
    assert.ok((await store.acquire(attempt({ scope }))).granted);
    assert.deepEqual(asked, ["localhost", "127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1"]);
  });

  test("an endpoint that never answers is left after timeoutMs; if it is the only one, STORE_UNAVAILABLE", async () => {
    const hanging = (url, init) => (url.includes("localhost") ? new Promise(() => {}) : fetch(url, init));
    const { url } = server;
    const slow = url.replace("127.0.0.1", "localhost");
    const scope = await newScope();
    const store = storeOf({ fetch: hanging, endpoints: [slow, url], timeoutMs: 2000 });
    assert.ok((await store.acquire(attempt({ scope }))).granted);
    const alone = storeOf({ fetch: hanging, endpoints: [slow], timeoutMs: 50 });
    await assert.rejects(
      alone.acquire(attempt({ scope })),
      told({
        code: "STORE_UNAVAILABLE",
        message: /no answer for 50 ms/,
      }),
    );
  });

  test("a server that is down is STORE_UNAVAILABLE, with the reason", async () => {
    const endpoints = [`http://127.0.0.1:${await freePort()}`];
    await assert.rejects(
      storeOf({ endpoints }).acquire(attempt()),
      told({
        code: "STORE_UNAVAILABLE",
        message: /ECONNREFUSED/,
      }),
    );
  });
});

test("a database without space takes no writes: STORE_REFUSED that says what to do; then it goes on", async () => {
  const own = await startServer({ args: [`--quota-backend-bytes=${4 * 1024 * 1024}`] });
  const store = storeOf({}, own);
  await store.init({ scope: "s", layout: "default" });
  const held = await store.acquire(attempt());
  const filler = btoa("x".repeat(500_000));
  for (let count = 0; ; count++) {
    const { code } = await own.call("kv/put", { key: btoa(`filler`), value: filler });
    if (code) break;
    assert.ok(count < 100, "it has space without end");
  }
  await assert.rejects(store.renew(renewalOf(held)), told({ code: "STORE_REFUSED", message: /alarm disarm/ }));
  const { header } = await own.call("kv/range", { key: btoa("none") });
  own.etcdctl(["compact", header.revision]);
  own.etcdctl(["defrag"]);
  own.etcdctl(["alarm", "disarm"]);
  assert.ok((await store.renew(renewalOf(held))).granted);
});

test("an endpoint that is not etcd is refused, with what was expected", async () => {
  const pages = createServer((request, response) => {
    response.statusCode = Number(request.url.split("/")[1]);
    response.end("<html>hello</html>");
  });
  await new Promise((resolve) => pages.listen(0, "127.0.0.1", resolve));
  const at = (status) => storeOf({ endpoints: [`http://127.0.0.1:${pages.address().port}/${status}`] });
  for (const status of [200, 302, 404])
    await assert.rejects(
      at(status).acquire(attempt()),
      told({ code: "STORE_REFUSED", message: /client URLs of etcd/ }),
    );
  for (const status of [502, 503]) await assert.rejects(at(status).acquire(attempt()), { code: "STORE_UNAVAILABLE" });
  await new Promise((resolve) => pages.close(resolve));
  const peer = storeOf({ endpoints: [`http://127.0.0.1:${server.peerPort}`] });
  await assert.rejects(peer.acquire(attempt()), told({ code: "STORE_REFUSED", message: /not those of peers/ }));
});

test("a learner is passed over, and refused if it is alone", async () => {
  const own = await startServer();
  const peerPort = await freePort();
  own.etcdctl(["member", "add", "learner", "--learner", `--peer-urls=http://127.0.0.1:${peerPort}`]);
  const learner = new EtcdServer({
    name: "learner",
    port: await freePort(),
    peerPort,
    cluster: `${own.cluster},learner=http://127.0.0.1:${peerPort}`,
    token: own.token,
    args: ["--initial-cluster-state=existing"],
  });
  running.push(learner);
  await learner.start();
  const alone = storeOf({}, learner);
  await assert.rejects(alone.acquire(attempt()), told({ code: "STORE_REFUSED", message: /members that vote/ }));
  const both = storeOf({ endpoints: [learner.url, own.url] });
  const scope = await newScope({}, both);
  assert.ok((await both.acquire(attempt({ scope }))).granted);
});

test("the commands for administrators make the record that init makes, and the rights that programs need", async () => {
  const own = await startServer();
  const text = etcdDdl({ scope: "orders", layout: "default", nodes: { from: 3, to: 99 }, windowMaxMs: 30_000 });
  const run = () =>
    spawnSync("sh", ["-e"], { input: text, encoding: "utf8", env: { ...process.env, ETCDCTL_ENDPOINTS: own.url } });
  const first = run();
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stdout, /SUCCESS/);
  const store = storeOf({}, own);
  await store.init({ scope: "made", layout: "default", nodes: { from: 3, to: 99 }, windowMaxMs: 30_000 });
  const [printed, made] = ["orders", "made"].map((scope) =>
    JSON.parse(own.etcdctl(["get", `frazil/${scope}/scope`, "--print-value-only"])),
  );
  // The cluster and the term are not known to who prints.
  assert.deepEqual({ ...printed, incarnation: made.incarnation, term: made.term }, made);
  // The role exists by now: only the record is tried again.
  const again = text.slice(text.indexOf("# The record"));
  const second = spawnSync("sh", ["-e"], {
    input: again,
    encoding: "utf8",
    env: { ...process.env, ETCDCTL_API: "3", ETCDCTL_ENDPOINTS: own.url },
  });
  assert.equal(second.status, 1);
  assert.equal(second.stdout, "");
  assert.match(second.stderr, /the record was not written/);
  assert.deepEqual(JSON.parse(own.etcdctl(["get", "frazil/orders/scope", "--print-value-only"])), printed);
  for (const args of [
    ["user", "add", "root:secret"],
    ["user", "grant-role", "root", "root"],
    ["user", "add", "app:pass"],
    ["user", "grant-role", "app", "frazil"],
    ["auth", "enable"],
  ])
    own.etcdctl(args);
  const app = storeOf({ username: "app", password: "pass" }, own);
  await app.ensure({ scope: "orders", behind: false });
  const lease = await app.acquire(attempt({ scope: "orders", windowMs: 30_000 }));
  assert.ok(lease.granted && lease.node >= 3, JSON.stringify(lease));
});

test("the commands for administrators run nothing that is in the prefix", async () => {
  const input = etcdDdl({ scope: "orders", layout: "default" }, { prefix: "$(echo>&2INJECTED;id);/" });
  const env = { ...process.env, ETCDCTL_ENDPOINTS: server.url };
  const { stdout, stderr, status } = spawnSync("sh", ["-e"], { input, encoding: "utf8", env });
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stdout + stderr, /uid=/);
  assert.equal(
    (await storeOf({ prefix: "$(echo>&2INJECTED;id);/" }).acquire(attempt({ scope: "orders" }))).reason,
    "incarnation",
  );
});

test("options are checked, and no password is shown", () => {
  const refused = (options, field) =>
    assert.throws(
      () => new EtcdStore(options),
      (error) => {
        assert.deepEqual([error.code, error.field ?? field], ["INVALID_OPTION", field], error.message);
        assert.ok(!JSON.stringify([wholeText(error), error.value ?? ""]).includes("hunter2"), error.message);
        return true;
      },
    );
  const endpoints = ["http://127.0.0.1:2379"];
  for (const wrong of [undefined, "http://127.0.0.1:2379", [], ["127.0.0.1:2379"], ["http://u:hunter2@h"], [7]])
    refused({ endpoints: wrong }, "endpoints");
  for (const [endpoint, fault] of [
    ["127.0.0.1:2379", /entry 0 does not begin with http:\/\//],
    ["http://u:hunter2@127.0.0.1:2379", /entry 0 has a user or a password/],
    ["http://127.0.0.1:2379/?a", /entry 0 has a \? or a #/],
    [7, /entry 0 is a number/],
  ])
    assert.throws(
      () => new EtcdStore({ endpoints: [endpoint] }),
      (error) => fault.test(error.message) && !wholeText(error).includes("hunter2"),
    );
  refused({ endpoints, username: "u" }, "username");
  refused({ endpoints, password: "hunter2" }, "username");
  refused({ endpoints, username: "u", password: "hunter2", token: () => "" }, "username");
  refused({ endpoints, token: "hunter2" }, "token");
  refused({ endpoints, prefix: "a b" }, "prefix");
  refused({ endpoints, prefix: "" }, "prefix");
  refused({ endpoints, fetch: 7 }, "fetch");
  refused({ endpoints, timeoutMs: 0 }, "timeoutMs");
  assert.throws(() => new EtcdStore({ endpoint: endpoints }), told({ code: "INVALID_OPTION", message: /endpoints/ }));
});

test("a record that is missing names no call that does not exist", async () => {
  const store = storeOf();
  await assert.rejects(store.ensure({ scope: "none", behind: false }), (error) => {
    assert.equal(error.code, "STORE_NOT_INITIALISED");
    assert.match(wholeText(error), / in the key frazil\/.*\/scope of etcd at http:/);
    assert.ok(!wholeText(error).includes("migrate"), wholeText(error));
    return true;
  });
  await assert.rejects(leaseIds(store, { scope: "none" }), (error) => {
    assert.equal(error.code, "STORE_NOT_INITIALISED");
    const text = wholeText(error);
    assert.ok(!text.includes("migrate") && text.includes("store.init("), text);
    return true;
  });
});

test("init refuses a scope that has a record, or rows without one; a record restored alone makes no rows", async () => {
  const store = storeOf();
  const scope = await newScope();
  await assert.rejects(
    store.init({ scope, layout: "twitter" }),
    told({ code: "STATE_CONFLICT", message: /has a record of/ }),
  );
  assert.ok((await store.acquire(attempt({ scope }))).granted);
  const key = `frazil/${scope}/scope`;
  const record = JSON.parse(server.etcdctl(["get", key, "--print-value-only"]));
  server.etcdctl(["del", key]);
  await assert.rejects(
    store.init({ scope, layout: "default" }),
    told({ code: "STATE_CONFLICT", message: /has rows, and no record/ }),
  );
  server.etcdctl(["put", key, JSON.stringify({ ...record, nextNode: 0 })]);
  await assert.rejects(
    store.acquire(attempt({ scope, node: 100 })),
    told({
      code: "STORE_REFUSED",
      message: /restored alone/,
    }),
  );
});

test("a node id far beyond the rows is made in several transactions, with all rows before it", async () => {
  const store = storeOf();
  const scope = await newScope();
  const { node } = await store.acquire(attempt({ scope, node: 1000 }));
  assert.equal(node, 1000);
  const keys = server
    .etcdctl(["get", `frazil/${scope}/leases/`, "--prefix", "--keys-only"])
    .split("\n")
    .filter(Boolean);
  assert.equal(keys.length, 1001);
});

/** A `fetch` that gets one answer, whoever asks. */
const answering =
  (text, date = new Date().toUTCString()) =>
  async () => ({ status: 200, headers: { get: () => date }, text: async () => text });

test("answers that are no etcd's are refused with a code, and one that is cut off is STORE_UNAVAILABLE", async () => {
  const header = { cluster_id: "1", revision: "5", raft_term: "2" };
  const kvs = (kvs) => [{ response_range: { kvs } }];
  for (const responses of [{}, null, 5, [5], kvs({}), kvs([null]), kvs([{}]), kvs([{ key: "%", mod_revision: "1" }])]) {
    const store = storeOf({ fetch: answering(JSON.stringify({ header, responses })) });
    // A response without a range is one of a write.
    const code = responses?.[0] === 5 ? undefined : "STORE_REFUSED";
    assert.equal((await store.acquire(attempt()).catch((error) => error)).code, code, JSON.stringify(responses));
  }
  const whole = JSON.stringify({ header });
  for (const length of [1, 10, whole.length - 1])
    await assert.rejects(storeOf({ fetch: answering(whole.slice(0, length)) }).acquire(attempt()), {
      code: "STORE_UNAVAILABLE",
    });
});

test("a Date that is none of HTTP is refused: it would be read in the time zone of this machine, or as a year", async () => {
  const text = JSON.stringify({ header: { cluster_id: "1", revision: "5", raft_term: "2" } });
  for (const date of ["0", "2026", "Sun Nov 22 10:30:50 2026", "Sun, 22 Nov 2026 10:30:50", "1970-01-01", ""])
    await assert.rejects(storeOf({ fetch: answering(text, date) }).acquire(attempt()), { code: "STORE_REFUSED" });
});

test("a token or a header that HTTP does not allow is refused, and not shown; a line break at the end is left out", async () => {
  const secret = "s3cr3t";
  for (const token of [`${secret}\nx`, `${secret}\u20ac`, `${secret}\0`]) {
    const error = await storeOf({ token: () => token })
      .acquire(attempt())
      .catch((error) => error);
    assert.equal(error.code, "STORE_REFUSED");
    assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(secret), error.message);
  }
  for (const headers of [
    { Authorization: `${secret}\nx` },
    { [`x\n${secret}`]: "1" },
    { Authorization: `${secret}\u20ac` },
    new Headers({ Authorization: secret }),
    [["Authorization", secret]],
  ]) {
    const make = () => storeOf({ headers });
    assert.throws(make, (error) => error.code === "INVALID_OPTION" && !inspect(error, { depth: 9 }).includes(secret));
  }
  for (const option of [{ prefix: 5n }, { timeoutMs: Object.create(null) }])
    assert.throws(() => storeOf(option), { code: "INVALID_OPTION" });
  let seen;
  const fetch = async (_, { headers }) => {
    seen = headers.Authorization;
    return answering("{}")();
  };
  await storeOf({ token: () => `${secret}\n`, fetch })
    .acquire(attempt())
    .catch(() => {});
  assert.equal(seen, secret);
});

test("a token that never comes is STORE_UNAVAILABLE after timeoutMs, also without a signal", async () => {
  const store = storeOf({ token: () => new Promise(() => {}), timeoutMs: 50 });
  await assert.rejects(store.fence(), told({ code: "STORE_UNAVAILABLE", message: /no token for 50 ms/ }));
});
