// Segments from the tables of Leaf, Tinyid and CosId: which numbers each generation gets from a row, which rows are refused and how,
// and the drivers. With a real MariaDB.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Segment } from "frazil/segment";
import { CosIdSegments, LeafSegments, TinyidSegments } from "frazil/stores/mysql";
import mariadb from "mariadb";
import callbacks from "mysql2";
import mysql from "mysql2/promise";
import { randomNumbers } from "../../local/minting-process.mjs";
import { MySqlServer } from "../mysql/server.mjs";
import { COSID, CosId } from "./old-cosid-segments.mjs";
import { LEAF_ALLOC, Leaf } from "./old-leaf-segments.mjs";
import { TINY_ID_INFO, Tinyid } from "./old-tinyid.mjs";

let server;
let pool;
/** The connections of the old generation, which have autocommit off. */
let oldPool;
before(async () => {
  server = await MySqlServer.start({ "innodb-flush-log-at-trx-commit": 1 });
  pool = mysql.createPool(server.address({ database: "test", connectionLimit: 8, multipleStatements: true }));
  oldPool = mysql.createPool(server.address({ database: "test", connectionLimit: 8 }));
  for (const ddl of [LEAF_ALLOC, TINY_ID_INFO, COSID]) await pool.query(ddl);
});
after(async () => {
  await pool?.end();
  await oldPool?.end();
  await server?.crash();
});

const query = async (sql, values) => (await pool.query(sql, values))[0];

/** Each generator: both generations, its table, and the columns of the tag and of the counter. */
const ALL = {
  Leaf: { Old: Leaf, Store: LeafSegments, table: "leaf_alloc", tag: "biz_tag", counter: "max_id", step: 10 },
  Tinyid: { Old: Tinyid, Store: TinyidSegments, table: "tiny_id_info", tag: "biz_type", counter: "max_id", step: 10 },
  CosId: { Old: CosId, Store: CosIdSegments, table: "cosid", tag: "name", counter: "last_max_id" },
};

let tags = 0;
/** Makes a row with such values. Returns its tag. */
async function rowOf({ table, tag, step }, values) {
  const name = `shop.orders@2026-11-22#${++tags}`;
  const columns = { [tag]: name, ...(step && { step }), ...values };
  await query("INSERT INTO ?? SET ?", [table, columns]);
  return name;
}
/** The row of a tag: each column as text. */
async function read({ table, tag }, name) {
  const [row] = await query({ sql: "SELECT * FROM ?? WHERE ?? = ?", typeCast: (field) => field.string() }, [
    ...[table, tag, name],
  ]);
  return { ...row };
}

/** An attempt to allocate. */
const attempt = (tag, { count, above = 0n } = {}) => ({
  tag,
  count,
  maxCount: 1_000_000,
  above,
  failoverSkip: 1000,
  holder: "0".repeat(32),
  attempt: "1".repeat(32),
});
/** The first and the last number of what a store allocates, and how many there are. */
async function allocated(store, tag, options) {
  const { first, count, stride = 1, step } = await store.allocate(attempt(tag, options));
  return { first, last: first + BigInt((count - 1) * stride), count, step };
}
/** The same of the next range of a process of the old generation. */
async function loaded(generator) {
  const numbers = [];
  const segment = await generator.load();
  if (segment.next === undefined) {
    const { value, max } = segment;
    // Leaf: [value, max). CosId: (value, max].
    const past = generator instanceof CosId ? 1 : 0;
    return { first: BigInt(value + past), last: BigInt(max + past - 1), count: max - value };
  }
  for (let number = segment.next(); number <= segment.max; number = segment.next()) numbers.push(number);
  return { first: BigInt(numbers[0]), last: BigInt(numbers.at(-1)), count: numbers.length };
}

