// Migrating from CosId: a real MariaDB with its table, processes of both generations side by side, and the table as each finds it.
//
// FRAZIL_MOVING_S is the duration of a run of the fleet.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Layout } from "frazil";
import { lease } from "frazil/lease";
import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { wholeText } from "../../base/rule-texts.mjs";
import { MySqlServer } from "../mysql/server.mjs";
import { hasRepeated, runFleet, shown } from "./fleet.mjs";
import { COSID_MACHINE, Distributor, snowflakeId, stateOf, synchronise } from "./old-cosid.mjs";

const SECONDS = Number(process.env.FRAZIL_MOVING_S ?? 25);
const NAMESPACE = "orders";
const FROM = { cosId: { namespace: NAMESPACE }, allowEmpty: true };
const BITS = { epochMs: 1577203200000, machineBits: 10, sequenceBits: 12 };
const LAYOUT = {
  epochMs: BITS.epochMs,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "node", bits: BITS.machineBits },
    { kind: "sequence", bits: BITS.sequenceBits },
  ],
};
const OPTIONS = { layout: new Layout(LAYOUT), windowMs: 3000 };
/** A minute of CosId in these tests: its safe-guard duration is five of them. */
const MINUTE_MS = 1500;

let server;
before(async () => {
  server = await MySqlServer.start({ "max-connections": 300, "innodb-flush-log-at-trx-commit": 1 });
});
after(() => server?.crash());

let databases = 0;
/** A database with the table of CosId. `used`: numbers of processes that ended long ago, without giving them back. */
async function oldDatabase(t, { used = 0 } = {}) {
  const database = `cosid${++databases}`;
  await server.query(`CREATE DATABASE ${database}`);
  const url = `mysql://root@127.0.0.1:${server.port}/${database}`;
  const pool = mysql.createPool({ uri: url, connectionLimit: 8 });
  t.after(() => pool.end());
  for (const ddl of COSID_MACHINE) await pool.query(ddl);
  const store = new MySqlStore(pool);
  await store.migrate();
  const query = async (sql, values) => (await pool.query(sql, values))[0];
  const process = (instanceId, options) =>
    new Distributor(pool, { namespace: NAMESPACE, instanceId, minuteMs: MINUTE_MS, ...options });
  for (let at = 0; at < used; at++) await process(`10.0.0.${at}:8080`).distribute();
  return { url, pool, store, query, process };
}

const FLEET = { program: "old-cosid.mjs", endings: ["SIGTERM", "SIGKILL"] };
/**
 * The task of a process of CosId. Each start has an instance of its own, as in a container. The counter of CosId restarts from
 * its upper half only, so that each batch has all low numbers, as those of Frazil have.
 */
const taskOf = (url, options) => (at, starts) => ({
  url,
  batch: 2100,
  pauseMs: 40,
  bits: BITS,
  namespace: NAMESPACE,
  instanceId: `pod-${at}-${starts}`,
  minuteMs: MINUTE_MS,
  ...options,
});

const endsOf = (struck) => (struck["old SIGKILL"] ?? 0) + (struck["old SIGTERM"] ?? 0);

/** Lets both generations mint, with faults. */
async function run(
  t,
  { init = { nodeIdsFrom: FROM }, broken, seconds = SECONDS, isEnough, digits = 8, minuteMs = MINUTE_MS, onlyOld } = {},
) {
  const { url, store, query } = await oldDatabase(t);
  await store.init({ layout: OPTIONS.layout, ...init });
  const counted = await runFleet({
    seconds,
    isEnough,
    onlyOld,
    java: { ...FLEET, processes: 4, taskOf: taskOf(url, { digits, minuteMs }) },
    frazil: { processes: 4, task: { url, layout: LAYOUT, windowMs: 3000, broken } },
  });
  const rows = await query("SELECT machine_id, instance_id FROM cosid_machine");
  t.diagnostic(`${shown(counted)}; ${rows.length} rows`);
  return { ...counted, rows };
}

