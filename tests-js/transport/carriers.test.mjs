// Each claim of docs/guides/json.md about a carrier of Cloudflare, in workerd: the table of carriers, and faults in SQL. Runs
// under Node 24, because miniflare needs 22.12 or newer.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Layout } from "frazil";
import { readIds, toSql } from "frazil/transport";
import { startWorker, textOf } from "./workerd.mjs";

const ID = 1489237498237411329n;
/** What a number makes of it: 1489237498237411328. */
const ROUNDED = Number(ID);
const NO_JSON = { throws: "TypeError: Do not know how to serialize a BigInt" };
const program = readFileSync(new URL("./carriers-worker.mjs", import.meta.url), "utf8");
const page = readFileSync(new URL("../../docs/guides/json.md", import.meta.url), "utf8");

/** The first cells of the table under a heading. */
function rowsUnder(heading) {
  const [, section] = page.split(`\n## ${heading}\n`);
  return [...section.split("\n## ")[0].matchAll(/^\| (.+?) \|/gm)].map(([, cell]) => cell).slice(1);
}

const passes = { is: `${ID}n` };
const isText = { is: `${ID}` };

/** By the first cell of its row in the table: what shows that the row is true. Those of Postgres are in postgres.test.mjs. */
const CARRIERS = {
  "`JSON.stringify`, `JSON.parse`": async ({ ask }) => {
    assert.deepEqual(await ask("stringify"), NO_JSON);
    assert.deepEqual(await ask("parse"), { is: ROUNDED });
    const { is } = await ask("stringify with jsonReplacer");
    assert.deepEqual(readIds(JSON.parse(is), "id"), { id: ID });
  },
  "`Response.json`": async ({ ask }) => assert.deepEqual(await ask("Response.json"), NO_JSON),
  "`structuredClone`, `postMessage`": async ({ ask, date }) => {
    assert.deepEqual(await ask("structuredClone"), passes);
    const missing = { throws: "ReferenceError: MessageChannel is not defined" };
    assert.deepEqual(await ask("postMessage"), date === "2024-09-01" ? missing : passes);
  },
  "RPC of a service or of a Durable Object": async ({ ask }) => {
    assert.deepEqual(await ask("RPC of a service"), passes);
    assert.deepEqual(await ask("RPC of an object"), passes);
  },
  "Durable Object storage, `put` and `kv.put`": async ({ ask }) => {
    assert.deepEqual(await ask("storage.put"), passes);
    assert.deepEqual(await ask("storage.kv"), passes);
  },
  "Durable Object SQL": async ({ query }) => {
    const bound = await query("object", "SELECT ? AS id", ID);
    assert.deepEqual(bound, { throws: "TypeError: Cannot convert a BigInt value to a number" });
  },
  D1: async ({ query }) => {
    const { throws } = await query("d1", "SELECT ? AS id", ID);
    assert.equal(throws, `Error: D1_TYPE_ERROR: Type 'bigint' not supported for value '${ID}'`);
  },
  "KV, key and value": async ({ ask }) => {
    assert.deepEqual(await ask("a value in KV"), isText);
    assert.deepEqual(await ask("a key in KV"), { is: "found" });
    const [decimal, inBase32] = [
      ["10", `${ID}`, "9"],
      ["9", "10", `${ID}`],
    ];
    assert.deepEqual(await ask("the order of keys in KV"), { is: [decimal, inBase32] });
  },
  "KV, metadata": async ({ ask }) => {
    assert.deepEqual(await ask("metadata in KV"), NO_JSON);
    assert.deepEqual(await ask("metadata in KV as text"), isText);
    assert.deepEqual(await ask("metadata in KV as a number"), { is: ROUNDED });
  },
  "R2, key and custom metadata": async ({ ask }) => {
    assert.deepEqual(await ask("a key in R2"), { is: "found" });
    assert.deepEqual(await ask("metadata in R2"), isText);
  },
  "queue, `json` (the default)": async ({ ask }) => {
    assert.deepEqual(await ask("send by default"), NO_JSON);
    assert.deepEqual(await ask("send as json"), NO_JSON);
  },
  "queue, `v8`": async ({ ask }) =>
    assert.deepEqual(await ask("what the queue delivers"), { is: [`${ID}`, `${ID}`, `${ID}n`, `${ID}n`] }),
  "queue, `text` and `bytes`": async ({ ask }) => {
    assert.match((await ask("send as text")).throws, /^TypeError: .*"text" requires a value of type string/);
    assert.match((await ask("send as bytes")).throws, /^TypeError: .*"bytes" requires a value of type ArrayBufferView/);
  },
  "URL, header, cookie, WebSocket": async ({ ask }) => {
    assert.deepEqual(await ask("a query"), { is: `id=${ID}` });
    assert.deepEqual(await ask("a header"), isText);
    assert.deepEqual(await ask("a cookie"), { is: `id=${ID}` });
    assert.deepEqual(await ask("WebSocket"), isText);
    assert.deepEqual(await ask("a body"), isText);
  },
};

