// The first minute of docs/leases.md, as it is written there: the SQL that the command line prints, and the program.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { PostgresServer } from "./postgres/server.mjs";

const run = promisify(execFile);
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const page = readFileSync(path("../../docs/leases.md"), "utf8");
const block = (language, text) =>
  [...page.matchAll(/```(\w+)\n(.*?)```/gs)].find(([, name, body]) => name === language && body.includes(text))?.[2];

let server;
after(() => server?.stop());

test("the SQL and the program of docs/leases.md lease a node id", async () => {
  server = await PostgresServer.start();
  const command = /npx frazil (ddl postgres .*?) \|/.exec(block("sh", "npx frazil ddl"))[1];
  const { stdout: sql } = await run(process.execPath, [path("../../npm/frazil/dist/cli.mjs"), ...command.split(" ")]);
  await server.query(sql);

  // In this folder, where the packages of the program are found.
  const program = path("first-minute-of-the-docs.mjs");
  writeFileSync(program, block("js", "await lease("));
  after(() => rmSync(program));
  const env = { ...process.env, DATABASE_URL: server.url };
  const { stdout, stderr } = await run(process.execPath, [program], { env });
  assert.match(stdout, /^\d{18}n 0\n$/);
  assert.equal(stderr, "");
  const rows = await server.query("SELECT node, grant_id FROM frazil_leases WHERE node = 0");
  assert.deepEqual(rows, [{ node: "0", grant_id: null }]);
});
