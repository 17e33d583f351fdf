// Migrating from UidGenerator: a real MariaDB with its table, processes of both generations side by side, and the table as each finds it.
//
// FRAZIL_MOVING_S is the duration of a run of the fleet.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Layout } from "frazil";
import { lease } from "frazil/lease";
import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { told } from "../../base/rule-texts.mjs";
import { hasRepeated, runFleet, shown } from "./fleet.mjs";
import { maxWorkerId, register, uidGenerator } from "./old-uid-generator.mjs";
import { BITS, FROM, LAYOUT, layoutOf, markerOf, OPTIONS, oldDatabase, run, SECONDS } from "./uid-fleet.mjs";

// docs/internals/claims.md: 22, 23
test(`both generations under faults repeat no ID, for ${SECONDS} s`, async (t) => {
  const {
    repeats,
    gaveUp,
    old,
    new: fresh,
  } = await run(t, {
    isEnough: (counted) => counted.old > 1000 && counted.new > 1000,
  });
  assert.deepEqual(gaveUp, []);
  assert.equal(repeats, 0);
  assert.ok(old > 1000 && fresh > 1000);
});

test("the checker catches a scope that numbers by itself", async (t) => {
  // UidGenerator has had 30 numbers, and Frazil takes them in their order.
  const init = { nodes: { from: 31, to: 40 }, nodeIdsFrom: "none" };
  const { repeats } = await run(t, { init, seconds: 0, isEnough: hasRepeated });
  assert.ok(repeats > 0);
});

test("the checker catches node ids of processes of UidGenerator whose rows are old", async (t) => {
  const { pool, store, url } = await oldDatabase(t, { used: 0 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: { ...FROM, allowEmpty: true } });
  const counted = await runFleet({
    isEnough: hasRepeated,
    java: {
      program: "old-uid-generator.mjs",
      processes: 4,
      taskOf: () => ({ url, bits: BITS }),
      endings: ["SIGKILL"],
    },
    frazil: {
      processes: 3,
      task: { url, layout: LAYOUT, windowMs: 6000, broken: "takes rows of UidGenerator" },
    },
  });
  t.diagnostic(shown(counted));
  assert.ok(counted.repeats > 0);
  await pool.query("SELECT 1");
});

