// The tables. An ID is a number there, whatever its text is.
import { sql } from "drizzle-orm";
import { customType, pgTable, text } from "drizzle-orm/pg-core";
import { db } from "./database.mjs";
import { OrgId, PostId, UserId } from "./ids.mjs";

const columnOf = ({ toDriver, fromDriver }) => customType({ dataType: () => "bigint", toDriver, fromDriver });
const [orgId, userId, postId] = [OrgId, UserId, PostId].map(columnOf);

export const orgs = pgTable("orgs", {
  id: orgId("id").primaryKey().$defaultFn(OrgId.next),
  name: text("name").notNull(),
});
export const users = pgTable("users", {
  id: userId("id").primaryKey().$defaultFn(UserId.next),
  orgId: orgId("org_id").notNull(),
  name: text("name").notNull(),
});
/** It needs no column for the time: the ID has it, and the primary key sorts by it. */
export const posts = pgTable("posts", {
  id: postId("id").primaryKey().$defaultFn(PostId.next),
  authorId: userId("author_id").notNull(),
  text: text("text").notNull(),
});

for (const table of [
  "orgs (id bigint PRIMARY KEY, name text NOT NULL)",
  "users (id bigint PRIMARY KEY, org_id bigint NOT NULL REFERENCES orgs, name text NOT NULL)",
  "posts (id bigint PRIMARY KEY, author_id bigint NOT NULL REFERENCES users, text text NOT NULL)",
])
  await db.execute(sql.raw(`CREATE TABLE IF NOT EXISTS ${table}`));
