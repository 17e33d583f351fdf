// Segments from the tables of Leaf, Tinyid and CosId: the numbers that each generation gets from a row, and the drivers. With a real
// MariaDB.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Segment } from "frazil/segment";
import { LeafSegments } from "frazil/stores/mysql";
import mariadb from "mariadb";
import callbacks from "mysql2";
import mysql from "mysql2/promise";
import { told } from "../../base/rule-texts.mjs";
import { randomNumbers } from "../../local/minting-process.mjs";
import { Leaf } from "./old-leaf-segments.mjs";
import { ALL, allocated, attempt, loaded, oldPool, pool, query, read, rowOf, server } from "./old-rows.mjs";

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
    const refusal = told({ code: "STORE_REFUSED", message: /transaction of yours|autocommit/ });
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
