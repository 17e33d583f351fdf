// `npx frazil fence`: what it prints raises the fence of one scope of a real server, also that of a scope whose rows were restored.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { MySqlStore } from "frazil/stores/mysql";
import { PostgresStore } from "frazil/stores/postgres";
import mysql from "mysql2/promise";
import { frazil } from "../cli/cli.mjs";
import { attempt } from "./attempts.mjs";
import { MySqlServer } from "./mysql/server.mjs";
import { PostgresServer, poolTo } from "./postgres/server.mjs";

/** What the command prints. */
async function printed(...args) {
  const { stdout, stderr, code } = await frazil(["fence", ...args]);
  assert.deepEqual([stderr, code], ["", 0], args.join(" "));
  return stdout;
}

/** Asserts that `run(text)`, of what is printed for `orders`, fences that scope and no other. The store's clock has steps of `stepMs`. */
async function checkFence(store, text, run, stepMs = 1) {
  const acquire = (scope) => store.acquire(attempt({ scope }));
  for (const scope of ["orders", "others"]) {
    await store.init({ scope, layout: "default" });
    assert.equal((await acquire(scope)).granted, true);
  }
  const before = Date.now();
  await run(text);
  const { reason, freeAtMs } = await acquire("orders");
  assert.equal(reason, "fenced");
  assert.ok(freeAtMs > before - stepMs + 65_000 && freeAtMs <= Date.now() + 65_000, `${freeAtMs - before}`);
  assert.equal((await acquire("others")).granted, true);
  // Run once more: the fence only grows.
  await run(text);
  assert.ok((await acquire("orders")).freeAtMs >= freeAtMs);
}

test("postgres: the SQL runs, in the schema of the store; a scope that is not there is an error", async (t) => {
  const server = await PostgresServer.start();
  t.after(() => server.crash());
  await server.query("CREATE SCHEMA app");
  const pool = poolTo(server.url);
  const store = new PostgresStore(pool, { schema: "app" });
  await store.migrate();
  const text = await printed("postgres", "--scope", "orders", "--schema", "app");
  assert.match(text, /^-- Raises the fence of the scope "orders" .*\n-- .*psql -v ON_ERROR_STOP=1/);
  let rows;
  await checkFence(store, text, async () => {
    rows = await server.query(text);
  });
  assert.deepEqual(
    rows.map(({ scope }) => scope),
    ["orders", "others"],
  );
  const missing = await printed("postgres", "--scope", "nowhere", "--schema", "app");
  await assert.rejects(server.query(missing), /this database has no scope "nowhere"/);
  await pool.end();
});

test("mysql: the SQL runs, and shows every scope; one that is not there is an error", async (t) => {
  const server = await MySqlServer.start();
  t.after(() => server.crash());
  const pool = mysql.createPool(server.address({ database: "test" }));
  const store = new MySqlStore(pool);
  await store.migrate();
  const text = await printed("mysql", "--scope", "orders");
  let shown;
  const address = ["--no-defaults", "--host=127.0.0.1", `--port=${server.port}`, "--user=root", "test"];
  await checkFence(store, text, () => {
    shown = execFileSync("/usr/bin/mariadb", address, { input: text, encoding: "utf8" });
  });
  assert.match(shown, /^scope\tnothing_is_granted_before_utc\norders\t20.*\nothers\t1970-01-01 .*\n$/);
  const missing = await printed("mysql", "--scope", "nowhere");
  const run = () => execFileSync("/usr/bin/mariadb", address, { input: missing, encoding: "utf8", stdio: "pipe" });
  assert.throws(run, { status: 1, stderr: /this database has no scope "nowhere"/ });
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
  await checkFence(store, await printed("redis", "--scope", "orders"), run);
  const missing = await printed("redis", "--scope", "nowhere");
  assert.throws(() => run(missing), { status: 1, stderr: /has no scope "nowhere"/ });
  await close?.();
});

test("etcd: the command raises the fence itself, of the servers that etcdctl uses", async (t) => {
  const { connectStore, startServer } = await import("./etcd/server.mjs");
  const server = await startServer();
  t.after(() => server.crash());
  const { store, close } = await connectStore(server.port);
  const run = async (scope) => {
    const { stdout, stderr, code } = await frazil(["fence", "etcd", "--scope", scope], {
      env: { ETCDCTL_ENDPOINTS: `127.0.0.1:${server.port}` },
    });
    return { stdout, stderr, code };
  };
  const runFence = async () => {
    const { stdout, code } = await run("orders");
    assert.equal(code, 0);
    assert.match(stdout, /^The scope "orders" is fenced: nothing is granted before 20\d\d-.*Z\.\n$/);
  };
  // The header `Date` has whole seconds.
  await checkFence(store, "", runFence, 1000);
  const { stderr, code } = await run("nowhere");
  assert.deepEqual([code, /STORE_NOT_INITIALISED/.test(stderr)], [1, true]);
  await close?.();
});
