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

/** Holds scenarios against a store that is open, and prints what came of it as JSON. `run`: runs one on its own bench. */
export async function printHeld(scenarios, isSkipped, run) {
  const skipped = scenarios.filter(isSkipped).map(({ name }) => name);
  const held = scenarios.filter((scenario) => !isSkipped(scenario));
  const failures = [];
  const hold = (scenario) =>
    run(scenario).catch((error) => {
      failures.push(`${scenario.name}: ${error.stack}`);
    });
  await Promise.all(held.filter(({ alone }) => !alone).map(hold));
  for (const scenario of held.filter(({ alone }) => alone)) await hold(scenario);
  process.stdout.write(`${JSON.stringify({ held: held.length - failures.length, skipped, failures })}\n`);
}
