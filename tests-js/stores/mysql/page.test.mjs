// docs/reference/stores/mysql.md as printed.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { checkPrinted, checkTags, runPage } from "../kit/page.mjs";
import { MySqlServer } from "./server.mjs";

let server;
after(() => server?.stop());

test("the programs of docs/reference/stores/mysql.md run as they are printed, at every start", async () => {
  server = await MySqlServer.start();
  await runPage("mysql", { env: { DATABASE_URL: `mysql://root@127.0.0.1:${server.port}/test` } });
});

test("tags that ddl prints start at 1", async (t) => {
  const client = await mysql.createConnection(server.address({ multipleStatements: true, database: "test" }));
  t.after(() => client.end());
  await checkTags("mysql", new MySqlStore(client), (sql) => client.query(sql));
});

test("docs/reference/stores/mysql.md has what ddl prints", () => {
  checkPrinted("mysql", /^GRANT/);
});

test("mysql2 rounds a BIGINT unless it has the options of docs/reference/stores/mysql.md", async () => {
  const [written, rounded] = ["175928847299117063", 175928847299117060];
  for (const [options, read] of [
    [{}, rounded],
    [{ supportBigNumbers: true, bigNumberStrings: true }, written],
  ]) {
    const client = await mysql.createConnection(server.address(options));
    const [[row]] = await client.query(`SELECT CAST(${written} AS SIGNED) AS id`);
    await client.end();
    assert.equal(row.id, read);
  }
});