// docs/internals/claims.md: 22, 23
test(`both generations under faults repeat no ID, for ${SECONDS} s`, async (t) => {
  const {
    repeats,
    gaveUp,
    old,
    new: fresh,
    struck,
  } = await run(t, {
    isEnough: (counted) => counted.old > 1000 && counted.new > 1000 && endsOf(counted.struck) > 3,
  });
  assert.deepEqual(gaveUp, []);
  assert.equal(repeats, 0);
  assert.ok(old > 1000 && fresh > 1000);
  // CosId has taken over numbers of its processes that were killed, so a number of ours could have been taken as well.
  assert.ok(endsOf(struck) > 3);
});

test("both generations under faults repeat no ID, with the names of the older releases", async (t) => {
  const { repeats, gaveUp } = await run(t, { seconds: 8, digits: 4 });
  assert.deepEqual(gaveUp, []);
  assert.equal(repeats, 0);
});

test("the checker catches a scope that numbers by itself", async (t) => {
  const init = { nodes: { from: 0, to: 9 }, nodeIdsFrom: "none" };
  const { repeats } = await run(t, { init, seconds: 0, isEnough: hasRepeated });
  assert.ok(repeats > 0);
});

test("the checker catches rows that CosId may take over", async (t) => {
  const broken = "leaves rows to CosId";
  const { repeats } = await run(t, { broken, seconds: 0, isEnough: hasRepeated, minuteMs: 800, onlyOld: true });
  assert.ok(repeats > 0);
});

for (const digits of [4, 8])
  test(`processes of both generations that start at once have numbers of their own, in names with ${digits} digits`, async (t) => {
    const { store, query, process } = await oldDatabase(t, { used: 3 });
    await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
    const [leases, states] = await Promise.all([
      Promise.all(
        Array.from({ length: 24 }, () => lease(store, { ...OPTIONS, windowMs: 20_000, maxAsyncWaitMs: 60_000 })),
      ),
      Promise.all(Array.from({ length: 24 }, (_, at) => process(`pod-${at}`, { digits }).distribute())),
    ]);
    const numbers = [...leases.map(({ node }) => node), ...states.map(({ machineId }) => machineId)];
    assert.equal(new Set([...numbers, 0, 1, 2]).size, 51);
    for (const ids of leases) assert.equal(ids.layout.decode(ids.next()).node, ids.node);
    // CosId can read all rows, and there is one instance for each number.
    const rows = await query("SELECT * FROM cosid_machine");
    const instances = new Map();
    for (const row of rows) {
      const { machineId, stamp } = stateOf(row);
      assert.ok(row.name.startsWith(`${NAMESPACE}.`) && Number(row.name.split(".")[1]) === machineId, row.name);
      assert.equal(instances.get(machineId) ?? row.instance_id, row.instance_id);
      instances.set(machineId, row.instance_id);
      assert.ok(stamp > 0 && row.distribute_time > 0 && row.revert_time === 0);
    }
    for (const { node } of leases) assert.match(instances.get(node), /^frazil:default:[0-9a-f]{8}$/);
    await Promise.all(leases.map((ids) => ids.close()));
  });

