// The clients of SQLite, in the runtime that runs this.
import { createRequire } from "node:module";

/** How a client opens a file. `client`: node:sqlite, bun:sqlite, or the path of better-sqlite3. */
export async function opener(client) {
  if (client === "node:sqlite") {
    const { DatabaseSync } = await import("node:sqlite");
    return (path) => new DatabaseSync(path);
  }
  if (client === "bun:sqlite") {
    const { Database } = await import("bun:sqlite");
    return (path) => new Database(path);
  }
  const Database = createRequire(import.meta.url)(client);
  return (path) => new Database(path);
}
