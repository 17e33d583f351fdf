// Real Postgres servers, in temporary folders and on loopback, that tests start, stop, kill and promote.
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import { installed, runProgram, ServerProcess, serverFolder, startOnFreePorts } from "../kit/server-process.mjs";

/** The path of one of the server's programs: in the folder `FRAZIL_POSTGRES`, or else in the newest version of Debian's packages. */
export const program = (name) => {
  const top = "/usr/lib/postgresql";
  const versions = existsSync(top) ? readdirSync(top).sort((a, b) => Number(a) - Number(b)) : [];
  const folders = versions.map((version) => join(top, version, "bin"));
  const paths = [...folders, process.env.FRAZIL_POSTGRES ?? ""].map((folder) => join(folder, name));
  return installed("Postgres", "stores-postgres", paths.findLast(existsSync));
};

const CANNOT_CONNECT_NOW = "57P03";

/** The server refuses to run as root. */
const user = "postgres";
const runPostgres = (name, ...args) => runProgram(program(name), args, { user });

export class PostgresServer extends ServerProcess {
  constructor(port, env) {
    super({ port, user, env });
    this.data = join(serverFolder(), "data");
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  /** Makes a server and starts it. `settings`: lines of its configuration. `env`: variables of its process. */
  static start(settings = {}, env = {}) {
    return startOnFreePorts(1, ([port]) => {
      const server = new PostgresServer(port, env);
      const locale = ["--locale=C", "--encoding=UTF8", "--username=postgres", "--auth=trust"];
      runPostgres("initdb", "--pgdata", server.data, ...locale, "--no-sync");
      server.configure({ listen_addresses: "127.0.0.1", port, unix_socket_directories: "", ...settings });
      return server;
    });
  }

  /** An asynchronous standby of this server. */
  standby() {
    return startOnFreePorts(1, ([port]) => {
      const other = new PostgresServer(port);
      const from = ["--host=127.0.0.1", `--port=${this.port}`, "--username=postgres", "--pgdata", other.data];
      runPostgres("pg_basebackup", ...from, "--write-recovery-conf", "--checkpoint=fast", "--no-sync");
      other.configure({ port });
      return other;
    });
  }

  configure(settings) {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(this.data, "postgresql.conf"), lines.join(""));
  }

  commandLine() {
    return [program("postgres"), "-D", this.data];
  }

  async ready() {
    // The port is open before the server takes statements.
    for (let tries = 0; ; tries++) {
      try {
        await this.query("SELECT 1");
        return;
      } catch (error) {
        if (tries >= 200 && error.code !== CANNOT_CONNECT_NOW) throw error; // it may recover for long
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    }
  }

  /** Ends it in an orderly way, without waiting for clients. */
  stop() {
    return this.end("SIGINT");
  }

  /** Ends it as a crash of all its processes does: what was not written is lost. */
  crash() {
    // The server's own way: it ends without a checkpoint, and flushes nothing.
    return this.end("SIGQUIT");
  }

  /** Signals the server and its children. One that has ended meanwhile is left out. */
  signal(name) {
    const { pid } = this;
    if (pid === undefined) return;
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

/** A server, and a standby that follows it until it is cut off. */
export async function replicatedPair() {
  const primary = await PostgresServer.start({ wal_level: "replica", max_wal_senders: 4, autovacuum: "off" });
  const replica = await primary.standby();
  async function cutOff() {
    await replica.stop();
    replica.configure({ primary_conninfo: "" });
  }
  async function promote() {
    await replica.start();
    await replica.promote();
  }
  return { primary, replica, cutOff, promote };
}

/**
 * A pool of connections. Its connections may outlive it: `pool.end()` resolves before they are closed, and what a server that stops
 * tells them would end this process.
 */
export const poolTo = (connectionString, more) => new pg.Pool({ connectionString, ...more }).on("error", () => {});

/** A store on a server, which can also be reached through the port of a proxy. */
export async function connectStore(port) {
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const pool = poolTo(url, { max: 2, connectionTimeoutMillis: 1000 });
  return { store: new PostgresStore(pool), close: () => pool.end() };
}

/** pgbouncer in transaction mode in front of a server. */
class Bouncer extends ServerProcess {
  constructor(server, port) {
    super({ port, user });
    const folder = serverFolder();
    const users = join(folder, "users.txt");
    writeFileSync(users, '"postgres" ""\n');
    this.config = join(folder, "pgbouncer.ini");
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
    writeFileSync(this.config, `${lines.join("\n")}\n`);
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  commandLine() {
    return [installed("pgbouncer", "stores-postgres", "/usr/sbin/pgbouncer"), this.config];
  }

  stop() {
    return this.end("SIGINT");
  }
}

/** Starts pgbouncer in transaction mode in front of a server, at the address `url`. */
export const startBouncer = (server) => startOnFreePorts(1, ([port]) => new Bouncer(server, port));