test("CosId never takes a number of ours, whatever its clock is and however long ours is not used", async (t) => {
  const { store, query, process } = await oldDatabase(t, { used: 2 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const ids = await lease(store, OPTIONS);
  assert.equal(ids.node, 2);
  await ids.close();
  const realNow = Date.now;
  t.after(() => {
    Date.now = realNow;
  });
  const taken = [];
  for (const yearsAhead of [0, 1, 1000]) {
    Date.now = () => realNow() + yearsAhead * 31_557_600_000;
    // A stable instance too, and one with the name of ours.
    for (const stable of [false, true])
      taken.push((await process(`pod-${yearsAhead}-${stable}`, { stable }).distribute()).machineId);
  }
  Date.now = realNow;
  assert.ok(!taken.includes(2), `${taken}`);
  const [row] = await query("SELECT instance_id FROM cosid_machine WHERE machine_id = 2");
  assert.match(row.instance_id, /^frazil:default:[0-9a-f]{8}$/);
  const again = await lease(store, OPTIONS);
  assert.equal(again.node, 2);
  await again.close();
});

test("a number of CosId is never granted, given back or not, and ours are granted again", async (t) => {
  const { store, query, process } = await oldDatabase(t, { used: 4 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  await query("UPDATE cosid_machine SET last_timestamp = 1, distribute_time = 1");
  await process("10.0.0.1:8080").revert();
  const nodes = new Set();
  for (let start = 0; start < 4; start++) {
    const ids = await lease(store, { ...OPTIONS, node: start });
    nodes.add(ids.node);
    await ids.close();
  }
  assert.deepEqual([...nodes], [4]);
  // The number that was given back goes to CosId.
  assert.equal((await process("10.0.0.9:8080").distribute()).machineId, 0);
});

test("numbers that are used up: ours says why, and inserts nothing", async (t) => {
  const { store, query, process } = await oldDatabase(t, { used: 3 });
  const layout = new Layout({
    ...LAYOUT,
    fields: LAYOUT.fields.map((f) => (f.kind === "node" ? { ...f, bits: 2 } : f)),
  });
  await store.init({ layout, nodeIdsFrom: FROM });
  const ids = await lease(store, { ...OPTIONS, layout });
  assert.equal(ids.node, 3);
  for (let tries = 0; tries < 2; tries++) {
    await assert.rejects(lease(store, { ...OPTIONS, layout, maxAsyncWaitMs: 300 }), (error) => {
      const { message } = [error, error.cause].find(({ code }) => code === "NODE_IDS_EXHAUSTED");
      assert.match(message, /cosid_machine/);
      return true;
    });
  }
  await assert.rejects(process("pod", { machineBits: 2, minuteMs: 60_000 }).distribute(), /MachineIdOverflow/);
  assert.equal((await query("SELECT name FROM cosid_machine")).length, 5);
  await ids.close();
});

test("rows that somebody has given to CosId end the lease, and the number is never granted again", async (t) => {
  const { store, query, process } = await oldDatabase(t);
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const ids = await lease(store, OPTIONS);
  assert.equal(ids.node, 0);
  // Kept: nothing that lasts refers to a generator whose event is awaited, and one that was collected asks no store.
  t.after(() => ids.close());
  const lost = new Promise((resolve) => ids.on("lost", resolve));
  await query("UPDATE cosid_machine SET instance_id = '' WHERE name = 'orders.00000000'");
  assert.equal((await process("pod").distribute()).machineId, 0);
  assert.equal((await lost).code, "LEASE_LOST");
  await ids.nextAsync();
  assert.equal(ids.node, 1);
  const { untilMs } = ids.health().lease;
  await ids.close();
  await sleep(Math.max(0, untilMs - Date.now()));
  const next = await lease(store, { ...OPTIONS, node: 0 });
  assert.equal(next.node, 1);
  await next.close();
});

test("giving numbers back, with the statements of the guide", async (t) => {
  const { store, query, process } = await oldDatabase(t, { used: 1 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const leases = await Promise.all([lease(store, OPTIONS), lease(store, OPTIONS)]);
  const used = leases.map((ids) => ids.decode(ids.next()));
  await Promise.all(leases.map((ids) => ids.close()));
  const guide = readFileSync(new URL("../../../docs/guides/migrating/fleets.md", import.meta.url), "utf8");
  const statements = /### Giving numbers back.*?```sql\n(.*?)```/s.exec(guide)[1];
  for (const statement of statements.split(";").slice(0, -1)) await query(statement);
  assert.equal((await query("SELECT name FROM cosid_machine WHERE instance_id LIKE 'frazil:%'")).length, 0);
  const fresh = [];
  for (const at of [1, 2, 3]) fresh.push(await process(`pod-${at}`).distribute());
  const machines = fresh.map(({ machineId }) => machineId);
  assert.deepEqual([...machines].sort(), [1, 2, 3]);
  for (const { machineId, stamp } of fresh) {
    await synchronise(stamp);
    const first = OPTIONS.layout.decode(snowflakeId(BITS, machineId)());
    const before = used.find(({ node }) => node === machineId);
    assert.ok(before === undefined || first.timestampMs > before.timestampMs);
  }
  // None of these is granted again.
  const ids = await lease(store, OPTIONS);
  assert.equal(ids.node, 4);
  await ids.close();
});

test("leaving the old table: holders go on, and new node ids follow its largest number", async (t) => {
  const { pool, store, query, process } = await oldDatabase(t, { used: 3 });
  await store.init({ layout: OPTIONS.layout, nodeIdsFrom: FROM });
  const ids = await lease(store, OPTIONS);
  await process("late").distribute();
  const lost = [];
  ids.on("lost", (error) => lost.push(error));
  await new MySqlStore(pool).leaveOldTable({ scope: "default" });
  await query("DROP TABLE cosid_machine");
  const more = await lease(new MySqlStore(pool), OPTIONS);
  assert.ok(more.node > 4);
  const { renewed } = ids.stats().lease;
  while (ids.stats().lease.renewed < renewed + 2) await sleep(50);
  assert.deepEqual(lost, []);
  assert.equal(ids.node, 3);
  await Promise.all([ids.close(), more.close()]);
});

test("init refuses what cannot be right, and says what to do", async (t) => {
  const { store, query } = await oldDatabase(t, { used: 9 });
  const refused = (options, code, pattern) =>
    assert.rejects(store.init({ layout: OPTIONS.layout, ...options }), (error) => {
      assert.equal(error.code, code, error.message);
      assert.match(wholeText(error), pattern);
      return true;
    });
  const of = (cosId, more) => ({ nodeIdsFrom: { cosId, ...more } });
  await refused(of({}), "INVALID_OPTION", /nodeIdsFrom\.cosId\.namespace/);
  await refused(of({ namespace: "o'r" }), "INVALID_OPTION", /nodeIdsFrom\.cosId\.namespace/);
  await refused(of({ namespace: "o".repeat(92) }), "INVALID_OPTION", /nodeIdsFrom\.cosId\.namespace/);
  await refused(of({ namespace: "o", table: "a.b.c" }), "INVALID_OPTION", /nodeIdsFrom\.cosId\.table/);
  await refused(
    of({ namespace: "o", table: "machines" }),
    "STORE_REFUSED",
    /the table machines of nodeIdsFrom does not exist/,
  );
  const narrow = { ...LAYOUT, fields: LAYOUT.fields.map((f) => (f.kind === "node" ? { ...f, bits: 3 } : f)) };
  await refused({ layout: narrow, ...of({ namespace: NAMESPACE }) }, "INVALID_OPTION", /8.*cosid_machine/);
  const wide = { ...LAYOUT, fields: LAYOUT.fields.map((f) => (f.kind === "node" ? { ...f, bits: 24 } : f)) };
  wide.fields = wide.fields.map((f) => (f.kind === "sequence" ? { ...f, bits: 5 } : f));
  wide.fields[0] = { kind: "time", bits: 34 };
  wide.tickMs = 1000;
  await refused({ layout: wide, ...of({ namespace: NAMESPACE }) }, "INVALID_OPTION", /23 bits/);
  // A name that was mistyped: its numbers would begin at 0.
  await refused(of({ namespace: "order" }), "INVALID_OPTION", /"order".*Namespaces with rows: "orders"\. .*allowEmpty/);
  await refused({}, "INVALID_OPTION", /cosid_machine.*"none"/);
  // Another namespace has numbers of its own.
  const users = of({ namespace: "Users-1.a/b", table: "cosid_machine" }, { allowEmpty: true });
  await store.init({ layout: OPTIONS.layout, ...users });
  const ids = await lease(store, OPTIONS);
  assert.equal(ids.node, 0);
  await ids.close();
  assert.equal((await query("SELECT * FROM cosid_machine WHERE namespace = 'Users-1.a/b'")).length, 2);
});

test("the layout cosid decodes an ID of CosId", () => {
  const beforeMs = Date.now();
  const { timestampMs, node } = Layout.named("cosid").decode(snowflakeId(BITS, 711)());
  assert.equal(node, 711);
  assert.ok(beforeMs <= timestampMs && timestampMs <= Date.now(), `${beforeMs}, then ${timestampMs}`);
});
