// The first minute of docs/guides/leases.md and docs/guides/segments.md, as printed there: the SQL from the command line, and the program.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Segment } from "frazil/segment";
import { PostgresStore } from "frazil/stores/postgres";
import { PostgresServer, poolTo } from "./postgres/server.mjs";

const run = promisify(execFile);
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const leases = readFileSync(path("../../docs/guides/leases.md"), "utf8");
const segments = readFileSync(path("../../docs/guides/segments.md"), "utf8");
const block = (language, text, page = leases) =>
  [...page.matchAll(/```(\w+)\n(.*?)```/gs)].find(([, name, body]) => name === language && body.includes(text))?.[2];

let server;
before(async () => {
  server = await PostgresServer.start();
});
after(() => server?.stop());

/** Runs the SQL that a command of a page prints, and then a program of it. */
async function firstMinute(commands, code) {
  const command = /npx frazil (ddl postgres .*?) \|/.exec(commands)[1];
  const { stdout: sql } = await run(process.execPath, [path("../../npm/frazil/dist/cli.mjs"), ...command.split(" ")]);
  await server.query(sql);

  // In this folder, where the packages of the program are found.
  const program = path(`first-minute-of-the-docs-${process.pid}.mjs`);
  writeFileSync(program, code);
  try {
    const env = { ...process.env, DATABASE_URL: server.url };
    return await run(process.execPath, [program], { env });
  } finally {
    rmSync(program);
  }
}

test("the SQL and the program of docs/guides/leases.md lease a node id", async () => {
  const { stdout, stderr } = await firstMinute(block("sh", "npx frazil ddl"), block("js", "await lease("));
  assert.match(stdout, /^\d{18}n 0\n$/);
  assert.equal(stderr, "");
  const rows = await server.query("SELECT node, grant_id FROM frazil_leases WHERE node = 0");
  assert.deepEqual(rows, [{ node: "0", grant_id: null }]);
});

test("the SQL and the program of docs/guides/segments.md hand out numbers", async () => {
  const [, program, output] = /```js\n([^`]*await orders\.ready\(\).*?)```\n\n```text\n(.*?)```/s.exec(segments);
  const { stdout, stderr } = await firstMinute(block("sh", "npx frazil ddl", segments), program);
  assert.equal(stdout, output);
  assert.equal(stderr, "");
});

test("the rights of docs/guides/segments.md are enough to allocate, and no record can be made with them", async (t) => {
  await server.query("CREATE ROLE your_role LOGIN");
  await server.query(block("sql", "GRANT SELECT, UPDATE ON frazil_segments", segments));
  const pool = poolTo(server.url.replace("postgres@", "your_role@"));
  t.after(() => pool.end());
  const store = new PostgresStore(pool);
  const orders = new Segment(store, { tag: "orders" });
  assert.equal(await orders.next(), 1001n);
  orders.close();
  await assert.rejects(store.initSegment({ tag: "invoices" }), { code: "STORE_REFUSED" });
});