test("every row of the table of carriers has a test", () => {
  const rows = rowsUnder("Each carrier").filter((row) => !row.includes("Postgres"));
  assert.deepEqual(rows, Object.keys(CARRIERS));
});

const layout64 = new Layout({
  epochMs: 0,
  unsigned: true,
  fields: [
    { kind: "time", bits: 42 },
    { kind: "sequence", bits: 22 },
  ],
});
const TEXT = "CAST(id AS TEXT) AS id";

/**
 * By the first cell of its row in the table of SQL: what goes wrong, and what is right. `sql(text, …values)` resolves to the rows, or
 * throws. The table has the IDs 9, 10, and `ID`.
 */
const STATEMENTS = {
  "bind `Number(id)`": async ({ sql }) => {
    await sql("INSERT INTO links (id) VALUES (?)", Number(ID));
    const stored = await sql(`SELECT ${TEXT} FROM links WHERE links.id > 10 ORDER BY links.id`);
    assert.deepEqual(stored, [{ id: `${BigInt(ROUNDED)}` }, { id: `${ID}` }]);
    await sql("DELETE FROM links WHERE id = ?", Number(ID));
    assert.deepEqual(await sql("SELECT COUNT(*) AS n FROM links WHERE id = ?", Number(ID)), [{ n: 0 }]);
    assert.deepEqual(await sql("SELECT COUNT(*) AS n FROM links WHERE id = ?", toSql(ID)), [{ n: 1 }]);
  },
  "`SELECT id`": async ({ sql }) => {
    const rounded = await sql("SELECT id FROM links WHERE id = ?", toSql(ID));
    assert.deepEqual(rounded, [{ id: ROUNDED }]);
    assert.throws(() => readIds(rounded, "id"), { code: "INVALID_ID", field: "id", value: ROUNDED });
    const rows = await sql(`SELECT ${TEXT}, typeof(id) AS type FROM links WHERE id = ?`, toSql(ID));
    assert.deepEqual(readIds(rows, "id"), [{ id: ID, type: "integer" }]);
  },
  "`SELECT CAST(id AS TEXT) AS id FROM links ORDER BY id`": async ({ sql }) => {
    const order = async (by) => (await sql(`SELECT ${TEXT} FROM links ORDER BY ${by}`)).map(({ id }) => id);
    assert.deepEqual(await order("id"), ["10", `${ID}`, "9"]);
    assert.deepEqual(await order("links.id"), ["9", "10", `${ID}`]);
  },
  "`SELECT MAX(id)`": async ({ sql }) => {
    const [row] = await sql("SELECT MAX(id) AS number, CAST(MAX(id) AS TEXT) AS text FROM links");
    assert.deepEqual(row, { number: ROUNDED, text: `${ID}` });
  },
  "`meta.last_row_id` of D1": async ({ sql, engine }) => {
    const insert = "INSERT INTO links (id) VALUES (?)";
    if (engine === "d1") {
      assert.deepEqual(await sql(insert, toSql(ID + 1n)), [{ last_row_id: ROUNDED }]);
    }
    assert.deepEqual(await sql(`${insert} RETURNING ${TEXT}`, toSql(ID + 2n)), [{ id: `${ID + 2n}` }]);
    await sql("DELETE FROM links WHERE id > ?", toSql(ID));
  },
  "`json_group_array(id)`": async ({ sql }) => {
    const [{ numbers, texts }] = await sql(
      "SELECT json_group_array(id) AS numbers, json_group_array(CAST(id AS TEXT)) AS texts FROM links WHERE id > 10",
    );
    assert.deepEqual(JSON.parse(numbers), [ROUNDED]);
    assert.deepEqual(JSON.parse(texts), [`${ID}`]);
  },
  "`WHERE id + 0 > ?`, `HAVING MAX(id) > ?` with text": async ({ sql }) => {
    const rows = async (condition) => (await sql(`SELECT id FROM links ${condition}`, toSql(5n))).length;
    assert.equal(await rows("WHERE id + 0 > ?"), 0);
    assert.equal(await rows("WHERE id + 0 > CAST(? AS INTEGER)"), 3);
    assert.equal(await rows("GROUP BY 1 HAVING MAX(id) > ?"), 0);
    assert.equal(await rows("GROUP BY 1 HAVING MAX(id) > CAST(? AS INTEGER)"), 3);
  },
  "text of 2^63 or more, which `toSql` refuses": async ({ sql }) => {
    const tooLarge = `${2n ** 63n}`;
    assert.throws(() => toSql(tooLarge), { code: "INVALID_ID" });
    const [row] = await sql(
      "INSERT INTO links (id, parent) VALUES (1, ?) RETURNING typeof(parent) AS type, CAST(parent AS TEXT) AS text",
      tooLarge,
    );
    assert.equal(row.type, "real");
    assert.match(row.text, /^9\.22337203685477\d+e\+18$/);
    assert.throws(() => readIds(row, "text"), { code: "INVALID_ID", field: "text" });
    await sql("DELETE FROM links WHERE id = 1");
    for (const table of ["links", "strict"]) {
      await assert.rejects(
        sql(`INSERT INTO ${table} (id) VALUES (?)`, tooLarge),
        /datatype mismatch|cannot store REAL value in INTEGER column/,
      );
    }
    const largest = `${2n ** 63n - 1n}`;
    assert.deepEqual(await sql(`INSERT INTO strict (id) VALUES (?) RETURNING ${TEXT}`, toSql(largest)), [
      { id: largest },
    ]);
  },
};

