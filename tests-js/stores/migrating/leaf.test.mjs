// Frazil replaces a fleet of Meituan Leaf, one process at a time, while both mint: on a real ZooKeeper, with data in Leaf's format.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { lease } from "frazil/lease";
import { LeafStore } from "frazil/stores/zookeeper";
import zookeeper from "node-zookeeper-client";
import { told } from "../../base/rule-texts.mjs";
import { attempt } from "../kit/attempts.mjs";
import { call } from "../zookeeper/server.mjs";
import { administrator, connectAnew, folder, folderOf, LEAF, laterBy, newFleet, play, server } from "./leaf-fleet.mjs";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// docs/internals/claims.md: 22, 23
test("a fleet is replaced one by one, through kills, pauses, restarts and a ZooKeeper that is away: no ID repeats", async () => {
  const fleet = newFleet();
  const java = [fleet.java(0)];
  assert.deepEqual(await java[0].started, { event: "first", workerId: 0 });
  java.push(fleet.java(1), fleet.java(2));
  await Promise.all(java.map(({ started }) => started));
  const store = fleet.store();
  await store.init({ scope: fleet.scope, layout: "leaf" });

  const frazil = [fleet.frazil(0), fleet.frazil(1)];
  const ready = await Promise.all(frazil.map(({ started }) => started));
  const taken = new Set((await Promise.all(java.map(({ started }) => started))).map(({ workerId }) => workerId));
  for (const { workerId } of ready) assert.ok(!taken.has(workerId), `${workerId} is the number of a Java server`);
  await sleep(1500);

  // A Java server is killed and starts again, with its number. One of the new ones is killed: another takes its place.
  await java[1].end("SIGKILL");
  await frazil[0].end("SIGKILL");
  java[1] = fleet.java(1);
  frazil.push(fleet.frazil(2));
  assert.deepEqual(await java[1].started, { event: "old", workerId: (await java[1].started).workerId });
  assert.ok(taken.has((await java[1].started).workerId));
  await frazil[2].started;

  // One of each is paused for longer than a window, while another is started.
  frazil[1].child.kill("SIGSTOP");
  java[2].child.kill("SIGSTOP");
  await sleep(3000);
  frazil.push(fleet.frazil(3));
  await frazil[3].started;
  frazil[1].child.kill("SIGCONT");
  java[2].child.kill("SIGCONT");

  // ZooKeeper goes away. The Java server that starts without it mints by its local file.
  await java[1].end("SIGKILL");
  await server.crash();
  const alone = fleet.java(1);
  const { event, workerId } = await alone.started;
  assert.equal(event, "local file");
  assert.ok(taken.has(workerId));
  await sleep(1000);
  await server.start();
  await connectAnew();
  frazil.push(fleet.frazil(4));
  await frazil[4].started;

  // Java servers that are stopped one by one. A new one beside them gets a number of its own.
  await java[0].end("SIGTERM");
  const late = fleet.java(7);
  await late.started;
  frazil.push(fleet.frazil(5));
  await frazil[5].started;
  while (fleet.count().ids <= 100_000) await sleep(200);
  await Promise.all([...frazil.slice(1), alone, java[2], late].map((each) => each.end("SIGTERM")));

  const { ids, repeats } = fleet.count();
  console.log(`${ids} IDs`);
  assert.ok(ids > 100_000, `only ${ids} IDs`);
  assert.equal(repeats, 0);
  const [names] = await call(administrator, "getChildren", fleet.forever);
  const numbers = names.map((name) => Number(name.split("-")[1]));
  assert.equal(new Set(numbers).size, numbers.length);
});

test("the same check catches node ids that are drawn without the numbering of Leaf", async () => {
  const fleet = newFleet({ isPlain: true });
  const java = [fleet.java(0)];
  await java[0].started;
  const { ZooKeeperStore } = await import("frazil/stores/zookeeper");
  await new ZooKeeperStore(administrator).init({ scope: fleet.scope, layout: "leaf" });
  const frazil = fleet.frazil(0);
  await frazil.started;
  while (fleet.count().repeats === 0) await sleep(200);
  await Promise.all([frazil.end("SIGTERM"), java[0].end("SIGTERM")]);
  const { ids, repeats } = fleet.count();
  assert.ok(repeats > 0, `0 repeats of ${ids} IDs`);
});

const endpoint = async (path) => JSON.parse((await call(administrator, "getData", path))[0]);

