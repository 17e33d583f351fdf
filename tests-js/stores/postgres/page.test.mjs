// docs/reference/stores/postgres.md as printed.
import { after, test } from "node:test";
import { PostgresStore } from "frazil/stores/postgres";
import { checkPrinted, checkTags, runPage } from "../kit/page.mjs";
import { PostgresServer, poolTo } from "./server.mjs";

let server;
after(() => server?.stop());

test("the programs of docs/reference/stores/postgres.md run as they are printed, at every start", async () => {
  server = await PostgresServer.start();
  await runPage("postgres", { env: { DATABASE_URL: server.url } });
});

test("tags that ddl prints start at 1", async (t) => {
  const pool = poolTo(server.url);
  t.after(() => pool.end());
  await checkTags("postgres", new PostgresStore(pool), (sql) => server.query(sql));
});

test("docs/reference/stores/postgres.md has what ddl prints", () => {
  checkPrinted("postgres", /^GRANT/);
});
