// Typed IDs with Kysely, which binds and returns what the driver does: `toDriver` and `fromDriver` are called by hand.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Kysely, PostgresDialect } from "kysely";
import { jsonArrayFrom } from "kysely/helpers/postgres";
import { ADA, FIRST, POSTS, PostId, postgresWithTables, USER, UserId } from "./model.mjs";

let postgres;
let db;
before(async () => {
  postgres = await postgresWithTables();
  db = new Kysely({ dialect: new PostgresDialect({ pool: postgres.pool }) });
  await db.insertInto("users").values(USER).execute();
  const rows = POSTS.map(({ id, authorId, title }) => ({ id: PostId.toDriver(id), author_id: authorId, title }));
  await db.insertInto("posts").values(rows).execute();
});
after(() => postgres?.close());

test("rows and conditions", async () => {
  const select = db.selectFrom("posts").innerJoin("users", "users.id", "author_id").select(["posts.id", "author_id"]);
  const { id, author_id } = await select.where("posts.id", "=", FIRST).executeTakeFirstOrThrow();
  assert.deepEqual([PostId.fromDriver(id), UserId.fromDriver(author_id)], [FIRST, ADA]);
});

const withPosts = (idOf) =>
  db
    .selectFrom("users")
    .select((eb) => [
      "id",
      jsonArrayFrom(eb.selectFrom("posts").select(idOf).whereRef("author_id", "=", "users.id").orderBy("posts.id")).as(
        "posts",
      ),
    ])
    .executeTakeFirstOrThrow();

test("a nested ID is refused, since jsonArrayFrom rounds it", async () => {
  const { id, posts } = await withPosts("id");
  assert.equal(UserId.fromDriver(id), ADA);
  assert.deepEqual(posts, [{ id: Number(FIRST) }, { id: Number(POSTS[1].id) }]);
  for (const post of posts) assert.throws(() => PostId.fromDriver(post.id), { code: "INVALID_ID" });
});

test("a nested ID that is cast to text is exact", async () => {
  const { posts } = await withPosts(({ cast }) => cast("id", "text").as("id"));
  assert.deepEqual(
    posts.map(({ id }) => PostId.fromDriver(id)),
    POSTS.map(({ id }) => id),
  );
});
