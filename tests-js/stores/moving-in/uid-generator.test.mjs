// Moving in from UidGenerator: a real MariaDB with its table, processes of both generations side by side, and what either finds in
// the table.
//
// FRAZIL_MOVING_S is the duration of a run of the fleet.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Layout } from "frazil";
import { lease } from "frazil/lease";
import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { MySqlServer } from "../mysql/server.mjs";
import { hasRepeated, runFleet, shown } from "./fleet.mjs";
import { maxWorkerId, register, uidGenerator, WORKER_NODE } from "./old-uid-generator.mjs";

const SECONDS = Number(process.env.FRAZIL_MOVING_S ?? 15);
const BITS = { timeBits: 31, workerBits: 20, seqBits: 12, epochSeconds: 1463673600 };
/** The same layout in the words of Frazil. */
const layoutOf = ({ timeBits, workerBits, seqBits, epochSeconds }) => ({
  epochMs: 1000 * epochSeconds,
  tickMs: 1000,
  fields: [
    { kind: "time", bits: timeBits },
    { kind: "node", name: "worker", bits: workerBits },
    { kind: "sequence", bits: seqBits },
  ],
});
const LAYOUT = layoutOf(BITS);
const OPTIONS = { layout: new Layout(LAYOUT), windowMs: 6000 };
const FROM = { workerNode: "WORKER_NODE" };

/** What the command prints. */
const ddl = (...flags) =>
  execFileSync(process.execPath, [CLI, "ddl", "mysql", ...flags], { encoding: "utf8", stdio: "pipe" });
const CLI = fileURLToPath(new URL("../../../npm/frazil/dist/cli.mjs", import.meta.url));

let server;
before(async () => {
  server = await MySqlServer.start({ "max-connections": 300, "innodb-flush-log-at-trx-commit": 1 });
});
after(() => server?.crash());

let databases = 0;
/** A database with the table of a fleet that has run for a while: `used` numbers are gone. */
async function oldDatabase(t, { used = 30, ddl = WORKER_NODE } = {}) {
  const database = `uid${++databases}`;
  await server.query(`CREATE DATABASE ${database}`);
  const url = `mysql://root@127.0.0.1:${server.port}/${database}`;
  const pool = mysql.createPool({ uri: url, connectionLimit: 8 });
  t.after(() => pool.end());
  if (ddl) await pool.query(ddl);
  for (let at = 0; at < used; at++) await register(pool, { host: `10.0.0.${at}` });
  const store = new MySqlStore(pool);
  await store.migrate();
  const query = async (sql, values) => (await pool.query(sql, values))[0];
  return { url, pool, store, query };
}

/** What the record of a scope has in its rows of the old table. */
async function markerOf(query, scope = "default") {
  const [{ from }] = await query("SELECT node_ids_from AS `from` FROM frazil_scopes WHERE scope = ?", [scope]);
  return JSON.parse(from).marker;
}

/** Lets both generations mint, with faults. */
async function run(t, { init = { nodeIdsFrom: FROM }, broken, seconds = SECONDS, isEnough } = {}) {
  const { url, store } = await oldDatabase(t);
  await store.init({ layout: OPTIONS.layout, ...init });
  const counted = await runFleet({
    seconds,
    isEnough,
    java: {
      program: "old-uid-generator.mjs",
      processes: 4,
      taskOf: (at) => ({ url, bits: BITS, ...(at % 2 === 1 && { cached: true, pauseMs: 100 }) }),
      endings: ["SIGKILL"],
    },
    frazil: { processes: 4, task: { url, layout: LAYOUT, windowMs: 6000, broken } },
  });
  t.diagnostic(shown(counted));
  return counted;
}

// docs/safety.md: 22, 23
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
    Promise.all(Array.from({ length: 24 }, () => lease(store, OPTIONS))),
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
    assert.match(message, /no node id of its own.*no node id can be made/);
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

