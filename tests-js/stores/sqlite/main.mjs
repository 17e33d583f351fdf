// Holds the contract against an SQLite file through one client, in the runtime that runs this. Prints the failures as JSON.
//
//   node main.mjs FOLDER CLIENT    CLIENT: node:sqlite, bun:sqlite, or the path of better-sqlite3
import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { SqliteStore } from "frazil/stores/sqlite";
import { Bench, scenarios } from "frazil/testing/lease-contract";
import { opener, printHeld } from "./client.mjs";

const [folder, client] = process.argv.slice(2);

const open = await opener(client);
const path = join(folder, "leases.db");
let connections = [];
let current;
const connect = () => {
  const db = open(path);
  connections.push(db);
  return new SqliteStore(db);
};
const reconnect = () => {
  for (const db of connections) db.close();
  connections = [];
  current = connect();
};
reconnect();
await current.migrate();

/** The store, whose connection tests replace. */
const store = {
  name: "sqlite",
  acquire: (request) => current.acquire(request),
  renew: (request) => current.renew(request),
  release: (request) => current.release(request),
  ensure: (request) => current.ensure(request),
};
const opened = {
  store,
  init: (scope) => current.init({ ...scope, layout: "default" }),
  connect: async () => connect(),
  async changeIncarnation() {
    copyFileSync(path, `${path}-copy`);
    renameSync(`${path}-copy`, path);
    reconnect();
  },
  async stop() {
    for (const db of connections) db.close();
    connections = [];
  },
  async start() {
    reconnect();
  },
};

const isSkipped = ({ needs = [] }) => needs.some((call) => opened[call] === undefined);
await printHeld(scenarios, isSkipped, ({ run }) => run(new Bench(opened)));
for (const db of connections) db.close();