/** Rows, and the ranges that are allocated from them one after the other: by the old generation, by ours, and again. */
for (const [name, values, ranges, options] of [
  ["Leaf", { max_id: 1, step: 2000 }, [1, 2000, 2001, 4000, 4001, 6000]],
  ["Leaf", { max_id: 0, step: 1 }, [0, 0, 1, 1, 2, 2]],
  ["Leaf", { max_id: 153_001, step: 7 }, [153_001, 153_007, 153_008, 153_107, 153_108, 153_114], { count: 100 }],
  ["Tinyid", { max_id: 1, step: 100_000, delta: 2, remainder: 1 }, [3, 100_001, 100_003, 200_001, 200_003, 300_001]],
  ["Tinyid", { max_id: 1, step: 100_000, delta: 2, remainder: 0 }, [2, 100_000, 100_002, 200_000, 200_002, 300_000]],
  ["Tinyid", { max_id: 0, step: 10, delta: 1, remainder: 0 }, [1, 10, 11, 20, 21, 30]],
  // A step that is no multiple of delta: three numbers of 10 for the old generation, and 3 of 9 for ours.
  ["Tinyid", { max_id: 7, step: 10, delta: 3, remainder: 2 }, [8, 17, 20, 26, 29, 35]],
  ["Tinyid", { max_id: 8, step: 9, delta: 3, remainder: 2 }, [11, 17, 20, 317, 320, 326], { count: 100 }],
  ["Tinyid", { max_id: 4, step: 4, delta: 2, remainder: null }, [6, 8, 10, 12, 14, 16]],
  // A step below delta is one number.
  ["Tinyid", { max_id: 0, step: 2, delta: 3, remainder: 1 }, [1, 1, 4, 4, 7, 7]],
  ["CosId", { last_max_id: 0 }, [1, 10, 11, 1010, 1011, 1020]],
  ["CosId", { last_max_id: 99 }, [100, 109, 110, 209, 210, 219], { count: 100 }],
]) {
  test(`${name}: ${JSON.stringify(values)} is allocated as ${ranges}, by the old generation, by ours, and by the old one`, async () => {
    const { Old, Store, ...table } = ALL[name];
    const tag = await rowOf(table, values);
    const before = await read(table, tag);
    const [old, store] = [new Old(oldPool, tag), new Store(pool)];
    const found = [await loaded(old), await allocated(store, tag, options), await loaded(new Old(oldPool, tag))];
    assert.deepEqual(
      found.flatMap(({ first, last }) => [first, last]),
      ranges.map(BigInt),
    );
    const after = await read(table, tag);
    // All that nobody wrote is as it was.
    for (const [column, value] of Object.entries(before))
      if (![table.counter, "version", "update_time", "last_fetch_time"].includes(column))
        assert.equal(after[column], value, column);
    if (name === "Tinyid") assert.equal(BigInt(after.version), BigInt(before.version) + 3n);
  });
}

test("from random rows both generations get the same numbers, and none between them is left out", async () => {
  const random = randomNumbers(20261122);
  const upTo = (max) => Math.floor(random() * max);
  const isNext = (before, { first }, by) => assert.equal(first, before + BigInt(by));
  for (let round = 0; round < 40; round++) {
    const delta = 1 + upTo(5);
    for (const [name, values, by] of [
      ["Leaf", { max_id: upTo(1000), step: 1 + upTo(50) }, 1],
      ["Tinyid", { max_id: upTo(1000), step: delta * (1 + upTo(9)) + upTo(2), delta, remainder: upTo(delta) }, delta],
      ["CosId", { last_max_id: upTo(1000) }, 1],
    ]) {
      const { Old, Store, ...table } = ALL[name];
      const [tag, copy] = [await rowOf(table, values), await rowOf(table, values)];
      const expected = await loaded(new Old(oldPool, tag));
      const count = name === "CosId" ? 10 : undefined;
      const found = await allocated(new Store(pool), copy, { count });
      assert.equal(found.first, expected.first, JSON.stringify(values));
      if (values.step % by === 0 || name !== "Tinyid")
        assert.deepEqual([found.last, found.count], [expected.last, expected.count]);
      isNext(found.last, await loaded(new Old(oldPool, copy)), by);
      isNext(expected.last, await allocated(new Store(pool), tag, { count }), by);
    }
  }
});