test("the znode of a lease has Leaf's form and the end of the window as its time: Leaf's start check refuses it until then", async () => {
  const fleet = newFleet();
  await folderOf(fleet, Date.now());
  const store = fleet.store();
  await store.init({ scope: fleet.scope, layout: "leaf" });
  const held = await store.acquire(attempt({ scope: fleet.scope, layout: LEAF, windowMs: 20_000 }));
  assert.equal(held.node, 1);
  const [names] = await call(administrator, "getChildren", fleet.forever);
  const name = names.find((each) => each.endsWith("-0000000001"));
  const [address, number, ...rest] = name.split("-");
  assert.deepEqual([number, rest], ["0000000001", []]);
  const [ip, port] = address.split(":");
  assert.deepEqual(await endpoint(`${fleet.forever}/${name}`), { ip, port, timestamp: held.untilMs });

  // A Java server with that address: the check fails, and without a local file it does not start.
  const options = {
    leafName: fleet.leafName,
    ip,
    leafPort: port,
    folder: join(folder, "none"),
    out: join(folder, "none"),
  };
  const java = play("old-leaf.mjs", options);
  await java.ended;
  assert.deepEqual(java.events, [
    { event: "start error", message: "CheckLastTimeException" },
    { event: "no local file" },
  ]);

  await store.release({
    scope: fleet.scope,
    grant: held.grant,
    node: held.node,
    untilMs: held.storeNowMs,
    heldUntilMs: held.untilMs,
  });
  assert.equal((await endpoint(`${fleet.forever}/${name}`)).timestamp, held.storeNowMs);
});

test("a number is handed over when its server has been silent, from beyond what the server can have minted, and the server gets another", async () => {
  const fleet = newFleet();
  const [, java] = await folderOf(fleet, Date.now(), Date.now());
  const store = fleet.store();
  const { scope } = fleet;
  await store.init({ scope, layout: "leaf", windowMaxMs: 1000 });
  const adopt = { scope, node: 1, address: "10.0.0.1:8001" };
  // It has just been made, and its time is that of a server that runs.
  await assert.rejects(
    store.adopt(adopt),
    told({ code: "STATE_CONFLICT", message: /must have been silent for 5 minutes/ }),
  );
  await assert.rejects(store.adopt({ ...adopt, node: 2 }), { code: "INVALID_ARGUMENT", field: "address" });
  await assert.rejects(store.adopt({ ...adopt, address: "a/b" }), { code: "INVALID_ARGUMENT", field: "address" });
  await assert.rejects(store.adopt({ ...adopt, scope: "nowhere" }), { code: "STORE_NOT_INITIALISED" });

  // Ten minutes later by the clock of the server alone: this process reads a stat that is ten minutes older.
  const late = laterBy(administrator, 10 * 60_000);
  const later = new LeafStore(late, { leafName: fleet.leafName });
  await call(
    administrator,
    "setData",
    java,
    Buffer.from(JSON.stringify({ ip: "10.0.0.1", port: "8001", timestamp: Date.now() + 3600_000 })),
    -1,
  );
  await assert.rejects(later.adopt(adopt), { code: "STATE_CONFLICT" });
  await call(
    administrator,
    "setData",
    java,
    Buffer.from(JSON.stringify({ ip: "10.0.0.1", port: "8001", timestamp: Date.now() })),
    -1,
  );
  const before = Date.now();
  const fromMs = await later.adopt(adopt);
  assert.ok(fromMs >= before + 10 * 60_000 + 6000, "the fence and the margin");
  const [names] = await call(administrator, "getChildren", fleet.forever);
  assert.deepEqual(
    names.filter((name) => name.endsWith("-0000000001")).map((name) => name.startsWith("frazil.")),
    [true],
  );
  // It is not granted before: a new number is.
  const other = await later.acquire(attempt({ scope, layout: LEAF, windowMs: 1000 }));
  assert.equal(other.node, 3, "making the znode of number 1 uses up number 2");
  const much = new LeafStore(laterBy(administrator, 20 * 60_000), { leafName: fleet.leafName });
  const granted = await much.acquire(attempt({ scope, layout: LEAF, windowMs: 1000, node: 1 }));
  assert.deepEqual([granted.node, granted.fromMs], [1, fromMs]);

  // The server starts again all the same: it finds no znode of its own.
  const again = play("old-leaf.mjs", {
    leafName: fleet.leafName,
    ip: "10.0.0.1",
    leafPort: "8001",
    folder: join(folder, "again"),
    out: join(folder, "again-out"),
  });
  assert.deepEqual(await again.started, { event: "new", workerId: 4 });
  await again.end("SIGKILL");
});

test("number 0 is never taken: the server that makes the folder uses it whatever its number is", async () => {
  const fleet = newFleet();
  await folderOf(fleet);
  const store = fleet.store();
  await store.init({ scope: fleet.scope, layout: "leaf" });
  const held = await store.acquire(attempt({ scope: fleet.scope, layout: LEAF }));
  assert.equal(held.node, 1);
});

