// Real Postgres servers, in temporary folders and on loopback, that tests start, stop, kill and promote.
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import { freePort, runProgram, serverFolder, startProgram } from "../server-process.mjs";

/** The folder of the server's programs: the newest version that is installed. */
const programs = () => {
  const top = "/usr/lib/postgresql";
  const versions = existsSync(top) ? readdirSync(top).sort((a, b) => Number(a) - Number(b)) : [];
  const bin = versions.map((version) => join(top, version, "bin")).findLast((path) => existsSync(join(path, "initdb")));
  if (bin === undefined) throw new Error("Postgres is missing: npm test -- stores-postgres installs it");
  return bin;
};

/** The server refuses to run as root. */
const user = "postgres";
const runPostgres = (name, ...args) => runProgram(join(programs(), name), args, { user });

export class PostgresServer {
  #running;
  constructor(folder, port, env) {
    Object.assign(this, { folder, port, env });
    this.data = join(folder, "data");
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  /** Makes a server and starts it. `settings`: lines of its configuration. `env`: variables of its process. */
  static async start(settings = {}, env = {}) {
    const server = new PostgresServer(serverFolder(), await freePort(), env);
    const locale = ["--locale=C", "--encoding=UTF8", "--username=postgres", "--auth=trust"];
    runPostgres("initdb", "--pgdata", server.data, ...locale, "--no-sync");
    server.configure({ listen_addresses: "127.0.0.1", port: server.port, unix_socket_directories: "", ...settings });
    await server.start();
    return server;
  }

  /** A standby of this server that replays what it sends, and that nobody waits for. */
  async standby() {
    const other = new PostgresServer(serverFolder(), await freePort(), {});
    const from = ["--host=127.0.0.1", `--port=${this.port}`, "--username=postgres"];
    runPostgres(
      "pg_basebackup",
      ...from,
      "--pgdata",
      other.data,
      "--write-recovery-conf",
      "--checkpoint=fast",
      "--no-sync",
    );
    other.configure({ port: other.port });
    await other.start();
    return other;
  }

  configure(settings) {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(this.data, "postgresql.conf"), lines.join(""));
  }

  async start() {
    this.#running = await startProgram(join(programs(), "postgres"), ["-D", this.data], this.port, {
      user,
      env: this.env,
    });
    // The port is open before the server takes statements.
    for (let tries = 0; ; tries++) {
      try {
        return await this.query("SELECT 1");
      } catch (error) {
        if (tries === 200) throw error;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    }
  }

  /** Ends it in an orderly way. */
  async stop() {
    if (this.#running === undefined) return;
    const { child, ended } = this.#running;
    this.#running = undefined;
    child.kill("SIGINT");
    await ended;
  }

  /** Ends it as a crash of all its processes does: what was not written is lost. */
  async crash() {
    // The server's own way: it ends without a checkpoint, and flushes nothing.
    this.#running.child.kill("SIGQUIT");
    await this.#running.ended;
    this.#running = undefined;
  }

  /** Signals the server and its children. One that has ended meanwhile is left out. */
  signal(name) {
    const pid = Number(readFileSync(join(this.data, "postmaster.pid"), "utf8").split("\n")[0]);
    const children = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => {
        try {
          return readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1].split(" ")[1] === String(pid);
        } catch {
          return false; // it has ended
        }
      });
    for (const each of [pid, ...children.map(Number)]) {
      try {
        process.kill(each, name);
      } catch (error) {
        if (error.code !== "ESRCH") throw error;
      }
    }
  }

  async promote() {
    runPostgres("pg_ctl", "promote", "-D", this.data, "-w");
  }

  /** Runs statements as the superuser. Returns the rows of the last one. */
  async query(text, values) {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      const result = await client.query(text, values);
      return (Array.isArray(result) ? result.at(-1) : result).rows;
    } finally {
      await client.end();
    }
  }

  /** The address for a role, with settings of the connection. */
  urlOf(role, database = "postgres") {
    return `postgres://${role}@127.0.0.1:${this.port}/${database}`;
  }
}

/** A server, for suites that run with every store. */
export const startServer = () => PostgresServer.start({ max_connections: 200 });

/** A store on a server, which can also be reached through the port of a proxy. */
export async function connectStore(port) {
  const pool = new pg.Pool({
    connectionString: `postgres://postgres@127.0.0.1:${port}/postgres`,
    max: 2,
    connectionTimeoutMillis: 1000,
  });
  pool.on("error", () => {}); // the server ends before the pool
  return { store: new PostgresStore(pool), close: () => pool.end() };
}

/** Starts pgbouncer in transaction mode in front of a server. Returns the address. */
export async function startBouncer(server) {
  const folder = serverFolder();
  const port = await freePort();
  const users = join(folder, "users.txt");
  writeFileSync(users, '"postgres" ""\n');
  const config = join(folder, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `postgres = host=127.0.0.1 port=${server.port} dbname=postgres user=postgres`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "auth_type = trust",
    `auth_file = ${users}`,
    "pool_mode = transaction",
    "default_pool_size = 3",
    "unix_socket_dir =",
    "ignore_startup_parameters = extra_float_digits",
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  const { child, ended } = await startProgram("/usr/sbin/pgbouncer", [config], port, { user });
  const stop = async () => {
    child.kill("SIGINT");
    await ended;
  };
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop };
}