test("two of each generation that take turns: every number once, in the order of its process, and the old one reads what ours wrote", async () => {
  for (const [name, { Old, Store, ...table }] of Object.entries(ALL)) {
    const tag = await rowOf(table, { [table.counter]: name === "Leaf" ? 1 : 0 });
    const old = [new Old(oldPool, tag), new Old(oldPool, tag)];
    const fresh = [1, 2].map(() => new Segment(new Store(pool), { tag, step: 7, maxStep: 7 }));
    const numbers = [];
    for (let round = 0; round < 200; round++)
      numbers.push(...(await Promise.all([...old, ...fresh].map(async (side) => Number(await side.next())))));
    for (let side = 0; side < 4; side++)
      assert.ok(
        numbers.filter((_, at) => at % 4 === side).every((number, at, all) => at === 0 || number > all[at - 1]),
      );
    assert.equal(new Set(numbers).size, 800, name);
    for (const segment of fresh) segment.close();
  }
});

test("ours sets the columns besides the counter as the old generation does", async () => {
  for (const [name, { Store, ...table }] of Object.entries(ALL)) {
    const time = name === "CosId" ? "last_fetch_time" : "update_time";
    const tag = await rowOf(table, { [table.counter]: 5, [time]: name === "CosId" ? 7 : "2020-01-01" });
    const before = await read(table, tag);
    await new Store(pool).allocate(attempt(tag));
    const { [table.counter]: counter, [time]: written, ...after } = await read(table, tag);
    const writtenMs = name === "CosId" ? 1000 * Number(written) : Date.parse(`${written}Z`);
    assert.ok(Math.abs(writtenMs - Date.now()) < 86_400_000, `${name}: ${written}`);
    assert.equal(counter, name === "CosId" ? "1005" : "15");
    const { [table.counter]: _, [time]: __, ...others } = before;
    assert.deepEqual(after, { ...others, ...(name === "Tinyid" && { version: "1" }) });
  }
});

test("the steps of a busy server of Leaf: doubled, kept, halved, and ours between them", async () => {
  const tag = await rowOf(ALL.Leaf, { max_id: 1, step: 100 });
  let nowMs = 0;
  const leaf = new Leaf(oldPool, tag, { now: () => nowMs });
  const store = new LeafSegments(pool);
  const found = [];
  for (const minutes of [0, 14, 14, 14.9, 15, 30]) {
    nowMs += minutes * 60_000;
    found.push(await loaded(leaf), await allocated(store, tag, { count: 1 }));
  }
  assert.deepEqual(
    found.map(({ count }) => count),
    [100, 1, 100, 1, 200, 1, 400, 1, 400, 1, 200, 1],
  );
  let next = 1n;
  for (const { first, last } of found) {
    assert.equal(first, next);
    next = last + 1n;
  }
});

/** A client that runs something before a statement that writes, or in its place. */
const hooked = (hook) => ({
  query: (statement, values) =>
    statement.sql.startsWith("UPDATE")
      ? hook(() => pool.query(statement, values), statement, values)
      : pool.query(statement, values),
});
/** The same, once. */
const hookedOnce = (hook) => {
  let isOver = false;
  return hooked((run, ...more) => {
    if (isOver) return run();
    isOver = true;
    return hook(run, ...more);
  });
};

test("a row that changes between reading and writing is read again", async () => {
  for (const [name, change, first] of [
    ["Leaf", { max_id: 51 }, 51n],
    ["Tinyid", { max_id: 51 }, 52n],
    ["Tinyid", { version: 9 }, 2n],
    ["Tinyid", { delta: 7, remainder: 3 }, 3n],
    ["Tinyid", { delta: 4 }, 4n],
    ["Tinyid", { remainder: 1 }, 3n],
    ["Tinyid", { remainder: null }, 2n],
    ["CosId", { last_max_id: 51 }, 52n],
  ]) {
    const { Store, ...table } = ALL[name];
    const values = { [table.counter]: 1, ...(name === "Tinyid" && { delta: 2, remainder: 0 }) };
    const tag = await rowOf(table, values);
    let writes = 0;
    const client = hooked(async (run) => {
      if (writes++ === 0) await query("UPDATE ?? SET ? WHERE ?? = ?", [table.table, change, table.tag, tag]);
      return run();
    });
    assert.equal((await allocated(new Store(client), tag, { count: 3 })).first, first, JSON.stringify(change));
    assert.equal(writes, 2);
  }
});

