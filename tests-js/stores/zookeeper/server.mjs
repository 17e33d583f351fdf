// Real ZooKeeper servers, in temporary folders and on loopback, that tests start, stop and kill, alone or three together.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ZooKeeperStore } from "frazil/stores/zookeeper";
import zookeeper from "node-zookeeper-client";
import { freePort, serverFolder, startProgram } from "../server-process.mjs";

const JARS = "/etc/zookeeper/conf:/usr/share/java/*";
/** What a JVM needs to be small and to start fast beside others. */
const JVM = [
  "-Xmx160m",
  "-Xss512k",
  "-XX:+UseSerialGC",
  "-XX:TieredStopAtLevel=1",
  "-Dzookeeper.admin.enableServer=false",
];

class Server {
  #running;
  constructor(folder, port, { env = {}, properties = {}, lines }) {
    Object.assign(this, { folder, port, env, properties });
    mkdirSync(join(folder, "data"), { recursive: true });
    this.config = join(folder, "zoo.cfg");
    writeFileSync(this.config, `${lines.join("\n")}\n`);
  }

  /** The state of the process, for tests that send it signals. */
  get pid() {
    return this.#running?.child.pid;
  }

  /** Starts it again, with what is in its folder. Resolves when it takes sessions. */
  async start() {
    await this.launch();
    await serves(this.port);
  }

  /** Starts its process. One of several serves when they have elected a leader. */
  async launch() {
    if (!existsSync("/usr/share/java/zookeeper.jar"))
      throw new Error("ZooKeeper is missing: apt-get install zookeeper");
    const properties = Object.entries(this.properties).map(([name, value]) => `-D${name}=${value}`);
    const main = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    const args = [...JVM, ...properties, "-cp", JARS, main, this.config];
    this.#running = await startProgram("/usr/bin/java", args, this.port, { env: this.env });
  }

  async #end(signal) {
    if (this.#running === undefined) return;
    const { child, ended } = this.#running;
    this.#running = undefined;
    child.kill(signal);
    // A stopped process takes a signal other than SIGKILL only when it goes on.
    child.kill("SIGCONT");
    await ended;
  }

  stop() {
    return this.#end("SIGTERM");
  }

  crash() {
    return this.#end("SIGKILL");
  }

  signal(name) {
    this.#running.child.kill(name);
  }
}

const COMMON = ["tickTime=500", "syncLimit=20", "initLimit=40", "maxClientCnxns=0", "4lw.commands.whitelist=*"];

/**
 * A server alone. `env`: variables of its process. `lines`: of its configuration. `properties`: of its JVM. `isQuorum`: it
 * elects itself, so that each of its starts is an epoch.
 */
export async function startServer({ env, lines = [], properties, isQuorum = false } = {}) {
  const [folder, port] = [serverFolder(), await freePort()];
  const quorum = async () => [
    "standaloneEnabled=false",
    "reconfigEnabled=true",
    `server.1=127.0.0.1:${await freePort()}:${await freePort()}:participant;127.0.0.1:${port}`,
  ];
  const address = isQuorum ? await quorum() : [`clientPort=${port}`, "clientPortAddress=127.0.0.1"];
  const all = [...COMMON, `dataDir=${join(folder, "data")}`, ...address, ...lines];
  const server = new Server(folder, port, { env, properties, lines: all });
  if (isQuorum) writeFileSync(join(folder, "data", "myid"), "1\n");
  await server.start();
  return server;
}

/** Three servers that elect a leader. `lines` and `properties` are for each. */
export async function startEnsemble({ lines = [], properties } = {}) {
  const ids = [1, 2, 3];
  const peers = await Promise.all(ids.map(async () => [await freePort(), await freePort(), await freePort()]));
  const addresses = ids.map((id, at) => `server.${id}=127.0.0.1:${peers[at][0]}:${peers[at][1]}`);
  const servers = ids.map((id, at) => {
    const folder = serverFolder();
    const port = peers[at][2];
    const own = [`dataDir=${join(folder, "data")}`, `clientPort=${port}`, "clientPortAddress=127.0.0.1"];
    const server = new Server(folder, port, { properties, lines: [...COMMON, ...own, ...addresses, ...lines] });
    writeFileSync(join(folder, "data", "myid"), `${id}\n`);
    return server;
  });
  await Promise.all(servers.map((server) => server.start()));
  return servers;
}

/**
 * A connected client. `auth`: a user and a password for the scheme digest. A server that starts may leave the first connections
 * without an answer, and the client waits for it without end: then another one is made.
 */
export async function connectClient(port, { auth, chroot = "", sessionTimeout = 10_000 } = {}) {
  for (;;) {
    const client = zookeeper.createClient(`127.0.0.1:${port}${chroot}`, { sessionTimeout, spinDelay: 50 });
    if (auth) client.addAuthInfo("digest", Buffer.from(auth));
    const connected = new Promise((resolve) => client.once("connected", () => resolve(true)));
    client.connect();
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, 1500);
    });
    const isConnected = await Promise.race([connected, late]);
    clearTimeout(timer);
    if (isConnected) return client;
    closeClient(client);
  }
}

/**
 * Ends a client. Its own `close()` is for one with a session: one that connects would go on, and throw when it is answered.
 */
export function closeClient(client) {
  const manager = client.connectionManager;
  manager.connect = () => {};
  manager.findNextServer = () => {};
  manager.socket?.unref();
  if (client.getState().getName() !== "SYNC_CONNECTED") return manager.socket?.destroy();
  client.close();
  setTimeout(() => manager.socket?.destroy(), 100).unref();
}

/** A store with a client of its own, which draws another when a session has ended. */
export async function connectStore(port, options = {}) {
  const { client: clientOptions, ...rest } = options;
  const clients = [];
  const store = new ZooKeeperStore(async () => {
    const client = await connectClient(port, clientOptions);
    clients.push(client);
    return client;
  }, rest);
  const close = async () => {
    for (const client of clients) closeClient(client);
  };
  return { store, clients, close };
}

/** Resolves when a server takes sessions. */
async function serves(port) {
  closeClient(await connectClient(port));
}

/** A call of a client as a promise. */
export const call = (client, name, ...args) =>
  new Promise((resolve, reject) => {
    client[name](...args, (error, ...results) => (error ? reject(error) : resolve(results)));
  });

/** Runs a command of the real zkCli. */
export function zkCli(port, ...words) {
  const main = "org.apache.zookeeper.ZooKeeperMain";
  const args = ["-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp", JARS, main, "-server", `127.0.0.1:${port}`, ...words];
  return execFileSync("/usr/bin/java", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
