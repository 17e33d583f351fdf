// The old table of UidGenerator as the source of a scope's numbers: its owner, refusals by `init` and `npx frazil ddl`, and rights.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lease } from "frazil/lease";
import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { WORKER_NODE } from "./old-uid-generator.mjs";
import { BITS, ddl, FROM, LAYOUT, layoutOf, markerOf, OPTIONS, oldDatabase } from "./uid-fleet.mjs";

// docs/internals/claims.md: 22
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

// docs/internals/claims.md: 22
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
  // Kept: nothing that lasts refers to a generator whose event is awaited, and one that was collected asks no store.
  t.after(() => ids.close());
  const lost = new Promise((resolve) => ids.on("lost", resolve));
  await query("UPDATE WORKER_NODE SET HOST_NAME = UPPER(HOST_NAME) WHERE ID = ?", [ids.node]);
  assert.equal((await lost).code, "LEASE_LOST");
  await ids.close();
});

test("init refuses a table without a row, which may be that of another database, unless it is meant", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 0 });
  const init = (more) => store.init({ layout: OPTIONS.layout, nodeIdsFrom: { ...FROM, ...more } });
  await assert.rejects(
    init(),
    told({ code: "INVALID_OPTION", field: "nodeIdsFrom.workerNode", message: /allowEmpty/ }),
  );
  await assert.rejects(init({ allowEmpty: 1 }), { code: "INVALID_OPTION", field: "nodeIdsFrom.allowEmpty" });
  await query("ALTER TABLE WORKER_NODE AUTO_INCREMENT = 77");
  await assert.rejects(init(), told({ code: "INVALID_OPTION", message: /deleted.*77/ }));
  await init({ allowEmpty: true });
  const ids = await lease(store, OPTIONS);
  assert.equal(ids.node, 77);
  await ids.close();
});

test("a scope that would number by itself beside the table is refused, unless it is meant", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 2 });
  const plain = { layout: OPTIONS.layout };
  await assert.rejects(
    store.init(plain),
    told({
      code: "INVALID_OPTION",
      field: "nodeIdsFrom",
      message: /WORKER_NODE.*"none"/,
    }),
  );
  assert.equal(await store.init({ ...plain, nodeIdsFrom: "none" }), true);
  assert.equal(await store.init(plain), false);
  await assert.rejects(
    store.init({ ...plain, nodeIdsFrom: FROM }),
    told({
      code: "STATE_CONFLICT",
      message: /has a record of .* and not of .*WORKER_NODE/,
    }),
  );
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

test("init refuses what cannot be right, and says what to do", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 9 });
  const init = (options) => store.init({ layout: OPTIONS.layout, ...options });
  const refused = (options, code, pattern) =>
    assert.rejects(init(options), (error) => {
      assert.equal(error.code, code, error.message);
      assert.match(wholeText(error), pattern);
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
    /the table WORKER_NODES of nodeIdsFrom does not exist/,
  );
  await query("CREATE TABLE OTHERS (ID BIGINT AUTO_INCREMENT PRIMARY KEY, HOST_NAME VARCHAR(64))");
  await refused({ nodeIdsFrom: { workerNode: "OTHERS" } }, "STORE_REFUSED", /OTHERS/);
  await query(WORKER_NODE.replace("WORKER_NODE", "MEMORIES").replace("INNODB", "MYISAM"));
  await refused({ nodeIdsFrom: { workerNode: "MEMORIES" } }, "STORE_REFUSED", /InnoDB/);
  const narrow = layoutOf({ ...BITS, workerBits: 3 });
  await refused({ layout: narrow, nodeIdsFrom: FROM }, "INVALID_OPTION", /9.*WORKER_NODE|WORKER_NODE.*9/);
  await refused(
    { layout: "baidu", nodeIdsFrom: FROM },
    "INVALID_OPTION",
    /the time of the layout ended on 2024-11-20T13:24:15.*epochMs/,
  );
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
    assert.match(wholeText(error), /GRANT SELECT, INSERT ON WORKER_NODE/);
    return true;
  });
  await query(`GRANT INSERT ON ${database}.WORKER_NODE TO program@'%'`);
  const ids = await lease(new MySqlStore(pool), OPTIONS);
  assert.equal(ids.node, 3);
  await ids.close();
});
