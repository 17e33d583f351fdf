// `npx frazil fence`: its output raises the fence of one scope of a real server. d1/d1.test.mjs and sqlite/traps.mjs have the others.
// docs/internals/claims.md: 27
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { MySqlStore } from "frazil/stores/mysql";
import { PostgresStore } from "frazil/stores/postgres";
import mysql from "mysql2/promise";
import { frazil } from "../cli/cli.mjs";
import { checkFence, checkPrintedFence } from "./kit/attempts.mjs";
import { MySqlServer } from "./mysql/server.mjs";
import { PostgresServer, poolTo, program } from "./postgres/server.mjs";

/** What the command prints. */
async function printed(...args) {
  const { stdout, stderr, code } = await frazil(["fence", ...args]);
  assert.deepEqual([stderr, code], ["", 0], args.join(" "));
  return stdout;
}

test("postgres: the SQL runs, in the schema of the store; a scope that is not there is an error", async (t) => {
  const server = await PostgresServer.start();
  t.after(() => server.crash());
  await server.query("CREATE SCHEMA app");
  const pool = poolTo(server.url);
  const store = new PostgresStore(pool, { schema: "app" });
  await store.migrate();
  const print = (scope) => printed("postgres", "--scope", scope, "--schema", "app");
  // As with AUTOCOMMIT off in ~/.psqlrc: what nobody commits is lost at the end.
  const address = ["--no-psqlrc", "-v", "ON_ERROR_STOP=1", "-v", "AUTOCOMMIT=off", server.url];
  await checkPrintedFence(store, print, (text) => execFileSync(program("psql"), address, { input: text }));
  const text = await print("orders");
  assert.match(text, /^-- Raises the fence of the scope "orders" .*\n-- .*psql -v ON_ERROR_STOP=1/);
  const shown = await server.query(text);
  assert.deepEqual(
    shown.map(({ scope }) => scope),
    ["broken", "not-broken", "not-orders", "orders"],
  );
  await assert.rejects(server.query(await print("nowhere")), /this database has no scope "nowhere"/);
  await pool.end();
});

test("mysql: the SQL runs, and shows every scope; one that is not there is an error", async (t) => {
  const server = await MySqlServer.start();
  t.after(() => server.crash());
  const pool = mysql.createPool(server.address({ database: "test" }));
  const store = new MySqlStore(pool);
  await store.migrate();
  const print = (scope) => printed("mysql", "--scope", scope);
  const commitsNothing = "--init-command=SET autocommit = 0";
  const address = ["--no-defaults", "--host=127.0.0.1", `--port=${server.port}`, "--user=root", commitsNothing, "test"];
  const run = (text) => execFileSync("/usr/bin/mariadb", address, { input: text, encoding: "utf8" });
  await checkPrintedFence(store, print, run);
  assert.match(
    run(await print("orders")),
    /^scope\tnothing_is_granted_before_utc\nbroken\t.*\n.*\nnot-orders\t1970-01-01 .*\norders\t20.*\n$/,
  );
  const missing = await print("nowhere");
  assert.throws(() => run(missing), { status: 1, stderr: /this database has no scope "nowhere"/ });
  await pool.end();
});

test("redis: the script runs, and fails for a scope that is not there", async (t) => {
  const { connectStore, startServer } = await import("./redis/server.mjs");
  const server = await startServer();
  t.after(() => server.crash());
  const { store, close } = await connectStore(server.port);
  const run = (text) =>
    execFileSync("sh", {
      input: text,
      encoding: "utf8",
      stdio: "pipe",
      env: { ...process.env, REDIS_URL: `redis://127.0.0.1:${server.port}` },
    });
  const print = (scope) => printed("redis", "--scope", scope);
  await checkPrintedFence(store, print, run);
  const missing = await print("nowhere");
  assert.throws(() => run(missing), { status: 1, stderr: /has no scope "nowhere"/ });
  await close?.();
});

test("etcd: the command raises the fence itself, of the servers that etcdctl uses", async (t) => {
  const { connectStore, startServer } = await import("./etcd/server.mjs");
  const server = await startServer();
  t.after(() => server.crash());
  const { store, close } = await connectStore(server.port);
  const run = (scope) =>
    frazil(["fence", "etcd", "--scope", scope], { env: { ETCDCTL_ENDPOINTS: `127.0.0.1:${server.port}` } });
  const fence = async () => {
    const { stdout, code } = await run("orders");
    assert.equal(code, 0);
    assert.match(stdout, /^The scope "orders" is fenced: nothing is granted before 20\d\d-.*Z\.\n$/);
  };
  // The header `Date` has whole seconds.
  await checkFence(store, "orders", fence, 1000);
  await assert.rejects(checkFence(store, "broken", fence, 1000), { name: "AssertionError" }, "it fences another scope");
  const { stderr, code } = await run("nowhere");
  assert.deepEqual([code, /STORE_NOT_INITIALISED/.test(stderr)], [1, true]);
  await close?.();
});
