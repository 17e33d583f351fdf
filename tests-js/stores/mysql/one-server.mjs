// A server, a pool to it, and what the tests of one file do with them.
import { after, before } from "node:test";
import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { newScopeOf } from "../kit/attempts.mjs";
import { MySqlServer } from "./server.mjs";

export let server;
export let pool;
const closing = [];
before(async () => {
  server = await MySqlServer.start();
  pool = poolTo();
  await new MySqlStore(pool).migrate();
});
after(async () => {
  for (const close of closing) await close();
  await pool?.end();
  await server?.stop();
});

export const poolTo = (more = {}, of = server) => mysql.createPool(of.address({ database: "test", ...more }));

/** A separate connection, with settings of its session. */
export async function sessionWith(...settings) {
  const client = await mysql.createConnection(server.address({ database: "test" }));
  client.on("error", () => {});
  closing.push(() => client.end().catch(() => {}));
  for (const setting of settings) await client.query(setting);
  return client;
}

/** A new scope. */
export const newScope = (options, store = new MySqlStore(pool)) => newScopeOf(store, options);

/** A client whose statements a test sees, changes or holds. `hook` gets the text and a call that runs another. */
export const spied = (client, hook) => ({
  query: (statement, values) =>
    hook(statement.sql, (sql = statement.sql) => client.query({ ...statement, sql }, values)),
});
/** Whether a statement replaces a row that was read before. */
export const isReplacement = (text) => text.startsWith("UPDATE") && text.includes("l.from_ms = ");

/** The row of a node id. */
export const rowOf = async (scope, node) =>
  (await pool.query("SELECT * FROM frazil_leases WHERE scope = ? AND node = ?", [scope, node]))[0][0];