// docs/safety.md: 22
test("records of one scope name, in two databases, that share an old table never take over each other's numbers", async (t) => {
  const one = await oldDatabase(t);
  const two = await oldDatabase(t, { ddl: undefined, used: 0 });
  const from = { workerNode: `${one.url.split("/").at(-1)}.WORKER_NODE` };
  // Both before either has a row. A collation that ignores case takes the names of the scopes for one.
  const scopes = [
    [one.store, "default"],
    [two.store, "default"],
    [two.store, "Default"],
  ];
  for (const [store, scope] of scopes) await store.init({ scope, layout: OPTIONS.layout, nodeIdsFrom: from });
  const all = new Set();
  for (let round = 0; round < 2; round++) {
    const leases = await Promise.all(
      scopes.flatMap(([store, scope]) => [1, 2].map(() => lease(store, { ...OPTIONS, scope }))),
    );
    for (const { node } of leases) all.add(node);
    assert.equal(new Set(leases.map(({ node }) => node)).size, 6);
    await Promise.all(leases.map((ids) => ids.close()));
  }
  assert.equal(all.size, 6, `${[...all]}`);
  const markers = await Promise.all(
    scopes.map(([store, scope]) => markerOf(store === one.store ? one.query : two.query, scope)),
  );
  assert.equal(new Set(markers.map((marker) => marker.toLowerCase())).size, 3);
  for (const marker of markers) assert.match(marker, /^frazil:default:[0-9a-f]{8}$/i);
});

// docs/safety.md: 22
// docs/safety.md: 22
test("an old table without a database is in that of the store's tables, for every program of the scope", async (t) => {
  const shared = await oldDatabase(t);
  const database = shared.url.split("/").at(-1);
  // Each of two services has a table of its own.
  const services = [await oldDatabase(t, { used: 40 }), await oldDatabase(t, { used: 50 })];
  const stores = services.map(({ pool }) => new MySqlStore(pool, { database }));
  await stores[0].init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const leases = [await lease(stores[0], OPTIONS), await lease(stores[1], OPTIONS)];
  assert.deepEqual(
    leases.map(({ node }) => node),
    [31, 32],
  );
  await Promise.all(leases.map((ids) => ids.close()));
  const flags = ["--database", database, "--node-ids-from", "worker-node", "--scope", "printed"];
  const connection = await mysql.createConnection({ uri: services[0].url, multipleStatements: true });
  t.after(() => connection.end());
  const [results] = await connection.query(ddl("--layout", JSON.stringify(LAYOUT), ...flags));
  assert.equal(results.at(-1)[0].next_node, 33);
});

test("a record whose table is written in another way is read all the same, and not again and again", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 3 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const marker = await markerOf(query, "default");
  const text = JSON.stringify({ workerNode: "WORKER_NODE", marker, note: "by hand" }, undefined, 1);
  await query("UPDATE frazil_scopes SET node_ids_from = ?", [text]);
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    void query("DELETE FROM frazil_scopes");
  }, 5000);
  const ids = await lease(store, OPTIONS);
  assert.equal(ids.node, 4);
  await ids.close();
  await store.leaveOldTable();
  clearTimeout(timer);
  assert.ok(!isOver, "it was read again and again");
});

test("one file of SQL that is run in two databases makes two markers", async (t) => {
  const one = await oldDatabase(t);
  const two = await oldDatabase(t, { ddl: undefined, used: 0 });
  const from = `worker-node:${one.url.split("/").at(-1)}.WORKER_NODE`;
  const text = ddl("--layout", JSON.stringify(LAYOUT), "--node-ids-from", from);
  // Both before either has a row.
  for (const { url, query } of [one, two]) {
    const connection = await mysql.createConnection({ uri: url, multipleStatements: true });
    await connection.query(text);
    await connection.end();
    assert.match(await markerOf(query, "default"), /^frazil:default:[0-9a-f]{8}$/);
  }
  const leases = [await lease(one.store, OPTIONS), await lease(two.store, OPTIONS)];
  const [first, second] = leases.map(({ node }) => node);
  await Promise.all(leases.map((ids) => ids.close()));
  assert.notEqual(first, second);
});

test("the name of an old table may contain $", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 3 });
  for (const table of ["W$$N", "W$N", "WORKER_NODE$"]) {
    await query(`CREATE TABLE \`${table}\` LIKE WORKER_NODE`);
    await query(`INSERT INTO \`${table}\` SELECT * FROM WORKER_NODE`);
  }
  for (const [scope, workerNode] of [
    ["two", "W$$N"],
    ["end", "WORKER_NODE$"],
  ]) {
    await store.init({ scope, layout: OPTIONS.layout, nodeIdsFrom: { workerNode } });
    const ids = await lease(store, { ...OPTIONS, scope });
    assert.equal(ids.node, 4);
    await ids.close();
  }
  await query("DROP TABLE `W$N`");
  await store.leaveOldTable({ scope: "two" });
});

