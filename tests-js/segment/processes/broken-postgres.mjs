// A store of segments in Postgres with a defect, which the test of processes must find.
import assert from "node:assert/strict";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";

/** Takes the comparison of the record out of the statement. Its values stay, since a driver counts them. */
export function withoutComparison(text) {
  const broken = text
    .replace("s.next_number = $5::bigint", "$5::bigint IS NOT NULL")
    .replace("s.recent = $7::text", "$7::text IS NOT NULL");
  assert.equal(broken.match(/IS NOT NULL/g).length, text.match(/IS NOT NULL/g).length + 2, broken);
  return broken;
}

const DEFECTS = {
  /** Each record forgets its last allocations, so that a retry gets another range. */
  "forgets attempts": (text, values) => [text, values.with(2, "[]")],
  /** Each record is replaced as it was decided, whatever it is meanwhile. */
  "replaces blindly": (text, values) => [withoutComparison(text), values],
};

export async function connectStore(port, defect) {
  const connectionString = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const pool = new pg.Pool({ connectionString, max: 2, connectionTimeoutMillis: 1000 });
  pool.on("error", () => {});
  const query = (text, values) =>
    pool.query(...(text.includes("UPDATE frazil_segments") ? DEFECTS[defect](text, values) : [text, values]));
  return { store: new PostgresStore({ query }), close: () => pool.end() };
}
