// Holds the contract of segments against an SQLite file through one client, in the runtime that runs this. Prints the failures as JSON.
//
//   node segments-main.mjs FOLDER CLIENT    CLIENT: node:sqlite, bun:sqlite, or the path of better-sqlite3
import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { SqliteStore } from "frazil/stores/sqlite";
import { Bench, scenarios, whySkipped } from "frazil/testing/segment-contract";
import { opener, printHeld } from "./client.mjs";

const [folder, client] = process.argv.slice(2);
const open = await opener(client);
const path = join(folder, "segments.db");
let connections = [];
const connect = () => {
  const db = open(path);
  connections.push(db);
  return new SqliteStore(db);
};
let current = connect();
await current.migrate();

const opened = {
  // Its connection is another one after the file was replaced.
  store: { name: "sqlite", allocate: (request) => current.allocate(request) },
  init: (tag, first) => current.initSegment({ tag, first }),
  connect: async () => connect(),
  async changeIncarnation() {
    for (const db of connections) db.close();
    connections = [];
    copyFileSync(path, `${path}-copy`);
    renameSync(`${path}-copy`, path);
    current = connect();
  },
};

const isSkipped = (scenario) => whySkipped(scenario, opened) !== undefined;
await printHeld(scenarios, isSkipped, ({ run }) => run(new Bench(opened)));
for (const db of connections) db.close();
