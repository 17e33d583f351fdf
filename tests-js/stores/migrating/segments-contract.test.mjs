// The contract of segments on the tables of Leaf, Tinyid and CosId, in a real MariaDB. Their format has no room for the abilities that they
// lack.
import { after } from "node:test";
import { CosIdSegments, LeafSegments, TinyidSegments } from "frazil/stores/mysql";
import { segmentContract } from "frazil/testing/segment-contract";
import mysql from "mysql2/promise";
import { MySqlServer } from "../mysql/server.mjs";
import { COSID } from "./old-cosid-segments.mjs";
import { LEAF_ALLOC } from "./old-leaf-segments.mjs";
import { TINY_ID_INFO } from "./old-tinyid.mjs";

let starting;
/** The server of this file. */
const running = () => {
  starting ??= MySqlServer.start();
  return starting;
};
after(async () => (await starting)?.stop());

/**
 * Each table, how a row is made, and the counter of a first number: of two of them it is the last number that was taken. The step of a
 * row is kept to; a table of CosId has none.
 */
const TABLES = [
  [LeafSegments, LEAF_ALLOC, "leaf_alloc (biz_tag, max_id, step)", 2000, 0n, ["limits"]],
  [TinyidSegments, TINY_ID_INFO, "tiny_id_info (biz_type, max_id, step)", 1000, 1n, ["limits"]],
  [CosIdSegments, COSID, "cosid (name, last_max_id, last_fetch_time)", 0, 1n, []],
];

for (const [Segments, table, columns, more, before, others] of TABLES) {
  // docs/internals/claims.md: 28
  segmentContract({
    name: Segments.name,
    async open() {
      const pool = mysql.createPool((await running()).address({ database: "test" }));
      await pool.query(table);
      const init = async (tag, first) => {
        const values = [tag, `${first - before}`, more];
        const [{ affectedRows }] = await pool.query(`INSERT IGNORE INTO ${columns} VALUES (?, ?, ?)`, values);
        return affectedRows > 0;
      };
      const lacks = ["retries", "skips", "tags", ...others];
      return { store: new Segments(pool), lacks, init, close: () => pool.end() };
    },
  });
}
