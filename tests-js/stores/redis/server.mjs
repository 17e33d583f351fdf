// Real servers of Redis and Valkey, in temporary folders and on loopback, that tests start, stop, kill, pause and promote.
import { readFileSync } from "node:fs";
import { RedisStore } from "frazil/stores/redis";
import { createClient } from "redis";
import { tools } from "../../../scripts/tools.mjs";
import { startProxy } from "../kit/cut-proxy.mjs";
import { installed, ServerProcess, serverFolder, startOnFreePorts } from "../kit/server-process.mjs";

const redis = "/usr/bin/redis-server";
/** The server of Valkey. */
export const { valkey } = tools;

/** An open client of `redis`. It goes on connecting while its server is down, and says nothing about it. */
export async function openClient(port, { create = createClient, ...options } = {}) {
  const client = create({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: 20 }, ...options });
  client.on("error", () => {});
  await client.connect();
  return client;
}

class RedisServer extends ServerProcess {
  #args;
  constructor({ program = redis, port, settings, env }) {
    super({ port, env });
    const folder = serverFolder();
    const all = {
      dir: folder,
      port,
      bind: "127.0.0.1",
      appendonly: "yes",
      appendfsync: "always",
      // Neither waits for more replicas, nor for one that lags.
      "repl-diskless-sync-delay": 0,
      "shutdown-timeout": 0,
      ...settings,
    };
    Object.assign(this, { program, folder });
    this.#args = [
      "--save",
      "",
      ...Object.entries(all).flatMap(([name, value]) => [`--${name}`, ...`${value}`.split(" ")]),
    ];
  }

  commandLine() {
    return [installed(this.program === redis ? "Redis" : "Valkey", "stores-redis", this.program), ...this.#args];
  }

  async ready() {
    // The port is open before the server has read its files.
    while (/^loading:1/m.test(await this.command("INFO", "persistence")))
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async stop() {
    // A server that still writes its first file refuses to end.
    const again = setInterval(() => this.signal("SIGTERM"), 200);
    await super.stop();
    clearInterval(again);
  }

  /** Runs commands one after the other, with no other client's between them. Each is an array. Returns their replies. */
  async commands(...commands) {
    const client = await openClient(this.port);
    try {
      return await Promise.all(commands.map((command) => client.sendCommand(command.map(String))));
    } finally {
      await client.close();
    }
  }

  async command(...command) {
    const [reply] = await this.commands(command);
    return `${reply}`;
  }

  /** Gives the server another history, with all of its keys, as a promotion does. */
  async promote() {
    await this.commands(["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"]);
  }

  /** A replica that has what this server has. */
  async replica(settings = {}) {
    const replica = await startServer({ program: this.program, settings });
    await replica.command("REPLICAOF", "127.0.0.1", this.port);
    while (!/^master_link_status:up/m.test(await replica.command("INFO", "replication")))
      await new Promise((resolve) => setTimeout(resolve, 20));
    return replica;
  }
}

/**
 * Starts a server that flushes each write. `program`: another one than the installed Redis. `settings`: those of its
 * configuration. `env`: variables of its process.
 */
export const startServer = ({ program, settings, env } = {}) =>
  startOnFreePorts(1, ([port]) => new RedisServer({ program, settings, env, port }));

/**
 * A primary, and a replica that follows it through a proxy, `link`. If that is cut, the primary does not know it yet. Both end with the
 * test.
 */
export async function replicatedPair(context, { program } = {}) {
  const primary = await startServer({ program, settings: { "min-replicas-to-write": 1, "min-replicas-max-lag": 60 } });
  context.after(() => primary.stop());
  const link = await startProxy(primary.port);
  const replica = await primary.replica();
  context.after(() => replica.stop());
  const shows = async (server, line) => {
    while (!line.test(await server.command("INFO", "replication")))
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await replica.command("REPLICAOF", "127.0.0.1", link.port);
  await shows(replica, /^master_link_status:up/m);
  // The link of before is gone, and the one through the proxy is alive.
  await shows(primary, /^connected_slaves:1/m);
  await shows(primary, /^min_slaves_good_slaves:1/m);
  context.after(() => link.close());
  return { primary, replica, link };
}

/** What the kernel keeps for a server that stands still: how many of its connections have bytes to read, and how many have ended. */
export function unreadBy({ port }) {
  const address = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  const sockets = lines.map((line) => line.trim().split(/\s+/)).filter(([, local]) => local.endsWith(address));
  return {
    written: sockets.filter(([, , , , queues]) => Number.parseInt(queues.split(":")[1], 16) > 0).length,
    ended: sockets.filter(([, , , state]) => state === "08").length, // CLOSE_WAIT
  };
}

/** A store with its own client. `options`: of the store. */
export async function connectStore(port, options) {
  const client = await openClient(port);
  return { store: new RedisStore(client, options), client, close: () => client.destroy() };
}
