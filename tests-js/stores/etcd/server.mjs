// Real etcd members, in temporary folders and on loopback, that tests start, stop, kill, restore and join to a cluster.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EtcdStore } from "frazil/stores/etcd";
import { installed, ServerProcess, serverFolder, startOnFreePorts } from "../kit/server-process.mjs";

const CLIENT = "/usr/bin/etcdctl";
const TOKEN = "frazil-tests";

/** A member of a cluster. */
export class EtcdServer extends ServerProcess {
  constructor({ name, port, peerPort, cluster, token, args }) {
    super({ port });
    Object.assign(this, { name, peerPort, cluster, token, args });
    this.data = join(serverFolder(), "data");
    this.url = `http://127.0.0.1:${port}`;
  }

  commandLine() {
    const peer = `http://127.0.0.1:${this.peerPort}`;
    return [
      installed("etcd", "stores-etcd", "/usr/bin/etcd"),
      `--name=${this.name}`,
      `--data-dir=${this.data}`,
      `--listen-client-urls=${this.url}`,
      `--advertise-client-urls=${this.url}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${this.cluster}`,
      `--initial-cluster-token=${this.token}`,
      "--logger=zap",
      "--log-level=error",
      ...this.args,
    ];
  }

  async ready() {
    // The port is open before the cluster has a leader.
    for (let tries = 0; ; tries++) {
      try {
        const answer = await this.call("kv/range", { key: btoa("none") });
        // With authentication, and of a learner, a refusal is an answer as well.
        if (answer.header || answer.code === 3 || /learner/.test(answer.message)) return;
      } catch {
        // no answer yet
      }
      if (tries === 400) throw new Error("etcd has no leader");
      await sleep(25);
    }
  }

  /** Calls the gateway. */
  async call(path, body = {}) {
    const signal = AbortSignal.timeout(1000);
    const response = await fetch(`${this.url}/v3/${path}`, { method: "POST", body: JSON.stringify(body), signal });
    return response.json();
  }

  /** Runs etcdctl against this member. Returns what it prints. `input` is its standard input. */
  etcdctl(args, { input, user } = {}) {
    const options = [`--endpoints=${this.url}`, ...(user ? [`--user=${user}`] : [])];
    const env = { ...process.env, ETCDCTL_API: "3" };
    const result = spawnSync(CLIENT, [...options, ...args], { encoding: "utf8", input, cwd: tmpdir(), env });
    if (result.error) throw result.error;
    if (result.status !== 0) throw new Error(`etcdctl ${args.join(" ")} failed: ${result.stderr}${result.stdout}`);
    return result.stdout;
  }

  /** Saves a snapshot. Returns its file. */
  save() {
    const file = join(serverFolder(), "snapshot.db");
    this.etcdctl(["snapshot", "save", file]);
    return file;
  }

  /** Replaces all data by a snapshot, as after a disaster, and starts. `token`: another one makes another cluster id. */
  async restore(file, { token = this.token, flags = [] } = {}) {
    await this.crash();
    this.token = token;
    this.data = join(serverFolder(), "data");
    const peer = `http://127.0.0.1:${this.peerPort}`;
    this.etcdctl([
      "snapshot",
      "restore",
      file,
      `--name=${this.name}`,
      `--data-dir=${this.data}`,
      `--initial-cluster=${this.cluster}`,
      `--initial-cluster-token=${this.token}`,
      `--initial-advertise-peer-urls=${peer}`,
      ...flags,
    ]);
    if (!existsSync(this.data)) throw new Error("nothing was restored");
    await this.start();
  }
}

/** Starts a cluster of that many members. `args`: further flags of etcd. */
export const startCluster = (count, args = []) =>
  startOnFreePorts(2 * count, (ports) => {
    const members = Array.from({ length: count }, (_, at) => ({
      name: `m${at}`,
      port: ports[2 * at],
      peerPort: ports[2 * at + 1],
    }));
    const cluster = members.map(({ name, peerPort }) => `${name}=http://127.0.0.1:${peerPort}`).join(",");
    return members.map((member) => new EtcdServer({ ...member, cluster, token: TOKEN, args }));
  });

/** Starts a cluster of one member. */
export async function startServer({ args = [] } = {}) {
  const [server] = await startCluster(1, args);
  return server;
}

/** A store of a server on this host. */
export async function connectStore(port, options = {}) {
  const store = new EtcdStore({ endpoints: [`http://127.0.0.1:${port}`], ...options });
  return { store, close: async () => {} };
}

/** A `fetch` that sees the clocks of all members moved by so much: etcd, a Go program, asks the kernel for the time. */
export function movableFetch(inner = fetch) {
  let offsetMs = 0;
  const moved = async (url, init) => {
    const response = await inner(url, init);
    const { status } = response;
    const date = new Date(Date.parse(response.headers.get("date")) + offsetMs).toUTCString();
    return { status, headers: { get: (name) => (name === "date" ? date : null) }, text: () => response.text() };
  };
  const jump = async (ms) => {
    offsetMs += ms;
  };
  return { fetch: moved, jump };
}