test("a row is ours by the exact marker, whatever the collation of its column is", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 1 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const ids = await lease(store, { ...OPTIONS, windowMs: 3000 });
  const lost = new Promise((resolve) => ids.on("lost", resolve));
  await query("UPDATE WORKER_NODE SET HOST_NAME = UPPER(HOST_NAME) WHERE ID = ?", [ids.node]);
  assert.equal((await lost).code, "LEASE_LOST");
  await ids.close();
});

test("init refuses a table without a row, which may be that of another database, unless it is meant", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 0 });
  const init = (more) => store.init({ layout: OPTIONS.layout, nodeIdsFrom: { ...FROM, ...more } });
  await assert.rejects(init(), { code: "INVALID_OPTION", field: "nodeIdsFrom.workerNode", message: /allowEmpty/ });
  await assert.rejects(init({ allowEmpty: 1 }), { code: "INVALID_OPTION", field: "nodeIdsFrom.allowEmpty" });
  await query("ALTER TABLE WORKER_NODE AUTO_INCREMENT = 77");
  await assert.rejects(init(), { code: "INVALID_OPTION", message: /deleted.*77/ });
  await init({ allowEmpty: true });
  const ids = await lease(store, OPTIONS);
  assert.equal(ids.node, 77);
  await ids.close();
});

test("a scope that would number by itself beside the table is refused, unless it is meant", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 2 });
  const plain = { layout: OPTIONS.layout };
  await assert.rejects(store.init(plain), {
    code: "INVALID_OPTION",
    field: "nodeIdsFrom",
    message: /WORKER_NODE.*"none"/,
  });
  assert.equal(await store.init({ ...plain, nodeIdsFrom: "none" }), true);
  assert.equal(await store.init(plain), false);
  await assert.rejects(store.init({ ...plain, nodeIdsFrom: FROM }), {
    code: "STATE_CONFLICT",
    message: /it has one, of .* and not of .*WORKER_NODE/,
  });
  await query("ALTER TABLE WORKER_NODE DROP COLUMN LAUNCH_DATE");
  // A table of another kind with this name is nobody's.
  await store.init({ ...plain, scope: "other" });
});

test("npx frazil ddl mysql sets up a scope that takes its node ids from the table, and refuses what init refuses", async (t) => {
  const { query, url, store } = await oldDatabase(t, { used: 5 });
  const script = (scope, ...flags) => ddl("--scope", scope, "--layout", JSON.stringify(LAYOUT), ...flags);
  const run = async (text) => {
    const connection = await mysql.createConnection({ uri: url, multipleStatements: true });
    t.after(() => connection.end());
    return (await connection.query(text))[0].at(-1);
  };
  const [row] = await run(script("mine", "--node-ids-from", "worker-node"));
  assert.equal(row.next_node, 6);
  const ids = await lease(store, { ...OPTIONS, scope: "mine" });
  assert.equal(ids.node, 6);
  assert.equal(
    (await query("SELECT HOST_NAME FROM WORKER_NODE WHERE ID = 6"))[0].HOST_NAME,
    await markerOf(query, "mine"),
  );
  await ids.close();
  // One that numbers by itself beside the table.
  assert.equal((await run(script("alone"))).length, 0);
  await assert.rejects(lease(store, { ...OPTIONS, scope: "alone" }), { code: "STORE_NOT_INITIALISED" });
  assert.equal((await run(script("alone", "--node-ids-from", "none"))).length, 1);
  // Rows whose record was deleted.
  await query("DELETE FROM frazil_scopes WHERE scope = 'mine'");
  assert.equal((await run(script("mine", "--node-ids-from", "worker-node"))).length, 0);
  // Numbers that the layout has no room for, and a table without rows.
  const narrow = JSON.stringify(layoutOf({ ...BITS, workerBits: 2 }));
  const from = ["--node-ids-from", "worker-node"];
  assert.equal((await run(ddl("--scope", "narrow", "--layout", narrow, ...from))).length, 0);
  await query("DELETE FROM WORKER_NODE");
  assert.equal((await run(script("empty", ...from))).length, 0);
  for (const [flag, value] of [
    ["--node-ids-from", "cosid"],
    ["--node-ids-from", "WORKER_NODE"],
    ["--layout", "{"],
  ])
    assert.throws(() => ddl(flag, value), { message: new RegExp(flag) });
});

