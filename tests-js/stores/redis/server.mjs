// Real servers of Redis and Valkey, in temporary folders and on loopback, that tests start, stop, kill, pause and promote.
import { existsSync } from "node:fs";
import { RedisStore } from "frazil/stores/redis";
import { createClient } from "redis";
import { tools } from "../../../scripts/tools.mjs";
import { freePort, serverFolder, startProgram } from "../server-process.mjs";

/** The server of Valkey, or undefined if it is not installed. */
export const valkey = existsSync(tools.valkey) ? tools.valkey : undefined;

/** An open client of `redis`. It goes on connecting while its server is down, and says nothing about it. */
export async function openClient(port, { create = createClient, ...options } = {}) {
  const client = create({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: 20 }, ...options });
  client.on("error", () => {});
  await client.connect();
  return client;
}

export class RedisServer {
  #running;
  #args;
  constructor({ program = "/usr/bin/redis-server", port, settings, env }) {
    const all = { dir: serverFolder(), port, bind: "127.0.0.1", appendonly: "yes", appendfsync: "always", ...settings };
    Object.assign(this, { program, port, env });
    this.#args = [
      "--save",
      "",
      ...Object.entries(all).flatMap(([name, value]) => [`--${name}`, ...`${value}`.split(" ")]),
    ];
  }

  async start() {
    this.#running = await startProgram(this.program, this.#args, this.port, { env: this.env });
    // The port is open before the server has read its files.
    while (/^loading:1/m.test(await this.command("INFO", "persistence")))
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** Ends it in an orderly way. */
  async stop() {
    if (this.#running === undefined) return;
    const { child, ended } = this.#running;
    this.#running = undefined;
    child.kill("SIGCONT");
    child.kill("SIGTERM");
    await ended;
  }

  /** Ends it as a crash does. */
  async crash() {
    const { child, ended } = this.#running;
    this.#running = undefined;
    child.kill("SIGKILL");
    await ended;
  }

  /** Sends a signal to the server, such as `"SIGSTOP"`. */
  signal(name) {
    this.#running.child.kill(name);
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
export async function startServer({ program, settings, env, port } = {}) {
  const server = new RedisServer({ program, settings, env, port: port ?? (await freePort()) });
  await server.start();
  return server;
}

/** A store with a client of its own. `options`: of the store. */
export async function connectStore(port, options) {
  const client = await openClient(port);
  return { store: new RedisStore(client, options), client, close: () => client.destroy() };
}
