// The output of `npx frazil ddl STORE --tag`, run in real servers, and its messages for refused names and flags.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MySqlStore } from "frazil/stores/mysql";
import { PostgresStore } from "frazil/stores/postgres";
import { RedisStore } from "frazil/stores/redis";
import mysql from "mysql2/promise";
import { allocation } from "./kit/segments.mjs";
import { MySqlServer } from "./mysql/server.mjs";
import { PostgresServer, poolTo } from "./postgres/server.mjs";
import { openClient, startServer as startRedis } from "./redis/server.mjs";

const cli = fileURLToPath(new URL("../../npm/frazil/dist/cli.mjs", import.meta.url));
const ddl = (...args) => execFileSync(process.execPath, [cli, "ddl", ...args], { encoding: "utf8" });

/** What the command says about a wrong use. */
function refusal(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "ddl", ...args], { encoding: "utf8" });
  assert.ok(status > 0, `it succeeded: ${args.join(" ")}`);
  assert.equal(stdout, "");
  return stderr;
}

let postgres;
before(async () => {
  postgres = await PostgresServer.start();
});
after(() => postgres?.stop());

/** Two tags begin at the number of `--first`, also above 2^53, and a record that is there stays. */
async function checkFirst(store, run) {
  await run("--tag", "orders", "--tag", "invoices", "--first", "9007199254740993");
  await run("--tag", "orders", "--first", "5");
  await run("--tag", "plain");
  for (const tag of ["orders", "invoices"])
    assert.equal((await store.allocate(allocation({ tag }))).first, 9007199254740993n);
  assert.equal((await store.allocate(allocation({ tag: "plain" }))).first, 1n);
}

test("Postgres: --first", async () => {
  const pool = poolTo(postgres.url);
  await checkFirst(new PostgresStore(pool), (...args) => postgres.query(ddl("postgres", ...args)));
  await pool.end();
});

test("--incarnation is an expression, or a word of the option", () => {
  for (const store of ["postgres", "mysql", "redis"]) {
    const unguarded = ddl(store, "--incarnation", "none-accepting-repeats-after-failover");
    assert.doesNotMatch(unguarded, /none-accepting/);
    assert.notEqual(unguarded, ddl(store));
    assert.match(
      refusal(store, "--incarnation", "none"),
      /--incarnation must be ("[\w-]+", )+an? \w+ expression.*, or "none-/,
    );
    assert.match(ddl(store, "--incarnation", "some.expression()"), /some\.expression\(\)/);
  }
});

test("an empty --role or --acl, as of a variable that is not set, is refused", () => {
  assert.match(refusal("postgres", "--role", ""), /--role is ""/);
  assert.match(refusal("zookeeper", "--acl", ""), /--acl is ""/);
});

test("MariaDB: --first", async () => {
  const server = await MySqlServer.start({ "innodb-flush-log-at-trx-commit": 1 });
  const pool = mysql.createPool(server.address({ database: "test", multipleStatements: true }));
  await checkFirst(new MySqlStore(pool), (...args) => pool.query(ddl("mysql", ...args)));
  await pool.end();
  await server.crash();
});

test("Redis: --first, on the server in $REDIS_URL", async () => {
  const server = await startRedis();
  const client = await openClient(server.port);
  const env = { ...process.env, REDIS_URL: `redis://127.0.0.1:${server.port}` };
  await checkFirst(new RedisStore(client), (...args) =>
    promisify(execFile)("sh", ["-c", ddl("redis", ...args)], { env }),
  );
  await client.close();
  await server.stop();
});

test("flags and names that it does not take", () => {
  assert.match(refusal("postgres", "--tag", "orders", "--first", "-1"), /--first/);
  assert.match(
    refusal("postgres", "--tag", "orders", "--first", "1e3"),
    /--first must be an integer in digits only, got "1e3"/,
  );
  assert.match(
    refusal("postgres", "--tag", "orders", "--first", "9223372036854775808"),
    /first must be .*, got 9223372036854775808n/,
  );
  assert.match(refusal("postgres", "--first", "5"), /--first is the first number of a --tag/);
  for (const [name, store] of [
    ["mariadb", "mysql"],
    ["MySQL", "mysql"],
    ["valkey", "redis"],
    ["postgresql", "postgres"],
    ["sqlite3", "sqlite"],
  ]) {
    assert.match(refusal(name), new RegExp(`npx frazil ddl ${store} --scope default`));
    // `ddl sqlite` has no --tag, so it is not suggested.
    const rest = store === "sqlite" ? "--scope default" : "--tag bills";
    assert.match(refusal(name, "--tag", "bills"), new RegExp(`npx frazil ddl ${store} ${rest}`));
  }
});
