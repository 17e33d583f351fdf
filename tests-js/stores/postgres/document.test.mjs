// The store of "A store of your own" in docs/reference/stores.md, as printed there, keeps the contract with a real Postgres.
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { DocumentStore } from "frazil/stores/document";
import { Bench, leaseContract, scenarios } from "frazil/testing/lease-contract";
import pg from "pg";
import { mappedClocks } from "../../processes/movable-clock.mjs";
import { openWithIncarnation } from "../kit/incarnation-table.mjs";
import { PostgresServer, poolTo } from "./server.mjs";

const page = readFileSync(new URL("../../../docs/reference/stores.md", import.meta.url), "utf8");
const [, program] = /```js\n(import \{ DocumentStore \}.*?)```/s.exec(page);
// Inside the workspace, so that `frazil` is found.
const path = fileURLToPath(new URL(`documents-${process.pid}.mjs`, import.meta.url));
writeFileSync(path, program);
const { documentsIn } = await import(pathToFileURL(path).href);
rmSync(path);

/** What the next write awaits. */
let beforeWrite;

/** The store of the page, whose table `migrate` makes. `breakIt` may change its functions. */
const storeClass = (breakIt = (documents) => documents) =>
  class extends DocumentStore {
    #pool;
    constructor(pool, { incarnation }) {
      const documents = breakIt(documentsIn(pool, incarnation.sql));
      super({
        ...documents,
        async replace(...given) {
          const work = beforeWrite;
          beforeWrite = undefined;
          await work?.();
          return documents.replace(...given);
        },
      });
      this.#pool = pool;
    }
    async migrate() {
      await this.#pool.query("CREATE TABLE IF NOT EXISTS documents (key text PRIMARY KEY, text text NOT NULL)");
    }
  };

const open = async (Store) => ({
  ...(await openWithIncarnation({
    Store,
    newClock: mappedClocks,
    start: (env) => PostgresServer.start({ max_connections: 200 }, env),
    query: (server, sql) => server.query(sql),
    poolTo: (server) => poolTo(server.url),
    async connect(server) {
      const pool = new pg.Pool({ connectionString: server.url, max: 2 });
      pool.on("error", () => {});
      return pool;
    },
  })),
  beforeNextWrite: (work) => {
    beforeWrite = work;
  },
});

leaseContract({ name: "the store of docs/reference/stores.md", open: () => open(storeClass()) });

let broken;
before(async () => {
  // Its `replace` is told the incarnation of the moment, as if it did not compare that.
  const overlook = ({ read, replace }) => ({
    read,
    replace: async (changes) => replace(changes, (await read([])).incarnation),
  });
  broken = await open(storeClass(overlook));
});
after(() => broken?.close());

for (const name of [
  "an acquisition that was decided before a failover is not written after it",
  "a renewal that was decided before a failover is not written after it",
])
  test(`without the comparison of the incarnation: "${name}" catches it`, async () => {
    const { run } = scenarios.find((scenario) => scenario.name === name);
    await assert.rejects(() => run(new Bench(broken)), { name: "AssertionError", message: /^granted/ });
  });
