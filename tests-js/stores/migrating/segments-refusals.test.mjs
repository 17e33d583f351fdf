// Rows, tables, rights and options that segments from the tables of Leaf, Tinyid and CosId refuse, and how.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Segment } from "frazil/segment";
import { CosIdSegments, LeafSegments, TinyidSegments } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { MySqlServer } from "../mysql/server.mjs";
import { COSID } from "./old-cosid-segments.mjs";
import { LEAF_ALLOC } from "./old-leaf-segments.mjs";
import { ALL, allocated, attempt, loaded, oldPool, pool, query, read, rowOf, server } from "./old-rows.mjs";
import { TINY_ID_INFO } from "./old-tinyid.mjs";

/** Refused with these details, and the row is as before. */
async function refused({ Store, ...table }, tag, details, pattern, options) {
  const before = await read(table, tag);
  await assert.rejects(new Store(pool).allocate(attempt(tag, options)), (error) => {
    const { code, field, value } = error;
    assert.deepEqual({ code, field, value }, { code: "STORE_REFUSED", ...details }, error.message);
    assert.match(wholeText(error), pattern);
    // The row, and a statement that changes it, unless it must not be changed.
    const place = `, got ${value ?? "NULL"} in the row ${table.tag} = '${tag}' of test.${table.table}`;
    assert.ok(
      error.message.startsWith(`STORE_REFUSED: ${field} must `) && error.message.endsWith(place),
      error.message,
    );
    const mend = `To mend it: UPDATE test.${table.table} SET ${field} = … WHERE ${table.tag} = '${tag}'.`;
    assert.equal(error.hint === mend, pattern !== USED_UP, error.hint);
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
  ["Leaf", { step: 0 }, "step", "0", /step must be an integer from 1 to 2147483647, got 0 /],
  ["Leaf", { step: -5 }, "step", "-5", /step must be .*, got -5 /],
  ["Leaf", { max_id: -1 }, "max_id", "-1", /max_id must be an integer from 0 to 9223372036854775806, got -1 /],
  ["Leaf", { max_id: LARGEST - 9n }, "max_id", `${LARGEST - 9n}`, USED_UP],
  ["Leaf", { max_id: LARGEST }, "max_id", `${LARGEST}`, USED_UP],
  ["Tinyid", { step: 0 }, "step", "0", /step must be .*, got 0 /],
  ["Tinyid", { step: null }, "step", null, /step must be .*, got NULL /],
  ["Tinyid", { delta: 0 }, "delta", "0", /delta must be an integer from 1 to 2147483647, got 0 /],
  ["Tinyid", { delta: null }, "delta", null, /delta must be .*, got NULL /],
  ["Tinyid", { delta: -2, remainder: -1 }, "delta", "-2", /delta must be .*, got -2 /],
  [
    "Tinyid",
    { delta: 2, remainder: 2 },
    "remainder",
    "2",
    /remainder must be an integer from 0 to 1, below delta, got 2 /,
  ],
  ["Tinyid", { delta: 2, remainder: -1 }, "remainder", "-1", /remainder must be .*, got -1 /],
  ["Tinyid", { max_id: -1 }, "max_id", "-1", /max_id must be .*, got -1 /],
  ["Tinyid", { version: -1 }, "version", "-1", /version must be .*, got -1 /],
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
      new RegExp(`${field} must .*, got ${value ?? "NULL"} in the row ${tag} = 'orders' of loose\\.${table}$`),
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
    assert.equal(
      error.message,
      `STORE_REFUSED: ${table.counter} must be ${least} or more, since this process has had the numbers up to ${end}, ` +
        `got 5 in the row ${table.tag} = '${tag}' of test.${table.table}`,
    );
    for (const part of [
      "stop all that allocate from the row",
      `UPDATE test.${table.table} SET ${table.counter} = <above it> WHERE ${table.tag} = '${tag}'`,
    ])
      assert.ok(error.hint.includes(part), error.hint);
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
    const [, statement] = /run once: (INSERT .*?\))\. If its row was deleted/.exec(error.hint);
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
      assert.match(wholeText(error), pattern);
      assert.ok(error.cause instanceof Error);
      assert.doesNotMatch(wholeText(error), /frazil_/);
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
      const rule = `the column ${counter} of the table narrow.${table} has the type ${type.split(/[ (]/)[0]}, and must be bigint`;
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
  await assert.rejects(
    new LeafSegments(pool, { database: "viewed" }).allocate(attempt("orders")),
    told({
      code: "STORE_REFUSED",
      message: /viewed\.leaf_alloc is no table .*no view/,
    }),
  );
});

test("a binary log that is not synced is refused, unless the program accepts repeats after a crash", async () => {
  const logging = await MySqlServer.start({ "log-bin": "log", "server-id": 5, "innodb-flush-log-at-trx-commit": 1 });
  const own = mysql.createPool(logging.address({ database: "test", connectionLimit: 2, multipleStatements: true }));
  const binlog = "unsynced-accepting-repeats-after-crash";
  for (const ddl of [LEAF_ALLOC, TINY_ID_INFO, COSID]) await own.query(ddl);
  await own.query("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 1, 10)");
  await assert.rejects(
    new LeafSegments(own).allocate(attempt("orders")),
    told({
      code: "STORE_REFUSED",
      message: /sync_binlog must be 1.*, got 0.*SET GLOBAL sync_binlog = 1.*or pass the option binlog/,
    }),
  );
  assert.equal((await allocated(new LeafSegments(own, { binlog }), "orders")).first, 1n);
  // What else may lose a commit is refused as before.
  await logging.query("SET GLOBAL innodb_flush_log_at_trx_commit = 2");
  const refused = told({ code: "STORE_REFUSED", message: /innodb_flush_log_at_trx_commit is 2/ });
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
  await assert.rejects(
    store.allocate(attempt("orders")),
    told({
      code: "STORE_REFUSED",
      message: /odd\.leaf_alloc has the engine MyISAM, and must be InnoDB.*ALTER TABLE odd\.leaf_alloc ENGINE = InnoDB/,
    }),
  );
  await query("ALTER TABLE odd.leaf_alloc ENGINE = InnoDB, DROP PRIMARY KEY");
  assert.equal((await allocated(store, "orders")).last, 10n);
  await query("INSERT INTO odd.leaf_alloc (biz_tag, step) VALUES ('orders', 10)");
  await assert.rejects(
    store.allocate(attempt("orders")),
    told({
      code: "STORE_REFUSED",
      message: /odd\.leaf_alloc has more than one row with biz_tag = 'orders'.*unique key on biz_tag/,
    }),
  );
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