test("a table that was dropped under a scope: the error names the scope that needs it", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 2 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const ids = await lease(store, OPTIONS);
  await ids.close();
  await query("DROP TABLE WORKER_NODE");
  await assert.rejects(lease(store, { ...OPTIONS, maxAsyncWaitMs: 300 }), {
    code: "STORE_REFUSED",
    message: /1146.*the scope "default" takes its node ids from it.*leaveOldTable/,
  });
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

// docs/safety.md: 22
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

test("init refuses what cannot be right, and says what to do", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 9 });
  const init = (options) => store.init({ layout: OPTIONS.layout, ...options });
  const refused = (options, code, pattern) =>
    assert.rejects(init(options), (error) => {
      assert.equal(error.code, code, error.message);
      assert.match(error.message, pattern);
      return true;
    });
  await refused({ nodeIdsFrom: {} }, "INVALID_OPTION", /nodeIdsFrom/);
  await refused({ nodeIdsFrom: { workernode: "W" } }, "INVALID_OPTION", /workerNode/);
  await refused({ nodeIdsFrom: { workerNode: "W`; DROP" } }, "INVALID_OPTION", /nodeIdsFrom\.workerNode/);
  await refused({ nodeIdsFrom: { ...FROM, cosId: { namespace: "x" } } }, "INVALID_OPTION", /nodeIdsFrom/);
  await refused({ nodeIdsFrom: FROM, nodes: { from: 0, to: 7 } }, "INVALID_OPTION", /nodes/);
  await refused(
    { nodeIdsFrom: { workerNode: "WORKER_NODES" } },
    "STORE_REFUSED",
    /nodeIdsFrom names the table WORKER_NODES/,
  );
  await query("CREATE TABLE OTHERS (ID BIGINT AUTO_INCREMENT PRIMARY KEY, HOST_NAME VARCHAR(64))");
  await refused({ nodeIdsFrom: { workerNode: "OTHERS" } }, "STORE_REFUSED", /OTHERS/);
  await query(WORKER_NODE.replace("WORKER_NODE", "MEMORIES").replace("INNODB", "MYISAM"));
  await refused({ nodeIdsFrom: { workerNode: "MEMORIES" } }, "STORE_REFUSED", /InnoDB/);
  const narrow = layoutOf({ ...BITS, workerBits: 3 });
  await refused({ layout: narrow, nodeIdsFrom: FROM }, "INVALID_OPTION", /9.*WORKER_NODE|WORKER_NODE.*9/);
  await refused({ layout: "baidu", nodeIdsFrom: FROM }, "INVALID_OPTION", /"baidu".*2024-11-20T13:24:15.*epochMs/);
  // Nothing of this has left a record.
  assert.equal(await init({ nodeIdsFrom: FROM }), true);
  assert.equal(await init({ nodeIdsFrom: FROM }), false);
  await refused({ nodeIdsFrom: "none" }, "STATE_CONFLICT", /scope/);
});

test("a user with the rights that the guide names is enough, and a missing one is named", async (t) => {
  const { store, query, url } = await oldDatabase(t, { used: 2 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const database = new URL(url).pathname.slice(1);
  await query("CREATE USER IF NOT EXISTS program@'%'");
  await query(`GRANT SELECT, UPDATE ON ${database}.frazil_scopes TO program@'%'`);
  await query(`GRANT SELECT, INSERT, UPDATE ON ${database}.frazil_leases TO program@'%'`);
  await query(`GRANT SELECT ON ${database}.WORKER_NODE TO program@'%'`);
  const pool = mysql.createPool({ uri: url.replace("root", "program"), connectionLimit: 2 });
  t.after(() => pool.end());
  await assert.rejects(lease(new MySqlStore(pool), OPTIONS), (error) => {
    assert.equal(error.code, "STORE_REFUSED");
    assert.match(error.message, /GRANT SELECT, INSERT ON WORKER_NODE/);
    return true;
  });
  await query(`GRANT INSERT ON ${database}.WORKER_NODE TO program@'%'`);
  const ids = await lease(new MySqlStore(pool), OPTIONS);
  assert.equal(ids.node, 3);
  await ids.close();
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
  const guide = readFileSync(new URL("../../../docs/moving-in.md", import.meta.url), "utf8");
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