test("a row that others move all the time is STORE_UNAVAILABLE, with the table and the tag", async (t) => {
  // No pauses between its tries.
  t.mock.method(Math, "random", () => 0);
  const tag = await rowOf(ALL.Leaf, { max_id: 1 });
  const client = hooked(async (run) => {
    await query("UPDATE leaf_alloc SET max_id = max_id + 1 WHERE biz_tag = ?", [tag]);
    return run();
  });
  await assert.rejects(new LeafSegments(client).allocate(attempt(tag)), (error) => {
    assert.deepEqual([error.code, error.retryable], ["STORE_UNAVAILABLE", true]);
    assert.ok(
      error.message.includes(`max_id of the tag "${tag}" in the table leaf_alloc first, 60 times`),
      error.message,
    );
    return true;
  });
});

test("an answer that is lost is a hole: the retry of the attempt gets another range", async () => {
  for (const { Store, ...table } of Object.values(ALL)) {
    const tag = await rowOf(table, { [table.counter]: table.tag === "biz_tag" ? 1 : 0 });
    const client = hookedOnce(async (run) => {
      await run();
      throw Object.assign(new Error("Connection lost"), { code: "PROTOCOL_CONNECTION_LOST" });
    });
    const store = new Store(client);
    await assert.rejects(store.allocate(attempt(tag, { count: 10 })), { code: "STORE_UNAVAILABLE", retryable: true });
    assert.equal((await allocated(store, tag, { count: 10 })).first, 11n);
  }
});

