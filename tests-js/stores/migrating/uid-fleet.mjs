// Both generations of UidGenerator's node ids on a real MariaDB, which ends with the file of tests.
import { execFileSync } from "node:child_process";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { Layout } from "frazil";
import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { MySqlServer } from "../mysql/server.mjs";
import { runFleet, shown } from "./fleet.mjs";
import { register, WORKER_NODE } from "./old-uid-generator.mjs";

export const SECONDS = Number(process.env.FRAZIL_MOVING_S ?? 15);
export const BITS = { timeBits: 31, workerBits: 20, seqBits: 12, epochSeconds: 1463673600 };

/** The same layout in the words of Frazil. */
export const layoutOf = ({ timeBits, workerBits, seqBits, epochSeconds }) => ({
  epochMs: 1000 * epochSeconds,
  tickMs: 1000,
  fields: [
    { kind: "time", bits: timeBits },
    { kind: "node", name: "worker", bits: workerBits },
    { kind: "sequence", bits: seqBits },
  ],
});

export const LAYOUT = layoutOf(BITS);
export const OPTIONS = { layout: new Layout(LAYOUT), windowMs: 6000 };
export const FROM = { workerNode: "WORKER_NODE" };

/** What the command prints. */
export const ddl = (...flags) =>
  execFileSync(process.execPath, [CLI, "ddl", "mysql", ...flags], { encoding: "utf8", stdio: "pipe" });

const CLI = fileURLToPath(new URL("../../../npm/frazil/dist/cli.mjs", import.meta.url));
let server;

before(async () => {
  server = await MySqlServer.start({ "max-connections": 300, "innodb-flush-log-at-trx-commit": 1 });
});

after(() => server?.crash());
let databases = 0;

/** A database with the table of a fleet that has run for a while: `used` numbers are gone. */
export async function oldDatabase(t, { used = 30, ddl = WORKER_NODE } = {}) {
  const database = `uid${++databases}`;
  await server.query(`CREATE DATABASE ${database}`);
  const url = `mysql://root@127.0.0.1:${server.port}/${database}`;
  const pool = mysql.createPool({ uri: url, connectionLimit: 8 });
  t.after(() => pool.end());
  if (ddl) await pool.query(ddl);
  for (let at = 0; at < used; at++) await register(pool, { host: `10.0.0.${at}` });
  const store = new MySqlStore(pool);
  await store.migrate();
  const query = async (sql, values) => (await pool.query(sql, values))[0];
  return { url, pool, store, query };
}

/** What the record of a scope has in its rows of the old table. */
export async function markerOf(query, scope = "default") {
  const [{ from }] = await query("SELECT node_ids_from AS `from` FROM frazil_scopes WHERE scope = ?", [scope]);
  return JSON.parse(from).marker;
}

/** Lets both generations mint, with faults. */
export async function run(t, { init = { nodeIdsFrom: FROM }, broken, seconds = SECONDS, isEnough } = {}) {
  const { url, store } = await oldDatabase(t);
  await store.init({ layout: OPTIONS.layout, ...init });
  const counted = await runFleet({
    seconds,
    isEnough,
    java: {
      program: "old-uid-generator.mjs",
      processes: 4,
      taskOf: (at) => ({ url, bits: BITS, ...(at % 2 === 1 && { cached: true, pauseMs: 100 }) }),
      endings: ["SIGKILL"],
    },
    frazil: { processes: 4, task: { url, layout: LAYOUT, windowMs: 6000, broken } },
  });
  t.diagnostic(shown(counted));
  return counted;
}
