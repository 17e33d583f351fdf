// `frazil.next()` on PGlite, which is the newest Postgres here, and has one session.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { PGlite } from "@electric-sql/pglite";
import { Layout } from "frazil";
import { nextSql } from "frazil/sql";

const TABLE = "CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY DEFAULT frazil.next(), name text)";
const insert = (db) =>
  db.query("INSERT INTO orders (name) SELECT 'x' FROM generate_series(1, 10000) RETURNING id::text");

test("the default of a column on PGlite, before and after it was opened again", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "frazil-pglite-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let last = 0n;
  for (let openings = 0; openings < 3; openings++) {
    const db = await PGlite.create(folder);
    await db.exec(nextSql("default", { node: 5 }));
    await db.exec(TABLE);
    const { rows } = await insert(db);
    const ids = rows.map(({ id }) => BigInt(id));
    assert.ok(ids.every((id) => Layout.named("default").decode(id).node === 5));
    assert.ok(ids[0] > last, "it begins beyond what it issued");
    last = ids.at(-1);
    await db.close();
  }
});