test("at every isolation level, what another transaction has not committed yet does not count", async () => {
  for (const level of ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]) {
    const tag = await rowOf(ALL.Leaf, { max_id: 1 });
    const client = await mysql.createConnection(server.address({ database: "test" }));
    await client.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`);
    const other = await mysql.createConnection(server.address({ database: "test" }));
    await other.query("START TRANSACTION");
    await other.query("UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = ?", [tag]);
    const answer = allocated(new LeafSegments(client), tag);
    await sleep(50);
    await other.query(level === "READ COMMITTED" ? "COMMIT" : "ROLLBACK");
    assert.equal((await answer).first, level === "READ COMMITTED" ? 11n : 1n, level);
    await Promise.all([client.end(), other.end()]);
  }
});

test("in a transaction of the program, or with autocommit off, nothing is allocated", async () => {
  for (const setting of ["START TRANSACTION", "SET autocommit = 0"]) {
    const client = await mysql.createConnection(server.address({ database: "test" }));
    const tag = await rowOf(ALL.Leaf, { max_id: 1 });
    await client.query(setting);
    const refusal = { code: "STORE_REFUSED", message: /transaction of yours|autocommit/ };
    await assert.rejects(new LeafSegments(client).allocate(attempt(tag)), refusal);
    // It began between the read and the write.
    const later = {
      query: (...given) => (given[0].sql.startsWith("UPDATE") ? client.query(...given) : pool.query(...given)),
    };
    await assert.rejects(new LeafSegments(later).allocate(attempt(tag)), refusal);
    await client.query("COMMIT");
    assert.equal((await read(ALL.Leaf, tag)).max_id, "1");
    await client.end();
  }
});

/** Refused with these details, and the row is as before. */
async function refused({ Store, ...table }, tag, details, pattern, options) {
  const before = await read(table, tag);
  await assert.rejects(new Store(pool).allocate(attempt(tag, options)), (error) => {
    const { code, field, value } = error;
    assert.deepEqual({ code, field, value }, { code: "STORE_REFUSED", ...details }, error.message);
    assert.match(error.message, pattern);
    // The row, and a statement that changes it, unless it must not be changed.
    assert.ok(
      error.message.includes(`in the row ${table.tag} = '${tag}' of test.${table.table}: must `),
      error.message,
    );
    const mend = `UPDATE test.${table.table} SET ${error.field} = … WHERE ${table.tag} = '${tag}'`;
    assert.equal(error.message.endsWith(mend), pattern !== USED_UP, error.message);
    return true;
  });
  assert.deepEqual(await read(table, tag), before);
}

const LARGEST = 2n ** 63n - 1n;
const USED_UP = /room for a range below 2\^63 - 1.* Never lower it/;
/** How a column can be read as NULL, negative or larger than its type in the table of the project. */
const LOOSE = {
  leaf_alloc: "MODIFY max_id bigint NULL, MODIFY step bigint NULL",
  tiny_id_info: "MODIFY max_id bigint NULL, MODIFY step bigint NULL, MODIFY version bigint NULL",
  cosid: "MODIFY last_max_id bigint NULL",
};

for (const [name, values, field, value, rule] of [
  ["Leaf", { step: 0 }, "step", "0", /step is 0 .*whole number from 1 to 2147483647/],
  ["Leaf", { step: -5 }, "step", "-5", /step is -5 /],
  ["Leaf", { max_id: -1 }, "max_id", "-1", /max_id is -1 .*from 0 to 9223372036854775806/],
  ["Leaf", { max_id: LARGEST - 9n }, "max_id", `${LARGEST - 9n}`, USED_UP],
  ["Leaf", { max_id: LARGEST }, "max_id", `${LARGEST}`, USED_UP],
  ["Tinyid", { step: 0 }, "step", "0", /step is 0 /],
  ["Tinyid", { step: null }, "step", null, /step is NULL /],
  ["Tinyid", { delta: 0 }, "delta", "0", /delta is 0 .*from 1 to 2147483647/],
  ["Tinyid", { delta: null }, "delta", null, /delta is NULL /],
  ["Tinyid", { delta: -2, remainder: -1 }, "delta", "-2", /delta is -2 /],
  ["Tinyid", { delta: 2, remainder: 2 }, "remainder", "2", /remainder is 2 .*from 0 to 1, below delta/],
  ["Tinyid", { delta: 2, remainder: -1 }, "remainder", "-1", /remainder is -1 /],
  ["Tinyid", { max_id: -1 }, "max_id", "-1", /max_id is -1 /],
  ["Tinyid", { version: -1 }, "version", "-1", /version is -1 /],
  ["Tinyid", { max_id: LARGEST - 10n }, "max_id", `${LARGEST - 10n}`, USED_UP],
  // Its numbers end before 2^63, and the counter after them would not.
  ["Tinyid", { max_id: LARGEST - 9n, delta: 10, remainder: 0 }, "max_id", `${LARGEST - 9n}`, USED_UP],
  ["CosId", { last_max_id: LARGEST - 1000n }, "last_max_id", `${LARGEST - 1000n}`, USED_UP],
  ["CosId", { last_max_id: 2n ** 63n }, "last_max_id", `${2n ** 63n}`, USED_UP],
  ["CosId", { last_max_id: 2n ** 64n - 1n }, "last_max_id", `${2n ** 64n - 1n}`, USED_UP],
]) {
  const shown = Object.entries(values).map(([column, given]) => `${column} = ${given}`);
  test(`${name}: ${shown.join(", ")} is refused, with the row, the rule and what to run, and nothing is written`, async () => {
    const tag = await rowOf(ALL[name], values);
    await refused(ALL[name], tag, { field, value }, rule);
  });
}

test("columns of a table that somebody has changed: NULL, larger than an integer, and below 0", async () => {
  await query("CREATE DATABASE loose");
  for (const [name, values, field, value] of [
    ["Leaf", { max_id: null }, "max_id", null],
    ["Leaf", { max_id: 1, step: 2 ** 31 }, "step", "2147483648"],
    ["Tinyid", { max_id: null }, "max_id", null],
    ["Tinyid", { max_id: 1, version: null }, "version", null],
    ["CosId", { last_max_id: null }, "last_max_id", null],
    ["CosId", { last_max_id: -1 }, "last_max_id", "-1"],
  ]) {
    const { Store, tag, table, step = null } = ALL[name];
    await query("DROP TABLE IF EXISTS loose.??; CREATE TABLE loose.?? LIKE ??", [table, table, table]);
    await query(`ALTER TABLE loose.${table} ${LOOSE[table]}`);
    await query("INSERT INTO loose.?? SET ?", [table, { [tag]: "orders", ...(step && { step }), ...values }]);
    const error = await new Store(pool, { database: "loose" }).allocate(attempt("orders")).catch((error) => error);
    assert.deepEqual([error.code, error.field, error.value], ["STORE_REFUSED", field, value], error.message);
    assert.match(
      error.message,
      new RegExp(`is ${value ?? "NULL"} in the row ${tag} = 'orders' of loose\\.${table}: must`),
    );
  }
});

test("a counter that went back is refused, with the numbers that were handed out and what to do, and goes on when it is raised", async () => {
  for (const [name, { Store, ...table }] of Object.entries(ALL)) {
    const isLeaf = name === "Leaf";
    const tag = await rowOf(table, { [table.counter]: isLeaf ? 1 : 0 });
    const segment = new Segment(new Store(pool), { tag, step: 10, maxStep: 10, maxAsyncWaitMs: 30_000 });
    assert.deepEqual((await segment.nextMany(10)).slice(-1), [10n]);
    // The next range is there. Then the table is restored from a backup.
    while (segment.stats().left < 10) await sleep(5);
    const end = 20n;
    await query("UPDATE ?? SET ?? = 5 WHERE ?? = ?", [table.table, table.counter, table.tag, tag]);
    await segment.nextMany(10);
    const error = await segment.next().catch((error) => error);
    assert.deepEqual(
      [error.code, error.field, error.value, error.retryable],
      ["STORE_REFUSED", table.counter, "5", false],
    );
    const least = isLeaf ? end + 1n : end;
    for (const part of [
      `${table.counter} is 5 in the row ${table.tag} = '${tag}' of test.${table.table}: must be ${least} or more`,
      `this process has had the numbers up to ${end}`,
      "stop all that allocate from the row",
      `UPDATE test.${table.table} SET ${table.counter} = <above it> WHERE ${table.tag} = '${tag}'`,
    ])
      assert.ok(error.message.includes(part), error.message);
    assert.equal((await read(table, tag))[table.counter], "5");
    await query("UPDATE ?? SET ?? = ? WHERE ?? = ?", [table.table, table.counter, least, table.tag, tag]);
    let number;
    for (let tries = 0; number === undefined && tries < 100; tries++)
      number = await segment.next().catch(({ code }) => assert.equal(code, "STORE_REFUSED"));
    assert.equal(number, end + 1n);
    segment.close();
  }
});

test("a row that is missing: the table, the tag, and a statement that makes it", async () => {
  for (const [name, { Store, Old, ...table }] of Object.entries(ALL)) {
    const error = await new Store(pool).allocate(attempt("new tag")).catch((error) => error);
    assert.deepEqual([error.code, error.field, error.value], ["STORE_NOT_INITIALISED", "tag", "new tag"]);
    assert.match(
      error.message,
      new RegExp(`test\\.${table.table} of ${name} has no row with ${table.tag} = 'new tag'`),
    );
    const [, statement] = /run once: (INSERT .*?\))\. If its row was deleted/.exec(error.message);
    await query(statement);
    const { first } = await allocated(new Store(pool), "new tag");
    assert.equal(first, 1n);
    assert.ok((await loaded(new Old(oldPool, "new tag"))).first > 1n);
  }
});

test("a table that is missing, another one, and a missing right say what to do", async (t) => {
  await query("CREATE DATABASE empty; CREATE TABLE empty.cosid (name varchar(100) PRIMARY KEY, value int)");
  await query("CREATE USER program@'%'; GRANT SELECT ON test.leaf_alloc TO program@'%'");
  const program = mysql.createPool(server.address({ user: "program", database: "test", connectionLimit: 1 }));
  t.after(() => program.end());
  const tag = await rowOf(ALL.Leaf, { max_id: 1 });
  for (const [store, pattern] of [
    [new LeafSegments(pool, { database: "empty" }), /1146 .*empty\.leaf_alloc.*options database and table/],
    [new LeafSegments(pool, { table: "leaf_alloc_2" }), /1146 .*test\.leaf_alloc_2/],
    [new CosIdSegments(pool, { database: "empty" }), /1054 .*last_max_id.*cosid is not a table as CosId makes it/],
    [new LeafSegments(pool, { database: "nothing" }), /nothing/],
    [new LeafSegments(program), /1142 .*GRANT SELECT, UPDATE ON leaf_alloc TO your_role;/],
    [new TinyidSegments(program), /1142 .*GRANT SELECT, UPDATE ON tiny_id_info TO your_role;/],
  ])
    await assert.rejects(store.allocate(attempt(tag)), (error) => {
      assert.equal(error.code, "STORE_REFUSED", error.message);
      assert.match(error.message, pattern);
      assert.ok(error.cause instanceof Error);
      assert.doesNotMatch(error.message, /frazil_/);
      return true;
    });
  await query("GRANT UPDATE ON test.leaf_alloc TO program@'%'");
  assert.equal((await allocated(new LeafSegments(program), tag)).first, 1n);
});

test("a counter of another type than bigint is refused, since a session that is not strict writes the largest value in its place", async () => {
  await query("CREATE DATABASE narrow");
  const lax = mysql.createPool(server.address({ database: "narrow", connectionLimit: 1 }));
  await lax.query("SET SESSION sql_mode = ''");
  for (const { Store, table, tag, counter, step } of Object.values(ALL))
    for (const type of ["int", "mediumint", "int unsigned", "decimal(5)", "varchar(20)", "double", "bigint"]) {
      await query("DROP TABLE IF EXISTS narrow.??; CREATE TABLE narrow.?? LIKE ??", [table, table, table]);
      await query(`ALTER TABLE narrow.${table} MODIFY ${counter} ${type} NOT NULL`);
      await query("INSERT INTO narrow.?? SET ?", [table, { [tag]: "orders", [counter]: 5, ...(step && { step }) }]);
      const answer = await new Store(lax).allocate(attempt("orders")).catch((error) => error);
      const [[row]] = await lax.query("SELECT ?? AS counter FROM ??", [counter, table]);
      if (type === "bigint") {
        assert.ok(answer.count > 0 && Number(row.counter) > 5, answer.message);
        continue;
      }
      assert.equal(answer.code, "STORE_REFUSED");
      const rule = `the column ${counter} of the table narrow.${table} has the type ${type.split(/[ (]/)[0]}: must be bigint`;
      assert.ok(answer.message.includes(rule), answer.message);
      assert.equal(Number(row.counter), 5);
    }
  await lax.end();
});

test("a view is refused: its table may be of any engine", async () => {
  await query(
    "CREATE DATABASE viewed; CREATE TABLE viewed.leaf LIKE leaf_alloc; ALTER TABLE viewed.leaf ENGINE = MyISAM",
  );
  await query("CREATE VIEW viewed.leaf_alloc AS SELECT * FROM viewed.leaf");
  await query("INSERT INTO viewed.leaf (biz_tag, step) VALUES ('orders', 10)");
  await assert.rejects(new LeafSegments(pool, { database: "viewed" }).allocate(attempt("orders")), {
    code: "STORE_REFUSED",
    message: /viewed\.leaf_alloc is no table .*no view/,
  });
});

test("a binary log that is not synced is refused, unless the program accepts repeats after a crash", async () => {
  const logging = await MySqlServer.start({ "log-bin": "log", "server-id": 5, "innodb-flush-log-at-trx-commit": 1 });
  const own = mysql.createPool(logging.address({ database: "test", connectionLimit: 2, multipleStatements: true }));
  const binlog = "unsynced-accepting-repeats-after-crash";
  for (const ddl of [LEAF_ALLOC, TINY_ID_INFO, COSID]) await own.query(ddl);
  await own.query("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 1, 10)");
  await assert.rejects(new LeafSegments(own).allocate(attempt("orders")), {
    code: "STORE_REFUSED",
    message: /sync_binlog is 0.*SET GLOBAL sync_binlog = 1.*or pass the option binlog/,
  });
  assert.equal((await allocated(new LeafSegments(own, { binlog }), "orders")).first, 1n);
  // What else may lose a commit is refused as before.
  await logging.query("SET GLOBAL innodb_flush_log_at_trx_commit = 2");
  const refused = { code: "STORE_REFUSED", message: /innodb_flush_log_at_trx_commit is 2/ };
  for (const Store of [LeafSegments, TinyidSegments, CosIdSegments])
    await assert.rejects(new Store(own, { binlog }).allocate(attempt("orders")), refused);
  assert.throws(() => new LeafSegments(own, { binlog: "no" }), { code: "INVALID_OPTION", field: "binlog" });
  await own.end();
  await logging.stop();
});

test("a table that is not InnoDB, and one that has lost its unique key, are refused", async () => {
  await query(
    "CREATE DATABASE odd; CREATE TABLE odd.leaf_alloc LIKE leaf_alloc; ALTER TABLE odd.leaf_alloc ENGINE = MyISAM",
  );
  await query("INSERT INTO odd.leaf_alloc (biz_tag, step) VALUES ('orders', 10)");
  const store = new LeafSegments(pool, { database: "odd" });
  await assert.rejects(store.allocate(attempt("orders")), {
    code: "STORE_REFUSED",
    message: /odd\.leaf_alloc has the engine MyISAM: must be InnoDB.*ALTER TABLE odd\.leaf_alloc ENGINE = InnoDB/,
  });
  await query("ALTER TABLE odd.leaf_alloc ENGINE = InnoDB, DROP PRIMARY KEY");
  assert.equal((await allocated(store, "orders")).last, 10n);
  await query("INSERT INTO odd.leaf_alloc (biz_tag, step) VALUES ('orders', 10)");
  await assert.rejects(store.allocate(attempt("orders")), {
    code: "STORE_REFUSED",
    message: /odd\.leaf_alloc has more than one row with biz_tag = 'orders'.*unique key on biz_tag/,
  });
});

test("options and tags that cannot be right are refused before any statement", async () => {
  const silent = { query: () => assert.fail("a statement was run") };
  for (const { Store } of Object.values(ALL)) {
    for (const [options, field] of [
      [{ table: "a.b" }, "table"],
      [{ table: "a`b" }, "table"],
      [{ table: "" }, "table"],
      [{ table: 7 }, "table"],
      [{ table: "t".repeat(65) }, "table"],
      [{ database: "a`b" }, "database"],
      [{ databases: "a" }, "databases"],
      [{ incarnation: "server" }, "incarnation"],
    ])
      assert.throws(() => new Store(silent, options), { code: "INVALID_OPTION", field });
    assert.throws(() => new Store("mysql://me:secret@host"), { code: "INVALID_ARGUMENT", field: "client" });
    for (const tag of ["o'r", "a\\", 'a"b', "a`b", "a?b", "a;b", "ä", "a\n", "a%", "", "x".repeat(129), undefined, 7])
      await assert.rejects(new Store(silent).allocate(attempt(tag)), { code: "INVALID_ARGUMENT", field: "tag" });
  }
});

