// What the tests of ORMs share: users and posts with typed IDs, as tables and rows.
import { Snowflake } from "frazil";
import { defineId } from "frazil/typed";
import { PostgresServer, poolTo } from "../../stores/postgres/server.mjs";

const ids = new Snowflake({ node: 7 });
export const UserId = defineId("usr", { ids });
export const PostId = defineId("post", { ids });

/** A `number` rounds each of them to another ID. */
export const ADA = 1489237498237411329n;
export const FIRST = 1489237498237411331n;
export const SECOND = 1489237498237411333n;

/** The same in each database. */
export const TABLES = [
  "CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR(40) NOT NULL)",
  "CREATE TABLE posts (id BIGINT PRIMARY KEY, author_id BIGINT NOT NULL REFERENCES users (id), title VARCHAR(40) NOT NULL)",
];

export const USER = { id: ADA, name: "Ada" };
export const POSTS = [
  { id: FIRST, authorId: ADA, title: "Notes" },
  { id: SECOND, authorId: ADA, title: "More notes" },
];

/** A Postgres with the tables. `close` ends it. */
export async function postgresWithTables() {
  const server = await PostgresServer.start();
  const pool = poolTo(server.url);
  for (const sql of TABLES) await pool.query(sql);
  return { url: server.url, port: server.port, pool, close: () => pool.end().then(() => server.stop()) };
}
