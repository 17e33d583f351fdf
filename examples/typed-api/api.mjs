// The API. A request has the texts of IDs, the program bigints, the database numbers.
import { sValidator } from "@hono/standard-validator";
import { desc, eq, lt } from "drizzle-orm";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { db } from "./database.mjs";
import { AnyId, ids, OrgId, PostId, UserId } from "./ids.mjs";
import { orgs, posts, users } from "./tables.mjs";

const MAX_BODY = 8192; // bytes
const { layout } = ids;

/** An ID of a type in a request: zod gives the program the bigint. */
const idOf = (type) => z.codec(z.string(), z.bigint(), type);
const name = z.string().trim().min(1).max(80);

/** Checks a part of a request: its JSON, or its query. */
const checked = (part, fields) =>
  sValidator(part, z.object(fields), ({ success, error }, context) => {
    if (success) return;
    const [{ path, message }] = error;
    return context.json({ field: path.join("."), error: message }, 400);
  });

/** Rows as answers: each ID as text. The time of a post is that of its ID. */
const shown = {
  org: ({ id, name }) => ({ id: OrgId.format(id), name }),
  usr: ({ id, name, orgId }) => ({ id: UserId.format(id), name, org: OrgId.format(orgId) }),
  post: ({ id, text, authorId }) => ({
    id: PostId.format(id),
    createdAt: new Date(layout.timestampOf(id)).toISOString(),
    text,
    author: UserId.format(authorId),
  }),
};
const TABLES = { org: orgs, usr: users, post: posts };

async function rowOf(table, id) {
  const [row] = await db.select().from(table).where(eq(table.id, id));
  return row;
}

async function insert(prefix, values) {
  const [row] = await db.insert(TABLES[prefix]).values(values).returning();
  return shown[prefix](row);
}

export const api = new Hono().basePath("/api");
api.use(bodyLimit({ maxSize: MAX_BODY }));
api.onError((error, context) => {
  if (error instanceof HTTPException) return context.json({ error: error.message }, error.status);
  console.error(error);
  return context.json({ error: "Something went wrong." }, 500);
});
api.notFound((context) => context.json({ error: "There is nothing with this address." }, 404));

api.post("/orgs", checked("json", { name }), async (context) =>
  context.json(await insert("org", context.req.valid("json")), 201),
);

api.post("/users", checked("json", { name, org: idOf(OrgId) }), async (context) => {
  const { name, org } = context.req.valid("json");
  if (!(await rowOf(orgs, org))) return context.json({ field: "org", error: "There is no such organisation." }, 404);
  return context.json(await insert("usr", { name, orgId: org }), 201);
});

const text = z.string().trim().min(1).max(2000);
api.post("/posts", checked("json", { text, author: idOf(UserId) }), async (context) => {
  const { text, author } = context.req.valid("json");
  if (!(await rowOf(users, author))) return context.json({ field: "author", error: "There is no such user." }, 404);
  return context.json(await insert("post", { text, authorId: author }), 201);
});

const page = {
  /** The last post of the page before. */
  after: idOf(PostId).optional(),
  /** Posts before this time. */
  until: z.coerce.date().min(new Date(layout.epochMs)).max(layout.plan().lastDate).optional(),
  limit: z.coerce.number().int().min(1).max(50).default(10),
};
/** The newest posts first, with their authors. Nested IDs come from joins: a relational query of Drizzle would round them. */
api.get("/posts", checked("query", page), async (context) => {
  const { after, until, limit } = context.req.valid("query");
  const end = after ?? (until && layout.minIdAt(until));
  const rows = await db
    .select()
    .from(posts)
    .innerJoin(users, eq(users.id, posts.authorId))
    .innerJoin(orgs, eq(orgs.id, users.orgId))
    .where(end === undefined ? undefined : lt(posts.id, end))
    .orderBy(desc(posts.id))
    .limit(limit + 1);
  const all = rows.slice(0, limit).map((row) => ({
    ...shown.post(row.posts),
    author: { ...shown.usr(row.users), org: shown.org(row.orgs) },
  }));
  return context.json({ posts: all, next: rows.length > limit ? all.at(-1).id : null });
});

/** What an ID of any type stands for. */
api.get("/:id", async (context) => {
  const { success, data } = AnyId.safeParse(context.req.param("id"));
  const row = success && (await rowOf(TABLES[data.prefix], data.id));
  return row ? context.json(shown[data.prefix](row)) : context.json({ error: "There is no such ID." }, 404);
});
