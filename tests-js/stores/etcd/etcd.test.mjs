// What goes wrong with etcd, on real servers: clients that contend, clocks, restores, lost answers, rights, space, members.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { inspect } from "node:util";
import { lease as leaseIds } from "frazil/lease";
import { EtcdStore } from "frazil/stores/etcd";
import { etcdDdl } from "../../../npm/frazil/dist/stores/etcd.mjs";
import { attempt, hex, renewalOf } from "../attempts.mjs";
import { freePort, serverFolder } from "../server-process.mjs";
import { connectStore, EtcdServer, movableFetch, startCluster as startMembers } from "./server.mjs";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const running = [];
async function startCluster(count, args) {
  const members = await startMembers(count, args);
  running.push(...members);
  return members;
}
const startServer = async ({ args } = {}) => (await startCluster(1, args))[0];

let server;
before(async () => {
  server = await startServer();
});
after(() => Promise.all(running.map((member) => member.crash())));

const storeOf = (options, { port } = server) => new EtcdStore({ endpoints: [`http://127.0.0.1:${port}`], ...options });

/** A new scope. */
async function newScope(options = {}, store = storeOf()) {
  const scope = `s${hex().slice(0, 12)}`;
  await store.init({ scope, layout: "default", ...options });
  return scope;
}

/** A `fetch` whose requests and answers are changed. Each function gets the JSON and returns what is passed on. */
const changingFetch =
  ({ request = (json) => json, answer = (json) => json }, inner = fetch) =>
  async (url, init) => {
    const response = await inner(url, { ...init, body: JSON.stringify(request(JSON.parse(init.body), url)) });
    const text = JSON.stringify(answer(JSON.parse(await response.text())));
    return { status: response.status, headers: response.headers, text: async () => text };
  };

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
  // docs/safety.md: 22
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
  let arrive;
  const arrived = new Promise((resolve) => {
    arrive = resolve;
  });
  let goOn;
  const resumed = new Promise((resolve) => {
    goOn = resolve;
  });
  const changed = changingFetch({ request: change });
  const stopping = async (url, init) => {
    if (init.body.includes("request_put")) {
      arrive();
      await resumed;
    }
    return changed(url, init);
  };
  const late = storeOf({ fetch: stopping, timeoutMs: 10_000 }).acquire(attempt({ scope }));
  await arrived;
  const taken = await other.acquire(attempt({ scope }));
  goOn();
  return [taken, await late];
}

