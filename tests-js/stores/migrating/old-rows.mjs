// The tables of Leaf, Tinyid and CosId on a real MariaDB, which ends with the file of tests, and their rows.
import { after, before } from "node:test";
import { CosIdSegments, LeafSegments, TinyidSegments } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { MySqlServer } from "../mysql/server.mjs";
import { COSID, CosId } from "./old-cosid-segments.mjs";
import { LEAF_ALLOC, Leaf } from "./old-leaf-segments.mjs";
import { TINY_ID_INFO, Tinyid } from "./old-tinyid.mjs";

export let server;
export let pool;

/** The connections of the old generation, which have autocommit off. */
export let oldPool;

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

export const query = async (sql, values) => (await pool.query(sql, values))[0];

/** Each generator: both generations, its table, and the columns of the tag and of the counter. */
export const ALL = {
  Leaf: { Old: Leaf, Store: LeafSegments, table: "leaf_alloc", tag: "biz_tag", counter: "max_id", step: 10 },
  Tinyid: { Old: Tinyid, Store: TinyidSegments, table: "tiny_id_info", tag: "biz_type", counter: "max_id", step: 10 },
  CosId: { Old: CosId, Store: CosIdSegments, table: "cosid", tag: "name", counter: "last_max_id" },
};

let tags = 0;

/** Makes a row with such values. Returns its tag. */
export async function rowOf({ table, tag, step }, values) {
  const name = `shop.orders@2026-11-22#${++tags}`;
  const columns = { [tag]: name, ...(step && { step }), ...values };
  await query("INSERT INTO ?? SET ?", [table, columns]);
  return name;
}

/** The row of a tag: each column as text. */
export async function read({ table, tag }, name) {
  const [row] = await query({ sql: "SELECT * FROM ?? WHERE ?? = ?", typeCast: (field) => field.string() }, [
    ...[table, tag, name],
  ]);
  return { ...row };
}

/** An attempt to allocate. */
export const attempt = (tag, { count, above = 0n } = {}) => ({
  tag,
  count,
  maxCount: 1_000_000,
  above,
  failoverSkip: 1000,
  holder: "0".repeat(32),
  attempt: "1".repeat(32),
});

/** The first and the last number of what a store allocates, and how many there are. */
export async function allocated(store, tag, options) {
  const { first, count, stride = 1, step } = await store.allocate(attempt(tag, options));
  return { first, last: first + BigInt((count - 1) * stride), count, step };
}

/** The same of the next range of a process of the old generation. */
export async function loaded(generator) {
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