test("processes of both generations that start at once have numbers of their own, and each can read all rows", async (t) => {
  const { pool, store, query } = await oldDatabase(t, { used: 3 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const [leases, workers] = await Promise.all([
    Promise.all(
      Array.from({ length: 24 }, () => lease(store, { ...OPTIONS, windowMs: 20_000, maxAsyncWaitMs: 60_000 })),
    ),
    Promise.all(Array.from({ length: 24 }, () => register(pool))),
  ]);
  const nodes = leases.map(({ node }) => Number(node));
  assert.equal(new Set([...nodes, ...workers, 1, 2, 3]).size, 51);
  for (const ids of leases) assert.equal(BigInt(ids.layout.decode(ids.next()).node), BigInt(ids.node));
  await Promise.all(leases.map((ids) => ids.close()));

  const rows = await query("SELECT * FROM WORKER_NODE ORDER BY ID");
  assert.ok(rows.length <= 3 + 24 + 2 * 24, `${rows.length} rows`);
  const names = new Set();
  const marker = await markerOf(query);
  for (const { ID, HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED } of rows) {
    assert.ok(ID > 0 && [1, 2].includes(TYPE), `${TYPE}`);
    for (const date of [LAUNCH_DATE, MODIFIED, CREATED]) assert.ok(Math.abs(date - Date.now()) < 2 * 86_400_000, date);
    assert.equal(HOST_NAME === marker, !workers.includes(ID) && ID > 3);
    // Some tables have a unique key on both.
    names.add(`${HOST_NAME} ${PORT}`);
  }
  assert.equal(names.size, rows.length);
});

test("a node id of ours is granted again, and one of UidGenerator never", async (t) => {
  const { pool, store, query } = await oldDatabase(t, { used: 5 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  await query("UPDATE WORKER_NODE SET CREATED = '2020-01-01', MODIFIED = '2020-01-01'");
  const nodes = new Set();
  for (let start = 0; start < 5; start++) {
    const ids = await lease(store, OPTIONS);
    nodes.add(ids.node);
    await ids.close();
    await register(pool);
  }
  assert.deepEqual([...nodes], [6]);
  const preferred = await lease(store, { ...OPTIONS, node: 2 });
  assert.equal(preferred.node, 6);
  await preferred.close();
});

test("a number that was inserted by a process that ended at once is taken over by the next", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 5 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  await query(`INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED)
    VALUES ('${await markerOf(query)}', 'x', 2, CURRENT_DATE, NOW(), NOW())`);
  const ids = await lease(store, OPTIONS);
  assert.equal(ids.node, 6);
  assert.equal((await query("SELECT ID FROM WORKER_NODE")).length, 6);
  await ids.close();
});

test("numbers that are used up: neither generation starts, ours says why and inserts nothing, and its own go on", async (t) => {
  const { pool, store, query } = await oldDatabase(t, { used: 6 });
  const bits = { ...BITS, workerBits: 3 };
  const options = { ...OPTIONS, layout: new Layout(layoutOf(bits)) };
  await store.init({ layout: options.layout, nodeIdsFrom: FROM });
  const ids = await lease(store, options);
  assert.equal(ids.node, 7);
  for (let tries = 0; tries < 2; tries++) {
    await assert.rejects(lease(store, { ...options, maxAsyncWaitMs: 300 }), (error) => {
      const { code, message } = [error, error.cause].find(({ code }) => code === "NODE_IDS_EXHAUSTED");
      assert.equal(code, "NODE_IDS_EXHAUSTED");
      assert.match(message, /WORKER_NODE/);
      return true;
    });
  }
  assert.equal((await query("SELECT MAX(ID) AS largest FROM WORKER_NODE"))[0].largest, 7);
  assert.ok((await register(pool)) > maxWorkerId(bits));
  await ids.close();
  const again = await lease(store, options);
  assert.equal(again.node, 7);
  await again.close();
});

test("without a number of ours, numbers that are used up are not said to be held", async (t) => {
  const { store } = await oldDatabase(t, { used: 7 });
  const options = { ...OPTIONS, layout: new Layout(layoutOf({ ...BITS, workerBits: 3 })) };
  await store.init({ layout: options.layout, nodeIdsFrom: FROM });
  await assert.rejects(lease(store, { ...options, maxAsyncWaitMs: 300 }), (error) => {
    const { message } = [error, error.cause].find(({ code }) => code === "NODE_IDS_EXHAUSTED");
    assert.match(
      message,
      /the scope has no node id.*the layout has none beyond the table WORKER_NODE, whose largest number is 7$/,
    );
    assert.equal(error.retryable, false);
    assert.match(message, /WORKER_NODE/);
    return true;
  });
});

test("a table that somebody has emptied ends the lease, and the number is never granted again", async (t) => {
  const { pool, store, query } = await oldDatabase(t, { used: 0 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: { ...FROM, allowEmpty: true } });
  const ids = await lease(store, { ...OPTIONS, windowMs: 3000 });
  assert.equal(ids.node, 1);
  // Kept: nothing that lasts refers to a generator whose event is awaited, and one that was collected asks no store.
  t.after(() => ids.close());
  const lost = new Promise((resolve) => ids.on("lost", resolve));
  await query("TRUNCATE TABLE WORKER_NODE");
  assert.equal(await register(pool), 1);
  assert.equal((await lost).code, "LEASE_LOST");
  await ids.nextAsync();
  assert.equal(ids.node, 2);
  const { untilMs } = ids.health().lease;
  await ids.close();
  await sleep(untilMs - Date.now());
  const next = await lease(store, OPTIONS);
  assert.equal(next.node, 2);
  await next.close();
});

test("a table that was dropped under a scope: the error names the scope that needs it", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 2 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const ids = await lease(store, OPTIONS);
  await ids.close();
  await query("DROP TABLE WORKER_NODE");
  await assert.rejects(
    lease(store, { ...OPTIONS, maxAsyncWaitMs: 300 }),
    told({
      code: "STORE_REFUSED",
      message: /1146.*The scope "default" takes its node ids from it.*leaveOldTable/,
    }),
  );
});

test("leaving the old table: holders go on, and new node ids follow its largest number", async (t) => {
  const { pool, store, query } = await oldDatabase(t, { used: 5 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const other = new MySqlStore(pool);
  const ids = await lease(other, { ...OPTIONS, windowMs: 3000 });
  const lost = [];
  ids.on("lost", (error) => lost.push(error));
  for (let at = 0; at < 3; at++) await register(pool);
  await store.leaveOldTable();
  await query("DROP TABLE WORKER_NODE");
  const more = await Promise.all([lease(other, OPTIONS), lease(store, OPTIONS)]);
  for (const { node } of more) assert.ok(node > 9, `${node}`);
  const renewed = ids.stats().lease.renewed;
  while (ids.stats().lease.renewed < renewed + 2) await sleep(50);
  assert.deepEqual(lost, []);
  assert.equal(ids.node, 6);
  await Promise.all([ids, ...more].map((each) => each.close()));
  await assert.rejects(store.leaveOldTable(), { code: "STATE_CONFLICT" });
  await assert.rejects(store.leaveOldTable({ scope: "none" }), { code: "STORE_NOT_INITIALISED" });
});

// docs/internals/claims.md: 22
test("a number that went back to UidGenerator is not granted after the old table was left either", async (t) => {
  const { store, query, pool } = await oldDatabase(t, { used: 3 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const two = [await lease(store, OPTIONS), await lease(store, OPTIONS)];
  assert.deepEqual(
    two.map(({ node }) => node),
    [4, 5],
  );
  await Promise.all(two.map((ids) => ids.close()));
  await query("DELETE FROM WORKER_NODE WHERE ID = 4");
  await query("UPDATE WORKER_NODE SET ID = 4 WHERE ID = ?", [await register(pool, { host: "10.0.0.9" })]);
  await store.leaveOldTable();
  const after = [await lease(store, OPTIONS), await lease(store, OPTIONS)];
  assert.deepEqual(
    after.map(({ node }) => node),
    [5, 6],
  );
  await Promise.all(after.map((ids) => ids.close()));
});

test("the layout of the guide decodes an ID of UidGenerator", async () => {
  const [id] = await uidGenerator(BITS, 4711)(1);
  const { timestampMs, parts } = new Layout(LAYOUT).decode(id);
  assert.deepEqual({ ...parts }, { worker: 4711 });
  assert.ok(Math.abs(timestampMs - Date.now()) < 2000);
  const java = { ...BITS, epochSeconds: Date.parse("2016-05-20T00:00+08:00") / 1000 };
  assert.equal(java.epochSeconds, BITS.epochSeconds);
});

test("IDs are read from the column as the guide says, and one that the driver has rounded is refused", async (t) => {
  const { query, url } = await oldDatabase(t, { used: 0 });
  const layout = new Layout(LAYOUT);
  await query("CREATE TABLE orders (id BIGINT PRIMARY KEY)");
  const [id] = await uidGenerator(BITS, 4711)(1);
  await query(`INSERT INTO orders VALUES (${id | 1n})`);
  const guide = readFileSync(new URL("../../../docs/guides/migrating/fleets.md", import.meta.url), "utf8");
  const [, settings] = /createPool\(\{ uri, (.*?) \}\)/.exec(guide);
  const options = Object.fromEntries(settings.split(", ").map((setting) => setting.split(": ")));
  const read = async (more) => {
    const connection = await mysql.createConnection({ uri: url, ...more });
    const [[row]] = await connection.query("SELECT id FROM orders");
    await connection.end();
    return row.id;
  };
  const exact = await read(Object.fromEntries(Object.keys(options).map((name) => [name, options[name] === "true"])));
  assert.equal(layout.parse(exact), id | 1n);
  const rounded = await read({});
  assert.notEqual(BigInt(rounded), id | 1n);
  assert.throws(() => layout.decode(rounded), { code: "INVALID_ID" });
});
