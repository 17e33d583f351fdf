// Real MariaDB servers, in temporary folders and on loopback, that tests start, stop, signal, kill and replicate.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { faketimeClock } from "../../processes/movable-clock.mjs";
import { installed, runProgram, ServerProcess, serverFolder, startOnFreePorts } from "../kit/server-process.mjs";

const program = () => installed("MariaDB", "stores-mysql", "/usr/sbin/mariadbd");
/** The server refuses to run as root without a word. */
const user = "mysql";

let template;
/** The folder of a server that was never started: made once, since that takes four seconds, and then copied. */
function templateFolder() {
  if (template !== undefined) return template;
  program(); // it comes with the next one
  const own = serverFolder();
  const folder = join(own, "data");
  // Its server, too, loses the temporary tables in a folder where another one starts.
  const places = [`--datadir=${folder}`, `--tmpdir=${own}`];
  const args = ["--no-defaults", ...places, "--auth-root-authentication-method=normal", "--skip-test-db"];
  runProgram("/usr/bin/mariadb-install-db", [...args, "--innodb-log-file-size=4M"], { user });
  template = folder;
  return folder;
}

export class MySqlServer extends ServerProcess {
  #args;
  constructor(port, settings, env) {
    super({ port, user, env });
    this.settings = settings;
    const folder = serverFolder();
    const data = join(folder, "data");
    cpSync(templateFolder(), data, { recursive: true });
    runProgram("/bin/chmod", ["-R", "a+rwX", data]);
    this.#args = [
      "--no-defaults",
      `--datadir=${data}`,
      `--socket=${join(folder, "socket")}`,
      `--pid-file=${join(folder, "pid")}`,
      // A server that starts deletes the temporary tables in the folder, of other servers too.
      `--tmpdir=${data}`,
      `--port=${port}`,
      "--bind-address=127.0.0.1",
      "--innodb-log-file-size=4M",
      "--innodb-buffer-pool-size=16M",
      "--max-connections=300",
    ];
  }

  /** Makes a server with the database `test` and starts it. `settings`: its options. `env`: variables of its process. */
  static async start(settings = {}, env = {}) {
    const server = await startOnFreePorts(1, ([port]) => new MySqlServer(port, settings, env));
    await server.query("CREATE DATABASE IF NOT EXISTS test");
    return server;
  }

  commandLine() {
    const settings = Object.entries(this.settings).map(([name, value]) => `--${name}=${value}`);
    return [program(), ...this.#args, ...settings];
  }

  /** Runs statements as the superuser, outside a database unless one is named. Returns the rows of the last one. */
  async query(text, values, database) {
    const client = await mysql.createConnection({ ...this.address(), database, multipleStatements: true });
    try {
      const [rows] = await client.query(text, values);
      return Array.isArray(rows?.[0]) ? rows.at(-1) : rows;
    } finally {
      await client.end();
    }
  }

  /** What a driver needs to connect. */
  address(more = {}) {
    return { host: "127.0.0.1", port: this.port, user: "root", ...more };
  }

  /** Follows another server, which does not wait for it. */
  async follow(primary) {
    await this.query(
      "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ?, MASTER_USER = 'root', MASTER_USE_GTID = slave_pos; START SLAVE",
      [primary.port],
    );
  }
}

/** Starts a server. The suites for all stores use this name. */
export const startServer = ({ settings, env } = {}) => MySqlServer.start(settings, env);

/** A server, and a replica that follows it until it is cut off. */
export async function replicatedPair() {
  const logging = { "log-bin": "log", "sync-binlog": 1 };
  const primary = await MySqlServer.start({ ...logging, "server-id": 1 });
  const replica = await MySqlServer.start({ ...logging, "server-id": 2, "read-only": 1 });
  await replica.query("DROP DATABASE test");
  await replica.follow(primary);
  const cutOff = () => replica.query("STOP SLAVE");
  const promote = () => replica.query("RESET SLAVE ALL; SET GLOBAL read_only = 0");
  return { primary, replica, cutOff, promote };
}

/** What `openWithIncarnation` asks for, with mysql2. */
export const withMysql2 = {
  Store: MySqlStore,
  newClock: faketimeClock,
  start: (env) => MySqlServer.start({}, env),
  query: (server, sql) => server.query(sql, [], "test"),
  poolTo: (server) => mysql.createPool(server.address({ database: "test" })),
  async connect(server) {
    const client = await mysql.createConnection(server.address({ database: "test" }));
    client.on("error", () => {});
    return client;
  },
};

/** A store on a server, with its own pool. `options`: those of the store. */
export async function connectStore(port, options) {
  const pool = mysql.createPool({ host: "127.0.0.1", port, user: "root", database: "test", connectionLimit: 4 });
  const store = new MySqlStore(pool, options);
  return { store, close: () => pool.end().catch(() => {}) };
}
