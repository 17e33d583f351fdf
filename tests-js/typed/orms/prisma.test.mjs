// Typed IDs with Prisma, whose `BigInt` is a `bigint` in the program and in nested results. What makes an ID is a query extension, which
// nested writes skip (prisma/prisma#22396), or Postgres.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PrismaPg } from "@prisma/adapter-pg";
import { getPrismaClient } from "@prisma/client/runtime/client";
import { Layout } from "frazil";
import { nextSql } from "frazil/sql";
import { ADA, FIRST, POSTS, PostId, postgresWithTables, USER, UserId } from "./model.mjs";

const SCHEMA = `
generator client {
  provider        = "prisma-client"
  previewFeatures = ["relationJoins"]
}
datasource db {
  provider = "postgresql"
}
model User {
  id    BigInt @id
  name  String
  posts Post[]
  @@map("users")
}
model Post {
  id       BigInt @id
  title    String
  authorId BigInt @map("author_id")
  author   User   @relation(fields: [authorId], references: [id])
  @@map("posts")
}
`;

const scalar = (name, type, dbName) => ({ name, kind: "scalar", type, dbName });
const relation = (name, type) => ({ name, kind: "object", type, relationName: "PostToUser" });
const compiler = "@prisma/client/runtime/query_compiler_small_bg.postgresql";

/** What `prisma generate` would write for a schema: that program, with what it needs, has 220 MB more. */
const clientOf = (inlineSchema) =>
  getPrismaClient({
    previewFeatures: ["relationJoins"],
    clientVersion: "7.10.0",
    engineVersion: "",
    activeProvider: "postgresql",
    inlineSchema,
    runtimeDataModel: {
      models: {
        User: {
          dbName: "users",
          fields: [scalar("id", "BigInt"), scalar("name", "String"), relation("posts", "Post")],
        },
        Post: {
          dbName: "posts",
          fields: [
            ...[scalar("id", "BigInt"), scalar("title", "String"), scalar("authorId", "BigInt", "author_id")],
            relation("author", "User"),
          ],
        },
      },
      enums: {},
      types: {},
    },
    // Empty: no query is taken from a cache.
    parameterizationSchema: { strings: [], graph: "AAAAAA" },
    compilerWasm: {
      getRuntime: () => import(`${compiler}.mjs`),
      async getQueryCompilerWasmModule() {
        const { wasm } = await import(`${compiler}.wasm-base64.mjs`);
        return new WebAssembly.Module(Buffer.from(wasm, "base64"));
      },
      importName: "./query_compiler_small_bg.js",
    },
  });

const TYPES = { User: UserId, Post: PostId };
/** The extension of the page. */
const withIds = (prisma) =>
  prisma.$extends({
    query: {
      $allModels: {
        create({ model, args, query }) {
          return query({ ...args, data: { id: TYPES[model].next(), ...args.data } });
        },
        createMany({ model, args, query }) {
          const data = [args.data].flat().map((row) => ({ id: TYPES[model].next(), ...row }));
          return query({ ...args, data });
        },
      },
    },
  });

const PrismaClient = clientOf(SCHEMA);

let postgres;
let plain;
let prisma;
let statements = [];
before(async () => {
  postgres = await postgresWithTables();
  const log = [{ emit: "event", level: "query" }];
  plain = new PrismaClient({ adapter: new PrismaPg({ connectionString: postgres.url }), log });
  plain.$on("query", ({ query }) => statements.push(query));
  prisma = withIds(plain);
  await plain.user.create({ data: { ...USER, posts: { create: POSTS.map(({ id, title }) => ({ id, title })) } } });
});
after(async () => {
  await plain?.$disconnect();
  await postgres?.close();
});

for (const relationLoadStrategy of ["query", "join"])
  test(`nested IDs are exact with the strategy ${relationLoadStrategy}`, async () => {
    const orderBy = { id: "asc" };
    const select = { where: { id: ADA }, include: { posts: { orderBy } }, relationLoadStrategy };
    statements = [];
    assert.deepEqual(await prisma.user.findMany(select), [{ ...USER, posts: POSTS }]);
    // With a join Postgres makes JSON, in which Prisma casts each ID to text.
    assert.equal(statements.length, relationLoadStrategy === "join" ? 1 : 2);
    assert.equal(/JSONB_BUILD_OBJECT\('id', "\w+"\."id"::text/.test(statements[0]), relationLoadStrategy === "join");
    const one = { where: { id: FIRST }, include: { author: true }, relationLoadStrategy };
    assert.deepEqual(await prisma.post.findUnique(one), { ...POSTS[0], author: USER });
  });

test("the extension makes the IDs of create and createMany", async () => {
  const { id } = await prisma.user.create({ data: { name: "Made" } });
  assert.match(UserId.format(id), /^usr_\w{11}$/);
  await prisma.post.createMany({
    data: [
      { title: "a", authorId: id },
      { title: "b", authorId: id },
    ],
  });
  const made = await prisma.post.findMany({ where: { authorId: id } });
  assert.equal(new Set(made.map((post) => PostId.format(post.id))).size, 2);
});

test("nested writes skip the extension: an ID is missing, and nothing is written", async () => {
  const data = { name: "Nested", posts: { create: [{ title: "c" }] } };
  await assert.rejects(prisma.user.create({ data }), /Argument `id` is missing/);
  assert.equal(await prisma.user.count({ where: { name: "Nested" } }), 0);
  const posts = { create: [{ id: PostId.next(), title: "c" }] };
  await prisma.user.create({ data: { ...data, posts } });
  assert.equal(await prisma.user.count({ where: { name: "Nested" } }), 1);
});

test("nested writes have IDs by Postgres, with frazil.next() as the default", async () => {
  const column = "ALTER COLUMN id SET DEFAULT frazil.next()";
  await postgres.pool.query(
    `${nextSql("default", { node: 1022 })}; ALTER TABLE users ${column}; ALTER TABLE posts ${column}`,
  );
  const WithDefault = clientOf(SCHEMA.replaceAll("BigInt @id", 'BigInt @id @default(dbgenerated("frazil.next()"))'));
  const client = new WithDefault({ adapter: new PrismaPg({ connectionString: postgres.url }) });
  const data = { name: "By Postgres", posts: { create: [{ title: "d" }, { title: "e" }] } };
  const { id, posts } = await client.user.create({ data, include: { posts: true } });
  const ids = [id, ...posts.map((post) => post.id)];
  assert.equal(new Set(ids).size, 3);
  assert.ok(ids.every((each) => Layout.named("default").decode(each).node === 1022));
  await client.$disconnect();
});
