// Typed IDs as columns of Drizzle. In its relational queries the database makes JSON, whose large numbers `JSON.parse` rounds.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { PGlite } from "@electric-sql/pglite";
import { eq, inArray, relations } from "drizzle-orm";
import * as mysqlCore from "drizzle-orm/mysql-core";
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle as drizzlePostgres } from "drizzle-orm/node-postgres";
import * as pgCore from "drizzle-orm/pg-core";
import { drizzle as drizzlePglite } from "drizzle-orm/pglite";
import * as sqliteCore from "drizzle-orm/sqlite-core";
import { drizzle as drizzleSqlite } from "drizzle-orm/sqlite-proxy";
import mysql from "mysql2/promise";
import { MySqlServer } from "../../stores/mysql/server.mjs";
import { PostgresServer, poolTo } from "../../stores/postgres/server.mjs";
import { ADA, FIRST, POSTS, PostId, SECOND, TABLES, USER, UserId } from "./model.mjs";

function schemaOf({ customType, text }, makeTable) {
  const columnOf = ({ toDriver, fromDriver }) => customType({ dataType: () => "bigint", toDriver, fromDriver });
  const [userId, postId] = [UserId, PostId].map(columnOf);
  const users = makeTable("users", { id: userId("id").primaryKey(), name: text("name").notNull() });
  const posts = makeTable("posts", {
    id: postId("id").primaryKey().$defaultFn(PostId.next),
    authorId: userId("author_id").notNull(),
    title: text("title").notNull(),
  });
  const ofUsers = relations(users, ({ many }) => ({ posts: many(posts) }));
  const ofPosts = relations(posts, ({ one }) => ({
    author: one(users, { fields: [posts.authorId], references: [users.id] }),
  }));
  return { users, posts, ofUsers, ofPosts };
}

/** `text`: the type that an ID is cast to. `rounding`: the same database through a driver that rounds. */
const DATABASES = {
  async PGlite() {
    const client = new PGlite();
    const schema = schemaOf(pgCore, pgCore.pgTable);
    return {
      db: drizzlePglite(client, { schema }),
      schema,
      run: (sql) => client.exec(sql),
      close: () => client.close(),
      text: "text",
    };
  },
  async Postgres() {
    const server = await PostgresServer.start();
    const pool = poolTo(server.url);
    const schema = schemaOf(pgCore, pgCore.pgTable);
    const close = () => pool.end().then(() => server.stop());
    return { db: drizzlePostgres(pool, { schema }), schema, run: (sql) => pool.query(sql), close, text: "text" };
  },
  async MariaDB() {
    const server = await MySqlServer.start();
    const schema = schemaOf(mysqlCore, mysqlCore.mysqlTable);
    // MariaDB has no lateral joins.
    const on = (pool) => drizzleMysql(pool, { schema, mode: "planetscale" });
    const rounding = mysql.createPool(server.address({ database: "test" }));
    const pool = mysql.createPool(
      server.address({ database: "test", supportBigNumbers: true, bigNumberStrings: true }),
    );
    const close = () => Promise.all([pool.end(), rounding.end()]).then(() => server.stop());
    return { db: on(pool), rounding: on(rounding), schema, run: (sql) => pool.query(sql), close, text: "char" };
  },
  async SQLite() {
    const database = new DatabaseSync(":memory:");
    const schema = schemaOf(sqliteCore, sqliteCore.sqliteTable);
    const db = drizzleSqlite(
      async (sql, values, method) => {
        const statement = database.prepare(sql);
        statement.setReadBigInts(true);
        statement.setReturnArrays(true);
        return { rows: method === "get" ? statement.get(...values) : statement.all(...values) };
      },
      { schema },
    );
    return { db, schema, run: (sql) => database.exec(sql), close: () => database.close(), text: "text" };
  },
};

const refuses = (query) => assert.rejects(query.execute(), { code: "INVALID_ID" });

for (const [name, open] of Object.entries(DATABASES))
  describe(name, () => {
    let on;
    let users;
    let posts;
    before(async () => {
      on = await open();
      ({ users, posts } = on.schema);
      for (const sql of TABLES) await on.run(sql);
      await on.db.insert(users).values(USER);
      await on.db.insert(posts).values(POSTS);
    });
    after(() => on?.close());

    test("rows, joins and conditions", async () => {
      const { db } = on;
      assert.deepEqual(await db.select().from(users).where(eq(users.id, ADA)), [USER]);
      const both = db
        .select()
        .from(posts)
        .where(inArray(posts.id, [FIRST, SECOND]));
      assert.deepEqual(await both.orderBy(posts.id), POSTS);
      const joined = db.select().from(posts).innerJoin(users, eq(users.id, posts.authorId));
      assert.deepEqual(await joined.where(eq(posts.id, FIRST)), [{ users: USER, posts: POSTS[0] }]);
      assert.deepEqual(await db.query.users.findMany(), [USER]);
    });

    test("the default is a new ID", async () => {
      const [title, authorId] = ["Made", ADA];
      await on.db.insert(posts).values({ title, authorId });
      const [{ id }] = await on.db.select().from(posts).where(eq(posts.title, title));
      assert.match(PostId.format(id), /^post_\w{11}$/);
      await on.db.delete(posts).where(eq(posts.id, id));
    });

    if (name === "MariaDB") {
      test("with big numbers as text, mysql2 reads JSON without rounding too", async () => {
        assert.deepEqual(await on.db.query.users.findMany({ with: { posts: true } }), [{ ...USER, posts: POSTS }]);
      });

      test("with the defaults of mysql2 each ID is refused", async () => {
        await refuses(on.rounding.select().from(users));
        await refuses(on.rounding.query.users.findMany({ columns: { name: true }, with: { posts: true } }));
      });
    } else
      test("a nested ID is refused", async () => {
        await refuses(on.db.query.users.findMany({ with: { posts: true } }));
        await refuses(on.db.query.posts.findMany({ with: { author: true } }));
      });

    test("a nested ID that is cast to text is exact", async () => {
      const asText = (column, sql, name) => sql`cast(${column} as ${sql.raw(on.text)})`.as(name);
      const extras = ({ id, authorId }, { sql }) => ({
        id: asText(id, sql, "id"),
        authorId: asText(authorId, sql, "author_id"),
      });
      const [found, ...others] = await on.db.query.users.findMany({
        with: { posts: { columns: { title: true }, extras } },
      });
      assert.deepEqual(others, []);
      assert.deepEqual(found.posts[0], { id: `${FIRST}`, authorId: `${ADA}`, title: POSTS[0].title });
      const read = found.posts.map((post) => ({
        ...post,
        id: PostId.fromDriver(post.id),
        authorId: UserId.fromDriver(post.authorId),
      }));
      assert.deepEqual({ ...found, posts: read }, { ...USER, posts: POSTS });
    });
  });

test("a parser of JSON that keeps all digits makes nested IDs exact", async () => {
  // Since Node 21 a reviver is given the source.
  const exactJson = (text) =>
    JSON.parse(text, (_, value, { source }) =>
      typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value,
    );
  const schema = schemaOf(pgCore, pgCore.pgTable);
  const client = new PGlite({ parsers: { 114: exactJson } });
  for (const sql of TABLES) await client.exec(sql);
  const db = drizzlePglite(client, { schema });
  await db.insert(schema.users).values(USER);
  await db.insert(schema.posts).values(POSTS);
  assert.deepEqual(await db.query.users.findMany({ with: { posts: true } }), [{ ...USER, posts: POSTS }]);
  await client.close();
});