test("a range that begins beyond the next number is refused: the numbers before it would be used up, and Leaf needs them", async () => {
  const fleet = newFleet();
  await folderOf(fleet, 0, 0, 0);
  const init = (from) => fleet.store().init({ scope: fleet.scope, layout: "leaf", nodes: { from, to: 1023 } });
  await assert.rejects(init(4), told({ code: "INVALID_OPTION", field: "nodes.from", message: /must be at most 3/ }));
  await init(3);
  const held = await fleet.store().acquire(attempt({ scope: fleet.scope, layout: LEAF }));
  assert.equal(held.node, 3);
});

test("no number is handed over that the layout has no room for, nor 0, which a second server of a new folder may use", async () => {
  const fleet = newFleet();
  await folderOf(fleet, 0, 0, 0, 0);
  const { scope } = fleet;
  await fleet.store().init({ scope, layout: "leaf", nodes: { from: 0, to: 2 }, windowMaxMs: 1000 });
  const later = new LeafStore(laterBy(administrator, 10 * 60_000), { leafName: fleet.leafName });
  for (const node of [0, 3]) {
    const adopted = later.adopt({ scope, node, address: `10.0.0.1:${8000 + node}` });
    await assert.rejects(adopted, { code: "INVALID_ARGUMENT", field: "node" });
  }
  await later.adopt({ scope, node: 2, address: "10.0.0.1:8002" });
});

test("a folder that was deleted and made again counts from 0: nothing new is granted beside the servers of before", async () => {
  const fleet = newFleet();
  const { scope, forever } = fleet;
  const names = await folderOf(fleet, Date.now(), Date.now(), Date.now());
  const store = fleet.store();
  await store.init({ scope, layout: "leaf" });
  for (const name of names) await call(administrator, "remove", name);
  await call(administrator, "remove", forever);
  // One server registers again. Those with the numbers 1 and 2 go on minting.
  await folderOf(fleet, Date.now());
  await assert.rejects(
    store.acquire(attempt({ scope, layout: LEAF })),
    told({
      code: "STORE_REFUSED",
      message: /deleted and made again/,
    }),
  );
});

test("a request is given up with its signal, also while the client has no session", async () => {
  const fleet = newFleet();
  const client = zookeeper.createClient(`127.0.0.1:${server.port}`);
  const store = new LeafStore(client, { leafName: fleet.leafName });
  let isSettled = false;
  const acquired = store.acquire(attempt({ layout: LEAF, signal: AbortSignal.abort() })).finally(() => {
    isSettled = true;
  });
  await assert.rejects(acquired, { name: "AbortError" });
  const controller = new AbortController();
  const second = store.acquire(attempt({ layout: LEAF, signal: controller.signal })).catch((error) => error);
  setTimeout(() => controller.abort(), 20);
  // A client that is never connected has its own limit, which is longer.
  const first = await Promise.race([second, sleep(1500).then(() => undefined)]);
  assert.equal(first?.name, "AbortError");
  assert.ok(isSettled);
});

test("without Leaf's folder, with another layout, or when all numbers are used up, it says so", async () => {
  const fleet = newFleet();
  const { scope } = fleet;
  await assert.rejects(
    fleet.store().init({ scope, layout: "leaf" }),
    told({
      code: "STORE_REFUSED",
      message: /forever is missing. Check leafName/,
    }),
  );
  await folderOf(fleet, Date.now());
  await assert.rejects(fleet.store().init({ scope, layout: "discord" }), { code: "INVALID_OPTION", field: "layout" });
  await fleet.store().init({ scope, layout: "leaf", nodes: { from: 0, to: 2 } });
  const store = fleet.store();
  const acquire = () => store.acquire(attempt({ scope, layout: LEAF }));
  assert.deepEqual([(await acquire()).node, (await acquire()).node], [1, 2]);
  assert.equal((await acquire()).reason, "exhausted");
  const other = "other";
  await store.init({ scope: other, layout: "leaf", nodes: { from: 0, to: 2 } });
  const { reason, freeAtMs } = await store.acquire(attempt({ scope: other, layout: LEAF }));
  assert.deepEqual([reason, freeAtMs], ["exhausted", undefined]);
  // No time makes one free, so nothing is waited for.
  await assert.rejects(
    lease(store, { scope: other, layout: "leaf", windowMs: 2000, maxAsyncWaitMs: 60_000 }),
    told({
      code: "NODE_IDS_EXHAUSTED",
      retryable: false,
      message: /the scope has no node id.*whose largest number is 2\. Hand over.*adopt\(\)/,
    }),
  );
});

test("the constructor refuses what is no name", () => {
  for (const leafName of [undefined, "", "a/b", ".."])
    assert.throws(() => new LeafStore(administrator, { leafName }), { code: "INVALID_OPTION", field: "leafName" });
});
