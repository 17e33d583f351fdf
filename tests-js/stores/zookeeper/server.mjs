// Real ZooKeeper servers, in temporary folders and on loopback, that tests start, stop and kill, alone or three together.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ZooKeeperStore } from "frazil/stores/zookeeper";
import zookeeper from "node-zookeeper-client";
import { installed, ServerProcess, serverFolder, startOnFreePorts } from "../kit/server-process.mjs";

const JARS = "/etc/zookeeper/conf:/usr/share/java/*";
/** Options for a small JVM that starts fast beside others. */
const JVM = [
  "-Xmx160m",
  "-Xss512k",
  "-XX:+UseSerialGC",
  "-XX:TieredStopAtLevel=1",
  "-Dzookeeper.admin.enableServer=false",
];

const COMMON = ["tickTime=500", "syncLimit=20", "initLimit=40", "maxClientCnxns=0", "4lw.commands.whitelist=*"];

class ZooKeeperServer extends ServerProcess {
  /** `lines`: of its configuration. `properties`: of its JVM. `id`: its number among servers that elect a leader. */
  constructor({ port, env, properties = {}, lines, id }) {
    super({ port, env });
    Object.assign(this, { properties, folder: serverFolder() });
    const data = join(this.folder, "data");
    mkdirSync(data, { recursive: true });
    if (id !== undefined) writeFileSync(join(data, "myid"), `${id}\n`);
    this.config = join(this.folder, "zoo.cfg");
    writeFileSync(this.config, `${[...COMMON, `dataDir=${data}`, ...lines].join("\n")}\n`);
  }

  commandLine() {
    installed("ZooKeeper", "stores-zookeeper", "/usr/share/java/zookeeper.jar");
    const properties = Object.entries(this.properties).map(([name, value]) => `-D${name}=${value}`);
    const main = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    return ["/usr/bin/java", ...JVM, ...properties, "-cp", JARS, main, this.config];
  }

  /** Resolves when it takes sessions. */
  async ready() {
    closeClient(await connectClient(this.port));
  }
}

const clientAddress = (port) => [`clientPort=${port}`, "clientPortAddress=127.0.0.1"];

/**
 * A server alone. `env`: variables of its process. `lines`: of its configuration. `properties`: of its JVM. `isQuorum`: it
 * elects itself, so that each of its starts is an epoch.
 */
export const startServer = ({ env, lines = [], properties, isQuorum = false } = {}) =>
  startOnFreePorts(3, ([port, ...peers]) => {
    const quorum = [
      "standaloneEnabled=false",
      "reconfigEnabled=true",
      `server.1=127.0.0.1:${peers.join(":")}:participant;127.0.0.1:${port}`,
    ];
    const address = isQuorum ? quorum : clientAddress(port);
    return new ZooKeeperServer({ port, env, properties, lines: [...address, ...lines], id: isQuorum ? 1 : undefined });
  });

/** Three servers that elect a leader. `lines` and `properties` are for each. */
export const startEnsemble = ({ lines = [], properties } = {}) =>
  startOnFreePorts(9, (ports) => {
    const ids = [1, 2, 3];
    const peers = ids.map((id) => `server.${id}=127.0.0.1:${ports[id + 2]}:${ports[id + 5]}`);
    return ids.map((id) => {
      const port = ports[id - 1];
      return new ZooKeeperServer({ port, properties, lines: [...clientAddress(port), ...peers, ...lines], id });
    });
  });

/**
 * A connected client. `auth`: a user and a password for the scheme digest. A server that starts may leave the first connections
 * without an answer, and the client waits for it without end: then another one is made, until the signal aborts.
 */
export async function connectClient(port, { auth, chroot = "", sessionTimeout = 10_000, signal } = {}) {
  for (;;) {
    signal?.throwIfAborted();
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

/** A store with its own client, which draws another when a session has ended. */
export async function connectStore(port, options = {}) {
  const { client: clientOptions, ...rest } = options;
  const clients = [];
  const closed = new AbortController();
  const store = new ZooKeeperStore(async () => {
    const client = await connectClient(port, { ...clientOptions, signal: closed.signal });
    if (closed.signal.aborted) closeClient(client);
    clients.push(client);
    return client;
  }, rest);
  const close = async () => {
    // A store whose server has ended may be about to make another client.
    closed.abort();
    for (const client of clients) closeClient(client);
  };
  return { store, clients, close };
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