test("every row of the table of SQL has a test", () =>
  assert.deepEqual(rowsUnder("What goes wrong in SQLite's SQL"), Object.keys(STATEMENTS)));

/** A value with its type, since JSON has no `bigint`. */
const typed = (value) => ({ [typeof value === "string" ? "text" : typeof value]: `${value}` });

for (const date of ["2024-09-01", "2026-11-01"]) {
  describe(`workerd, compatibility date ${date}`, () => {
    let worker;
    const ask = async (name, body) => JSON.parse(await textOf(worker, `/${encodeURIComponent(name)}`, body));
    const query = (engine, text, ...values) => ask(engine, { text, values: values.map(typed) });

    before(async () => {
      worker = await startWorker(program, { date, classes: ["Obj"], services: ["Service"] });
    });
    after(() => worker?.dispose());

    for (const [row, check] of Object.entries(CARRIERS)) test(row, () => check({ ask, query, date }));

    for (const engine of ["d1", "object"]) {
      describe(engine === "d1" ? "D1" : "Durable Object SQL", () => {
        const sql = async (text, ...values) => {
          const { is, throws } = await query(engine, text, ...values);
          if (throws !== undefined) throw new Error(throws);
          return is;
        };

        before(async () => {
          await sql("CREATE TABLE links (id INTEGER PRIMARY KEY, parent INTEGER)");
          await sql("CREATE TABLE strict (id INTEGER NOT NULL) STRICT");
          for (const id of [9n, 10n, ID]) await sql("INSERT INTO links (id) VALUES (?)", toSql(id));
        });

        for (const [row, check] of Object.entries(STATEMENTS)) test(row, () => check({ sql, engine }));

        test("a bare column is compared as a number, and a list of IDs is one text", async () => {
          const count = async (condition, ...values) =>
            (await sql(`SELECT COUNT(*) AS n FROM links WHERE ${condition}`, ...values))[0].n;
          assert.equal(await count("id < ?", "11"), 2);
          assert.equal(await count("id BETWEEN ? AND ?", "10", toSql(ID)), 2);
          const list = JSON.stringify([10n, ID, ID + 1n].map(toSql));
          assert.equal(await count("id IN (SELECT value FROM json_each(?))", list), 2);
          const plan = await sql("EXPLAIN QUERY PLAN SELECT * FROM links WHERE id BETWEEN ? AND ?", "10", "11");
          assert.match(plan[0].detail, /USING INTEGER PRIMARY KEY/);
        });

        test("an ID of 64 bits, as layout.toSigned makes it", async () => {
          const id = 2n ** 64n - 2n;
          const statement = `INSERT INTO strict (id) VALUES (?) RETURNING ${TEXT}`;
          const [row] = await sql(statement, String(layout64.toSigned(id)));
          assert.equal(row.id, "-2");
          assert.equal(layout64.fromSigned(row.id), id);
        });
      });
    }
  });
}
