// What `sqlFor` refuses, and what the scripts that are run nowhere say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout } from "frazil";
import { sqlFor } from "frazil/sql";

const DIALECTS = ["postgres", "mariadb", "mysql", "sqlite", "clickhouse", "duckdb", "bigquery", "trino", "snowflake"];
const TIMES = { from: new Date("2026-11-01"), until: new Date("2027-01-01") };
const orders = (more) => ({ partition: { table: "orders", by: "month", ...TIMES, ...more } });

test("each dialect has every function of the layout, and only it is not tested says so first", () => {
  for (const dialect of DIALECTS) {
    const script = sqlFor("multi-clock", dialect);
    for (const name of ["time", "node", "clock", "sequence", "from", "until", "base62", "parse_base62", "typed"])
      assert.match(script, new RegExp(`frazil_${name}[( ]`), dialect);
    const isRun = !["mysql", "bigquery", "trino", "snowflake"].includes(dialect);
    assert.match(script, isRun ? /^-- Tested on \w/ : /^-- Not tested on a real server/, dialect);
    assert.doesNotMatch(sqlFor("mastodon", dialect), /frazil_node\(id|frazil_clock/, dialect);
    assert.doesNotMatch(script, /undefined|NaN|Infinity|\[object/, dialect);
    assert.equal(sqlFor(Layout.named("multi-clock"), dialect), script);
    assert.equal(sqlFor(Layout.named("multi-clock").toJSON(), dialect), script);
  }
});

test("down removes each function that up makes", () => {
  for (const dialect of DIALECTS) {
    const made = new Set(sqlFor("seata", dialect).match(/(?<=(FUNCTION|MACRO) (IF EXISTS )?)frazil_\w+/g));
    const removed = new Set(sqlFor("seata", dialect, { down: true }).match(/(?<=(FUNCTION|MACRO) IF EXISTS )\w+/g));
    assert.deepEqual([...removed].sort(), [...made].sort(), dialect);
  }
});

test("the names of a schema are those that need no quotes", () => {
  assert.match(sqlFor("default", "postgres", { schema: "App" }), /FUNCTION "App"\.frazil_time\(/);
  assert.match(sqlFor("default", "mysql", { schema: "app" }), /FUNCTION `app`\.frazil_time\(/);
  assert.match(sqlFor("default", "trino", { schema: "hive.app" }), /FUNCTION hive\.app\.frazil_time\(/);
  for (const dialect of DIALECTS)
    for (const schema of ['a"b', "a`b", "a b", "", "1a", "a;b", 5, null, "a.b.c"])
      assert.throws(
        () => sqlFor("default", dialect, { schema }),
        (error) => error.code === "INVALID_OPTION" && error.field === "schema",
        `${dialect} ${schema}`,
      );
});

test("a wrong argument is refused with its name and the rule", () => {
  for (const [call, code, message] of [
    [() => sqlFor("default", "postgre"), "INVALID_ARGUMENT", /dialect must be the name of a dialect, got "postgre"/],
    [() => sqlFor("default", {}), "INVALID_ARGUMENT", /dialect must be the name of a dialect, got an object/],
    [() => sqlFor("discrod", "postgres"), "INVALID_LAYOUT", /got "discrod"/],
    [() => sqlFor("default", "postgres", { scheme: "a" }), "INVALID_OPTION", /unknown option "scheme"/],
    [() => sqlFor("default", "postgres", { down: 1 }), "INVALID_OPTION", /down must be true or false, got 1/],
    [() => sqlFor("default", "duckdb", orders()), "INVALID_OPTION", /partition must be absent for duckdb/],
    [
      () => sqlFor("default", "postgres", orders({ table: 'a"b' })),
      "INVALID_OPTION",
      /partition.table must be a letter/,
    ],
    [
      () => sqlFor("default", "postgres", orders({ by: "year" })),
      "INVALID_OPTION",
      /must be day, week or month, got "year"/,
    ],
    [
      () => sqlFor("default", "postgres", orders({ until: NaN })),
      "INVALID_OPTION",
      /partition.until must be a Date or Unix/,
    ],
    [() => sqlFor("default", "postgres", orders({ until: 0 })), "INVALID_OPTION", /partition.until must be after/],
    [() => sqlFor("default", "postgres", orders({ from: 1 })), "INVALID_OPTION", /partition.from must be in the times/],
    [
      () => sqlFor("default", "mysql", orders({ by: "day", until: Date.UTC(2090, 0) })),
      "INVALID_OPTION",
      /at most 8192/,
    ],
    [() => sqlFor("seata", "postgres", orders()), "INVALID_LAYOUT", /layout must begin with the time/],
  ])
    assert.throws(call, (error) => error.code === code && message.test(error.message), `${message}`);
});

test("IDs of 64 bits in columns with a sign are refused unless the time has it", () => {
  const layout = new Layout({
    epochMs: 0,
    unsigned: true,
    fields: [
      { kind: "node", bits: 10 },
      { kind: "time", bits: 42 },
      { kind: "sequence", bits: 12 },
    ],
  });
  for (const dialect of ["postgres", "sqlite", "bigquery", "trino"]) {
    assert.throws(() => sqlFor(layout, dialect), { code: "INVALID_LAYOUT", field: "layout" });
    // The last millisecond whose IDs are positive: 2^41 ms after the epoch of Discord.
    assert.match(sqlFor("discord", dialect), /negative from 2084-09-06T15:47:35.552Z on/);
  }
  assert.match(sqlFor(layout, "mariadb"), /IDs of 64 bits need a column of unsigned integers/);
});
