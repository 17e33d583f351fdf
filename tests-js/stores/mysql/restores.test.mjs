// How a loaded dump looks to the store, on a real MariaDB: with the default incarnation, and with that of the server alone.
// docs/internals/claims.md: 27
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { attempt } from "../kit/attempts.mjs";
import { MySqlServer } from "./server.mjs";

const SERVER_ALONE = { sql: "CONCAT_WS('/', @@server_id, @@hostname, @@port)" };

let server;
before(async () => {
  server = await MySqlServer.start();
});
after(() => server?.stop());

/** Runs a client of the server, as its superuser. */
const run = (program, args, input) =>
  execFileSync(program, ["--no-defaults", "--host=127.0.0.1", `--port=${server.port}`, "--user=root", ...args], {
    input,
  });

const acquire = (store) => store.acquire(attempt({ scope: "default" }));

/** Waits until the clock of the server shows another second: the time of birth of a table has no parts of one. */
async function nextSecond() {
  const seconds = async () => (await server.query("SELECT UNIX_TIMESTAMP() AS now"))[0].now;
  for (const first = await seconds(); (await seconds()) === first; );
}

for (const [name, incarnation, seen] of [
  ["the default", "server", true],
  ["the server alone", SERVER_ALONE, false],
])
  test(`a dump that is loaded into the same server: ${name} ${seen ? "sees it" : "does not, and a node id is granted twice"}`, async () => {
    await server.query("DROP DATABASE IF EXISTS app; CREATE DATABASE app");
    const pool = mysql.createPool(server.address({ database: "app" }));
    const store = new MySqlStore(pool, { incarnation });
    await store.migrate();
    await store.init({ layout: "default" });
    assert.equal((await acquire(store)).node, 0);
    const dump = run("/usr/bin/mariadb-dump", ["app"]);
    assert.equal((await acquire(store)).node, 1);
    await nextSecond();
    run("/usr/bin/mariadb", ["app"], dump);
    const { node, reason } = await acquire(store);
    assert.deepEqual([node, reason], seen ? [undefined, "incarnation"] : [1, undefined]);
    await store.fence();
    assert.equal((await acquire(store)).reason, "fenced");
    await pool.end();
  });

test("a restart, and sessions of every time zone, show the same incarnation", async () => {
  await server.query("DROP DATABASE IF EXISTS app; CREATE DATABASE app");
  const make = () => mysql.createPool(server.address({ database: "app", connectionLimit: 1 }));
  let pool = make();
  await new MySqlStore(pool).migrate();
  await new MySqlStore(pool).init({ layout: "default" });
  for (const zone of ["+00:00", "+09:00", "-03:30"]) {
    await pool.query("SET time_zone = ?", [zone]);
    assert.equal((await acquire(new MySqlStore(pool))).granted, true, zone);
  }
  await pool.end();
  await server.stop();
  await server.start();
  pool = make();
  assert.equal((await acquire(new MySqlStore(pool))).granted, true);
  await pool.end();
});
