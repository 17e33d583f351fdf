// Typed IDs as columns of TypeORM: `{ to, from }` of a typed ID is a transformer. It loads relations by joins, so nested IDs are exact.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DataSource, EntitySchema, In } from "typeorm";
import { ADA, FIRST, POSTS, PostId, postgresWithTables, SECOND, USER, UserId } from "./model.mjs";

const idColumn = (transformer, more) => ({ type: "bigint", transformer, ...more });
const User = new EntitySchema({
  name: "User",
  tableName: "users",
  columns: { id: idColumn(UserId, { primary: true }), name: { type: String } },
  relations: { posts: { type: "one-to-many", target: "Post", inverseSide: "author" } },
});
const Post = new EntitySchema({
  name: "Post",
  tableName: "posts",
  columns: {
    id: idColumn(PostId, { primary: true }),
    authorId: idColumn(UserId, { name: "author_id" }),
    title: { type: String },
  },
  relations: { author: { type: "many-to-one", target: "User", joinColumn: { name: "author_id" } } },
});

let postgres;
let source;
before(async () => {
  postgres = await postgresWithTables();
  source = await new DataSource({ type: "postgres", url: postgres.url, entities: [User, Post] }).initialize();
  await source.getRepository(User).save({ ...USER });
  await source.getRepository(Post).save(POSTS.map((post) => ({ ...post })));
});
after(async () => {
  await source?.destroy();
  await postgres?.close();
});

test("rows and conditions", async () => {
  const posts = source.getRepository(Post);
  assert.deepEqual(await posts.findOneBy({ id: FIRST }), POSTS[0]);
  assert.deepEqual(await posts.find({ where: { id: In([FIRST, SECOND]) }, order: { id: "ASC" } }), POSTS);
  assert.deepEqual(await posts.findBy({ authorId: ADA, title: POSTS[1].title }), [POSTS[1]]);
  await posts.save({ ...POSTS[0], title: "Changed" });
  await posts.save({ ...POSTS[0] });
  assert.deepEqual(await posts.findBy({ title: "Changed" }), []);
  assert.equal(await posts.countBy({ authorId: ADA }), 2);
});

for (const relationLoadStrategy of ["join", "query"])
  test(`nested IDs are exact with the strategy ${relationLoadStrategy}`, async () => {
    const repository = source.getRepository(User);
    const order = { posts: { id: "ASC" } };
    const users = await repository.find({ relations: { posts: true }, order, relationLoadStrategy });
    assert.deepEqual(users, [{ ...USER, posts: POSTS }]);
  });