describe("a client that is stopped between its read and its write", () => {
  // docs/safety.md: 22
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

let answers = 1_000_000;
/** A `fetch` with which a cluster never shows that it went back: it is always the same one, and its revision grows. */
const unchanging = changingFetch({
  answer: (json) => ({
    ...json,
    header: { ...json.header, cluster_id: "1", revision: `${++answers}`, raft_term: "1000" },
  }),
});

/**
 * Grants a node id after a snapshot was saved, restores the snapshot, and asks for the node id again until it is granted. Returns
 * both windows. `sameToken`: the restored cluster has the same id. `fresh`: whoever asks has seen nothing before.
 */
async function restoreAndAskAgain({ sameToken, fresh = false, broken = false, restarts = 0 }) {
  const own = await startServer();
  for (let count = 0; count < restarts; count++) {
    await own.crash();
    await own.start();
  }
  const connect = async () => (await connectStore(own.port, broken ? { fetch: unchanging } : {})).store;
  const store = await connect();
  await store.init({ scope: "s", layout: "default", nodes: { from: 0, to: 0 }, windowMaxMs: 4000 });
  const used = await store.acquire(attempt({ windowMs: 100 }));
  assert.ok(await store.release({ scope: "s", ...used, untilMs: 0, heldUntilMs: used.untilMs }));
  const file = own.save();
  const lost = await store.acquire(attempt({ windowMs: 4000 }));
  assert.ok(lost.granted);
  await own.restore(file, sameToken ? {} : { token: "another" });
  const asking = fresh ? await connect() : store;
  const reasons = new Set();
  for (;;) {
    const answer = await asking.acquire(attempt({ windowMs: 1000 }));
    if (answer.granted) {
      return { overlaps: answer.fromMs < lost.untilMs, reasons };
    }
    reasons.add(answer.reason);
    if (answer.reason === "incarnation") await asking.ensure({ scope: "s", behind: false });
    await sleep(answer.reason === "incarnation" ? 0 : 200);
  }
}

describe("a restored snapshot", { concurrency: true }, () => {
  for (const [name, options] of [
    ["another token", { sameToken: false }],
    ["another token, asked by a store that saw nothing", { sameToken: false, fresh: true }],
    ["the same token", { sameToken: true }],
    [
      "the same token, asked by a store that saw nothing: later Raft terms",
      { sameToken: true, fresh: true, restarts: 3 },
    ],
  ]) {
    // docs/safety.md: 27
    test(`${name}: the next window begins behind the lost one`, async () => {
      const { overlaps, reasons } = await restoreAndAskAgain(options);
      assert.equal(overlaps, false);
      assert.deepEqual([...reasons], ["incarnation", "fenced"]);
    });
  }

  for (const sameToken of [false, true])
    test(`without the incarnation, windows overlap (${sameToken ? "the same" : "another"} token)`, async () => {
      const { overlaps } = await restoreAndAskAgain({ sameToken, broken: true });
      assert.ok(overlaps, "no overlap: the tests above show nothing");
    });

  for (const sameToken of [false, true])
    test(`one loss makes one epoch, however many see it (${sameToken ? "the same" : "another"} token)`, async () => {
      const own = await startServer();
      const stores = await Promise.all(Array.from({ length: 8 }, async () => (await connectStore(own.port)).store));
      await stores[0].init({ scope: "s", layout: "default" });
      const file = own.save();
      const requests = stores.map(() => attempt());
      for (const [at, store] of stores.entries()) assert.ok((await store.acquire(requests[at])).granted);
      await own.restore(file, sameToken ? {} : { token: "another" });
      await Promise.all(stores.slice(0, 5).map((store) => store.ensure({ scope: "s", behind: false })));
      const fence = async (store) => (await store.acquire(attempt())).freeAtMs;
      const first = await fence(stores[0]);
      // They come later, with a memory of the lost revisions.
      for (const store of stores) {
        await store.ensure({ scope: "s", behind: false });
        assert.equal(await fence(store), first, "a second fence");
      }
      const { incarnation } = JSON.parse(own.etcdctl(["get", "frazil/s/scope", "--print-value-only"]));
      assert.match(incarnation, /^[0-9a-f]+\/1$/);
      // The next loss is seen as well: the record goes back to epoch 0.
      await own.restore(file, sameToken ? {} : { token: "a third" });
      assert.equal((await stores[7].acquire(attempt())).reason, "incarnation");
      await stores[7].ensure({ scope: "s", behind: false });
      const again = JSON.parse(own.etcdctl(["get", "frazil/s/scope", "--print-value-only"])).incarnation;
      assert.match(again, /^[0-9a-f]+\/2$/);
    });

  test("a record that nobody had used: the fence is raised by whoever saw it used", async () => {
    const own = await startServer();
    const { store } = await connectStore(own.port);
    await store.init({ scope: "s", layout: "default" });
    const record = JSON.parse(own.etcdctl(["get", "frazil/s/scope", "--print-value-only"]));
    own.etcdctl(["put", "frazil/s/scope", JSON.stringify({ ...record, incarnation: "", term: 0 })]);
    const file = own.save();
    assert.equal((await store.acquire(attempt())).reason, "incarnation");
    await store.ensure({ scope: "s", behind: false });
    assert.ok((await store.acquire(attempt())).granted, "the first holder needs no fence");
    await own.restore(file);
    assert.equal((await store.acquire(attempt())).reason, "incarnation");
    await store.ensure({ scope: "s", behind: false });
    assert.equal((await store.acquire(attempt())).reason, "fenced");
  });
});

/**
 * A write is decided, held back, and carried out by the cluster that was restored from a snapshot, after the lost cluster had
 * granted the node id to another holder. Returns the window that was lost, and what the late holder was answered in the end.
 * `isLost`: the answer of the write does not arrive either. `answer`: what is made of the answers.
 */
async function writeAcrossRestore(operation, { isLost = false, answer = (json) => json } = {}) {
  const own = await startServer();
  const changed = changingFetch({ answer });
  const store = storeOf({ fetch: changed }, own);
  await store.init({ scope: "s", layout: "default", nodes: { from: 0, to: 0 }, windowMaxMs: 20_000 });
  const first = await store.acquire(attempt({ windowMs: operation === "renew" ? 1500 : 50 }));
  assert.ok(first.granted);
  if (operation === "acquire") await sleep(1300);
  const file = own.save();
  let arrive;
  const arrived = new Promise((resolve) => {
    arrive = resolve;
  });
  let goOn;
  const resumed = new Promise((resolve) => {
    goOn = resolve;
  });
  let writes = 0;
  const stopping = async (url, init) => {
    if (!init.body.includes("request_put") || ++writes > 1) return changed(url, init);
    arrive();
    await resumed;
    const response = await changed(url, init);
    if (isLost) throw new Error("the answer is lost");
    return response;
  };
  const late = storeOf({ fetch: stopping, timeoutMs: 60_000 }, own);
  const request = operation === "renew" ? renewalOf(first, { windowMs: 20_000 }) : attempt({ windowMs: 20_000 });
  const call = async () => late[operation](request).catch((error) => error);
  const pending = call();
  const early = await Promise.race([arrived, pending]);
  assert.equal(early, undefined, "no write was sent");
  let lost;
  while (!lost?.granted) {
    lost = await store.acquire(attempt({ windowMs: 20_000 }));
    await sleep(100);
  }
  await own.restore(file, { token: "another" });
  goOn();
  let result = await pending;
  const codes = [];
  for (let tries = 0; !result.granted && !/taken|fenced/.test(result.reason); tries++) {
    assert.ok(tries < 5, JSON.stringify(result));
    codes.push(result.code ?? result.reason);
    if (result.reason === "incarnation") await late.ensure({ scope: "s", behind: false });
    result = await call();
  }
  await own.crash();
  return { lost, result, codes };
}

describe("a write that was decided before a restore and arrives after it", { concurrency: true }, () => {
  // docs/safety.md: 22, 27
  test("of acquire: the node id, which the lost cluster granted meanwhile, is not granted", async () => {
    const { result, codes } = await writeAcrossRestore("acquire");
    assert.deepEqual([result.reason, ...codes], ["taken", "STORE_UNAVAILABLE"]);
  });

  // docs/safety.md: 22, 27
  test("of acquire, whose answer is lost: the same", async () => {
    const { result, codes } = await writeAcrossRestore("acquire", { isLost: true });
    assert.deepEqual([result.reason, ...codes], ["taken", "STORE_UNAVAILABLE"]);
  });

  // docs/safety.md: 22, 27
  test("of renew: the lease, whose window was over, is lost", async () => {
    const { result, codes } = await writeAcrossRestore("renew");
    assert.deepEqual([result.reason, ...codes], ["fenced", "STORE_UNAVAILABLE", "incarnation"]);
  });

  test("the same, with a cluster that never shows that it is another one: windows overlap", async () => {
    const answer = (json) => ({ ...json, header: { ...json.header, cluster_id: "1", raft_term: "1000" } });
    const { lost, result } = await writeAcrossRestore("acquire", { answer });
    assert.ok(result.granted && result.fromMs < lost.untilMs && lost.fromMs < result.untilMs, JSON.stringify(result));
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
  first.etcdctl(["member", "remove", BigInt(ID).toString(16)]);
  await renew("a member removed");
  // It is refused until the two members have been connected for some seconds.
  const add = () => first.etcdctl(["member", "add", third.name, `--peer-urls=http://127.0.0.1:${third.peerPort}`]);
  for (let tries = 0; ; tries++) {
    try {
      add();
      break;
    } catch (error) {
      if (!/unhealthy/.test(error.message) || tries === 60) throw error;
      await sleep(250);
    }
  }
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

describe("the clock", () => {
  /** The time of the store, as an answer has it. */
  const nowOf = async (store, scope) => (await store.acquire(attempt({ scope, layout: "another" }))).storeNowMs;

  test("is never ahead of the server's, at most a second behind, and nearer after some answers", async () => {
    const store = storeOf();
    const scope = await newScope();
    // The server is on this host, and has its clock.
    let worst = 0;
    for (let count = 0; count < 60; count++) {
      const before = Date.now();
      const behindMs = Date.now() - (await nowOf(store, scope));
      const tookMs = Date.now() - before;
      assert.ok(behindMs >= -tookMs - 1, `${-behindMs} ms ahead`);
      assert.ok(behindMs <= 1000 + 1, `${behindMs} ms behind`);
      worst = count < 30 ? 0 : Math.max(worst, behindMs - tookMs);
      await sleep(37);
    }
    assert.ok(worst < 500, `still ${worst} ms behind`);
  });

  test("follows a step of the server's clock, forward and back", async () => {
    const { fetch, jump } = movableFetch();
    const store = storeOf({ fetch });
    const scope = await newScope();
    let offsetMs = 0;
    for (const step of [0, 3_600_000, -3_600_000, 5000, -2000, -86_400_000]) {
      offsetMs += step;
      await jump(step);
      const aheadMs = (await nowOf(store, scope)) - Date.now() - offsetMs;
      assert.ok(aheadMs <= 1 && aheadMs > -1500, `${aheadMs} ms ahead after a step by ${step}`);
    }
  });

  test("is right after answers that took long, and after a suspension of this machine", async () => {
    let delayMs = 0;
    const slow = async (...args) => {
      const response = await fetch(...args);
      await sleep(delayMs);
      return response;
    };
    const store = storeOf({ fetch: slow });
    const scope = await newScope();
    await nowOf(store, scope);
    delayMs = 1500;
    const beganMs = Date.now();
    const late = await nowOf(store, scope);
    // As exact as before: the first answer bounds it.
    assert.ok(late <= Date.now() && late >= beganMs + 1500 - 1100, `${late - beganMs} ms after the call began`);
    delayMs = 0;
    // The monotonic clock of Linux stands still while the machine is suspended.
    const real = performance.now;
    performance.now = () => real.call(performance) - 60_000;
    try {
      const aheadMs = (await nowOf(store, scope)) - Date.now();
      assert.ok(aheadMs <= 1 && aheadMs > -1100, `${aheadMs} ms ahead after a suspension`);
    } finally {
      performance.now = real;
    }
  });

  test("of each endpoint is its own", async () => {
    const { fetch: ahead, jump } = movableFetch();
    await jump(20_000);
    const dead = new Set();
    const alias = `http://localhost:${server.port}`;
    const both = (url, init) => {
      if (dead.has(new URL(url).hostname)) return Promise.reject(new TypeError("fetch failed"));
      return (url.startsWith(alias) ? ahead : fetch)(url.replace("localhost", "127.0.0.1"), init);
    };
    const store = storeOf({ fetch: both, endpoints: [`http://127.0.0.1:${server.port}`, alias] });
    const scope = await newScope();
    const near = await nowOf(store, scope);
    dead.add("127.0.0.1");
    const far = await nowOf(store, scope);
    assert.ok(far - near > 18_000 && far - near < 22_000, `${far - near} ms between two members that are 20 s apart`);
    dead.clear();
    dead.add("localhost");
    const again = await nowOf(store, scope);
    assert.ok(again >= near && again - near < 5000, "the clock of one endpoint moved that of the other");
  });

  // docs/safety.md: 22
  test("windows never overlap while members a minute apart answer by turns; a store that trusts `until` alone is caught", async () => {
    const overlapping = async (broken) => {
      const { fetch: moved, jump } = movableFetch();
      // Broken: the row's end is read as over, whatever it is.
      const forgetting = changingFetch(
        {
          answer: (json) => {
            for (const { response_range: { kvs = [] } = {} } of json.responses ?? [])
              for (const pair of kvs) {
                const value = JSON.parse(atob(pair.value));
                if (value.writtenMs === undefined || value.grant === null) continue;
                pair.value = btoa(JSON.stringify({ ...value, untilMs: "0".padStart(16, "0") }));
              }
            return json;
          },
        },
        moved,
      );
      const scope = await newScope({ nodes: { from: 0, to: 0 } });
      const windows = [];
      for (let count = 0; count < 40; count++) {
        await jump(count % 2 ? 60_000 : -60_000);
        const store = storeOf({ fetch: broken ? forgetting : moved });
        const answer = await store.acquire(attempt({ scope, windowMs: 300 }));
        if (answer.granted) windows.push(answer);
        await sleep(10);
      }
      windows.sort((a, b) => a.fromMs - b.fromMs || a.untilMs - b.untilMs);
      return {
        count: windows.length,
        overlaps: windows.filter((window, at) => windows[at - 1]?.untilMs > window.fromMs).length,
      };
    };
    const { count, overlaps } = await overlapping(false);
    assert.ok(count > 0);
    assert.equal(overlaps, 0);
    assert.ok((await overlapping(true)).overlaps > 0, "the check finds nothing");
  });

  test("an answer without a Date header is refused", async () => {
    const bare = async (url, init) => {
      const response = await fetch(url, init);
      return { status: response.status, headers: { get: () => null }, text: () => response.text() };
    };
    await assert.rejects(storeOf({ fetch: bare }).acquire(attempt()), {
      code: "STORE_REFUSED",
      message: /Date header/,
    });
  });
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

  // docs/safety.md: 22, 26
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
    await assert.rejects(alone.acquire(attempt({ scope })), {
      code: "STORE_UNAVAILABLE",
      message: /no answer for 50 ms/,
    });
  });

  test("a server that is down is STORE_UNAVAILABLE, with the reason", async () => {
    const endpoints = [`http://127.0.0.1:${await freePort()}`];
    await assert.rejects(storeOf({ endpoints }).acquire(attempt()), {
      code: "STORE_UNAVAILABLE",
      message: /ECONNREFUSED/,
    });
  });
});

describe("authentication", () => {
  let own;
  const as = (options) => storeOf(options, own);
  before(async () => {
    own = await startServer();
    await storeOf({}, own).init({ scope: "s", layout: "default" });
    for (const args of [
      ["user", "add", "root:secret"],
      ["user", "grant-role", "root", "root"],
      ["user", "add", "app:pass"],
      ["auth", "enable"],
    ])
      own.etcdctl(args);
  });

  test("without a user, with a wrong password, without a right: STORE_REFUSED that says what to do", async () => {
    await assert.rejects(as({}).acquire(attempt()), { code: "STORE_REFUSED", message: /username and password/ });
    await assert.rejects(as({ username: "app", password: "wrong" }).acquire(attempt()), (error) => {
      assert.equal(error.code, "STORE_REFUSED");
      assert.ok(!error.message.includes("wrong"), error.message);
      assert.match(error.message, /check the options username and password/);
      return true;
    });
    await assert.rejects(as({ username: "app", password: "pass" }).acquire(attempt()), {
      code: "STORE_REFUSED",
      message: /grant-permission/,
    });
  });

  test("with the rights of the message, and after the token is void", async () => {
    const root = { user: "root:secret" };
    own.etcdctl(["role", "add", "frazil"], root);
    own.etcdctl(["role", "grant-permission", "frazil", "--prefix=true", "readwrite", "frazil/"], root);
    own.etcdctl(["user", "grant-role", "app", "frazil"], root);
    let tokens = 0;
    const counting = (url, init) => {
      if (url.endsWith("authenticate")) tokens++;
      return fetch(url, init);
    };
    const store = as({ username: "app", password: "pass", fetch: counting });
    const held = await store.acquire(attempt());
    assert.ok(held.granted);
    await Promise.all(Array.from({ length: 4 }, () => store.acquire(attempt())));
    assert.equal(tokens, 1);
    // A member keeps tokens in memory.
    await own.stop();
    await own.start();
    assert.ok((await store.renew(renewalOf(held))).granted);
    assert.equal(tokens, 2);
    own.etcdctl(["user", "add", "other:pass"], root);
    assert.ok((await store.acquire(attempt())).granted);
  });

  test("with a token of the user's own, which is asked for once more", async () => {
    const token = async () => (await own.call("auth/authenticate", { name: "root", password: "secret" })).token;
    let asked = 0;
    const store = as({ token: () => (asked++ === 0 ? "void.1" : token()) });
    assert.ok((await store.acquire(attempt())).granted);
    assert.equal(asked, 2);
    await assert.rejects(as({ token: () => "void.1" }).acquire(attempt()), { code: "STORE_REFUSED" });
    const failing = () => Promise.reject(new Error("no vault"));
    await assert.rejects(as({ token: failing }).acquire(attempt()), { code: "STORE_UNAVAILABLE", message: /no vault/ });
  });

  test("a user where authentication is off", async () => {
    const store = storeOf({ username: "app", password: "pass" });
    const scope = await newScope();
    assert.ok((await store.acquire(attempt({ scope }))).granted);
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
  await assert.rejects(store.renew(renewalOf(held)), { code: "STORE_REFUSED", message: /alarm disarm/ });
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
    await assert.rejects(at(status).acquire(attempt()), { code: "STORE_REFUSED", message: /client URLs of etcd/ });
  for (const status of [502, 503]) await assert.rejects(at(status).acquire(attempt()), { code: "STORE_UNAVAILABLE" });
  await new Promise((resolve) => pages.close(resolve));
  const peer = storeOf({ endpoints: [`http://127.0.0.1:${server.peerPort}`] });
  await assert.rejects(peer.acquire(attempt()), { code: "STORE_REFUSED", message: /not those of peers/ });
});

test("a learner is passed over, and refused if it is alone", async () => {
  const own = await startServer();
  const peerPort = await freePort();
  own.etcdctl(["member", "add", "learner", "--learner", `--peer-urls=http://127.0.0.1:${peerPort}`]);
  const learner = new EtcdServer({
    folder: serverFolder(),
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
  await assert.rejects(alone.acquire(attempt()), { code: "STORE_REFUSED", message: /members that vote/ });
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
  assert.match(second.stdout, /FAILURE/);
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
        assert.ok(!JSON.stringify([error.message, error.value ?? ""]).includes("hunter2"), error.message);
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
      ({ message }) => fault.test(message) && !message.includes("hunter2"),
    );
  refused({ endpoints, username: "u" }, "username");
  refused({ endpoints, password: "hunter2" }, "username");
  refused({ endpoints, username: "u", password: "hunter2", token: () => "" }, "username");
  refused({ endpoints, token: "hunter2" }, "token");
  refused({ endpoints, prefix: "a b" }, "prefix");
  refused({ endpoints, prefix: "" }, "prefix");
  refused({ endpoints, fetch: 7 }, "fetch");
  refused({ endpoints, timeoutMs: 0 }, "timeoutMs");
  assert.throws(() => new EtcdStore({ endpoint: endpoints }), { code: "INVALID_OPTION", message: /endpoints/ });
});

test("a record that is missing names no call that does not exist", async () => {
  const store = storeOf();
  await assert.rejects(store.ensure({ scope: "none", behind: false }), (error) => {
    assert.equal(error.code, "STORE_NOT_INITIALISED");
    assert.match(error.message, /looked in the key frazil\/.*\/scope of etcd at http:/);
    assert.ok(!error.message.includes("migrate"), error.message);
    return true;
  });
  await assert.rejects(leaseIds(store, { scope: "none" }), (error) => {
    assert.equal(error.code, "STORE_NOT_INITIALISED");
    assert.ok(!error.message.includes("migrate") && error.message.includes("store.init("), error.message);
    return true;
  });
});

test("init refuses a scope that has a record, or rows without one; a record restored alone makes no rows", async () => {
  const store = storeOf();
  const scope = await newScope();
  await assert.rejects(store.init({ scope, layout: "twitter" }), { code: "STATE_CONFLICT", message: /it has one/ });
  assert.ok((await store.acquire(attempt({ scope }))).granted);
  const key = `frazil/${scope}/scope`;
  const record = JSON.parse(server.etcdctl(["get", key, "--print-value-only"]));
  server.etcdctl(["del", key]);
  await assert.rejects(store.init({ scope, layout: "default" }), { code: "STATE_CONFLICT", message: /no rows/ });
  server.etcdctl(["put", key, JSON.stringify({ ...record, nextNode: 0 })]);
  await assert.rejects(store.acquire(attempt({ scope, node: 100 })), {
    code: "STORE_REFUSED",
    message: /restored alone/,
  });
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
  await assert.rejects(store.fence(), { code: "STORE_UNAVAILABLE", message: /no token for 50 ms/ });
});
