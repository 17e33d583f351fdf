// Postgres if DATABASE_URL names one, or else PGlite, which is Postgres in this process, in the folder DATA.
import { PGlite } from "@electric-sql/pglite";
import { drizzle as onPostgres } from "drizzle-orm/node-postgres";
import { drizzle as onPglite } from "drizzle-orm/pglite";
import pg from "pg";

const { DATABASE_URL, DATA = "data" } = process.env;

/** The client, which also keeps the node ids of the generators. */
export const client = DATABASE_URL ? new pg.Pool({ connectionString: DATABASE_URL }) : await PGlite.create(DATA);
export const db = DATABASE_URL ? onPostgres(client) : onPglite(client);
export const close = () => (DATABASE_URL ? client.end() : client.close());

// An idle connection has failed, for example because Postgres restarts. The pool opens another one when needed.
if (DATABASE_URL) client.on("error", (error) => console.error("a connection has ended:", error.message));