const mysql2With = (more) => () => mysql.createPool(server.address({ database: "test", connectionLimit: 2, ...more }));
const mariadbWith = (more) => () =>
  mariadb.createPool(server.address({ database: "test", connectionLimit: 2, ...more }));
for (const [driver, open] of Object.entries({
  mysql2: mysql2With({}),
  "mysql2 with callbacks": () => callbacks.createPool(server.address({ database: "test", connectionLimit: 2 })),
  "mysql2 with bigNumberStrings": mysql2With({ supportBigNumbers: true, bigNumberStrings: true }),
  "mysql2 without FOUND_ROWS": mysql2With({ flags: ["-FOUND_ROWS"] }),
  "mysql2 with rowsAsArray, namedPlaceholders": mysql2With({ rowsAsArray: true, namedPlaceholders: true }),
  mariadb: mariadbWith({}),
  "mariadb with bigIntAsNumber": mariadbWith({ bigIntAsNumber: true }),
  "mariadb without foundRows": mariadbWith({ foundRows: false }),
})) {
  test(`${driver}: numbers beyond 2^53 are exact, and a table with another name in another database`, async () => {
    await query("CREATE DATABASE IF NOT EXISTS `old-shop`");
    const client = open();
    for (const { Store, ...table } of Object.values(ALL)) {
      const other = `shop-$1${table.table}$`;
      await query("CREATE TABLE IF NOT EXISTS ??.?? LIKE ??", ["old-shop", other, table.table]);
      const tag = await rowOf({ ...table, table: `old-shop.${other}` }, { [table.counter]: 2n ** 53n + 2n });
      const store = new Store(client, { database: "old-shop", table: other });
      const first = 2n ** 53n + (table.counter === "max_id" && table.tag === "biz_tag" ? 2n : 3n);
      assert.deepEqual(await allocated(store, tag, { count: 3 }), {
        ...{ first, last: first + 2n, count: 3 },
        step: table.step,
      });
      assert.equal((await allocated(store, tag, { count: 1, above: first + 3n })).first, first + 3n);
    }
    await client.end();
  });
}
