// Typed IDs as columns of MikroORM: `{ to, from }` of a typed ID makes a `Type`. It joins or selects again, so nested IDs are exact.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { EntitySchema, MikroORM, Type } from "@mikro-orm/postgresql";
import { ADA, FIRST, POSTS, PostId, postgresWithTables, SECOND, USER, UserId } from "./model.mjs";

/** A type of MikroORM, of a typed ID. */
const typeOf = ({ to, from }) =>
  class extends Type {
    convertToDatabaseValue = to;
    convertToJSValue = from;
    getColumnType = () => "bigint";
  };
const User = new EntitySchema({
  name: "User",
  tableName: "users",
  properties: {
    id: { type: typeOf(UserId), primary: true },
    name: { type: "string" },
    posts: { kind: "1:m", entity: () => Post, mappedBy: "author" },
  },
});
const Post = new EntitySchema({
  name: "Post",
  tableName: "posts",
  properties: {
    id: { type: typeOf(PostId), primary: true, onCreate: PostId.next },
    author: { kind: "m:1", entity: () => User, fieldName: "author_id" },
    title: { type: "string" },
  },
});

let postgres;
let orm;
before(async () => {
  postgres = await postgresWithTables();
  orm = await MikroORM.init({ clientUrl: postgres.url, entities: [User, Post] });
  const em = orm.em.fork();
  const author = em.create("User", { ...USER });
  for (const { id, title } of POSTS) em.create("Post", { id, title, author });
  await em.flush();
});
after(async () => {
  await orm?.close();
  await postgres?.close();
});

test("rows and conditions", async () => {
  const post = await orm.em.fork().findOneOrFail("Post", FIRST);
  assert.equal(post.id, FIRST);
  assert.equal(post.author.id, ADA);
  assert.equal(await orm.em.fork().count("Post", { author: ADA, id: { $in: [FIRST, SECOND] } }), 2);
});

test("the default is a new ID", async () => {
  const em = orm.em.fork();
  const post = em.create("Post", { title: "Made", author: em.getReference("User", ADA) });
  await em.flush();
  assert.equal((await orm.em.fork().findOneOrFail("Post", { title: "Made" })).id, post.id);
  assert.match(PostId.format(post.id), /^post_\w{11}$/);
  await em.remove(post).flush();
});

for (const strategy of ["joined", "select-in", "balanced"])
  test(`nested IDs are exact with the strategy ${strategy}`, async () => {
    const [user] = await orm.em.fork().find("User", {}, { populate: ["posts"], strategy });
    assert.equal(user.id, ADA);
    assert.deepEqual(
      user.posts.getItems().map(({ id }) => id),
      POSTS.map(({ id }) => id),
    );
  });
