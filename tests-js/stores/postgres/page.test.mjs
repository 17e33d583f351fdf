// docs/stores/postgres.md as it is printed.
import { after, test } from "node:test";
import { checkPrinted, runPage } from "../page.mjs";
import { PostgresServer } from "./server.mjs";

let server;
after(() => server?.stop());

test("the programs of docs/stores/postgres.md run as they are printed, at every start", async () => {
  server = await PostgresServer.start();
  await runPage("postgres", { env: { DATABASE_URL: server.url } });
});

test("docs/stores/postgres.md has what ddl prints", () => {
  checkPrinted("postgres", /^GRANT/);
});
