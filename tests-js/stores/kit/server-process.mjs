// Real servers in temporary folders and on loopback: what tests of all stores start, signal and end them with.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders = new Set();
const servers = new Set();
process.once("exit", () => {
  for (const child of servers) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new folder that every user may write to. It is removed when this process ends. */
export function serverFolder() {
  const folder = mkdtempSync(join(tmpdir(), "frazil-stores-"));
  folders.add(folder);
  chmodSync(folder, 0o777);
  return folder;
}

/** The ports that `freePort` has returned. */
const given = new Set();

/**
 * A port that is free now. It is below those that the kernel takes for connections and for port 0 (32768 and up). So only another call of
 * this function, in another process, can take it before its server starts, or while its server is down.
 */
export async function freePort() {
  for (;;) {
    const port = 12_000 + Math.floor(20_000 * Math.random());
    if (!given.has(port) && (await isFree(port))) {
      given.add(port);
      return port;
    }
  }
}

const isFree = (port) =>
  new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

const allFree = async (ports) => (await Promise.all(ports.map(isFree))).every(Boolean);

/**
 * Starts what `make(ports)` makes of that many free ports: one server, or a list of servers that need each other to start. If a port was
 * taken meanwhile, others are made with other ports.
 */
export async function startOnFreePorts(count, make, tries = 3) {
  const ports = [];
  while (ports.length < count) ports.push(await freePort());
  const made = await make(ports);
  const all = [made].flat();
  const results = await Promise.allSettled(all.map((server) => server.start()));
  const failed = results.find(({ status }) => status === "rejected");
  if (failed === undefined) return made;
  await Promise.all(all.map((server) => server.crash()));
  // Not every server writes why it ended.
  const isTaken = /address already in use/i.test(failed.reason.message) || !(await allFree(ports));
  if (tries === 1 || !isTaken) throw failed.reason;
  return startOnFreePorts(count, make, tries - 1);
}

/** The error of a server that did not start. By the code the reporter, scripts/test/reporter.mjs, knows it. */
const notStarted = (path, why) =>
  Object.assign(new Error(`${path} did not start: ${why}`), { code: "SERVER_NOT_STARTED" });

/** The path of a program of a server. `path` is undefined if it was looked for, and not found. `suite` installs it. */
export function installed(title, suite, path) {
  if (path === undefined || !existsSync(path)) throw new Error(`${title} is missing: npm test -- ${suite} installs it`);
  return path;
}

/** The command that runs a program as a user, if this process may choose. It ends with this process, however that ends. */
const asUser = (user) => [
  "setpriv",
  ...(user !== undefined && process.getuid() === 0 ? [`--reuid=${user}`, `--regid=${user}`, "--clear-groups"] : []),
  "--pdeathsig=KILL",
  "--",
];

/** Runs a program to its end. `user`: as whom (default: as this process). */
export function runProgram(path, args, { user } = {}) {
  const [program, ...rest] = [...asUser(user), path, ...args];
  const { status, stderr, error } = spawnSync(program, rest, { encoding: "utf8", cwd: tmpdir() });
  if (error) throw error;
  if (status !== 0) throw new Error(`${path} failed: ${stderr}`);
}

/**
 * A server on a port of loopback that tests start, stop, signal and kill. A class of servers says what its program is, and may say
 * when it serves.
 */
export class ServerProcess {
  #running;

  /** `user`: as whom the program runs (default: as this process). `env`: variables besides those of this process. */
  constructor({ port, user, env = {} }) {
    Object.assign(this, { port, user, env });
  }

  /** The path of the program, and its arguments. */
  commandLine() {
    throw new Error(`${this.constructor.name} has no command line`);
  }

  /** Resolves when the server serves. Its port is open by then. */
  async ready() {}

  async start() {
    const [path, ...args] = this.commandLine();
    // Set behind `setpriv`: libfaketime keeps its state by user.
    const variables = Object.entries(this.env).map(([key, value]) => `${key}=${value}`);
    const [program, ...rest] = [...asUser(this.user), "env", ...variables, path, ...args];
    // It would be taken for the server until that ends.
    if (await answers(this.port)) throw notStarted(path, `${this.port}: address already in use`);
    const child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"], cwd: tmpdir() });
    servers.add(child);
    let log = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        log = `${log}${chunk}`.slice(-4000);
      });
    const closed = new Promise((resolve) => child.once("close", resolve));
    const ended = new Promise((resolve) => child.once("exit", resolve));
    ended.then(() => servers.delete(child));
    this.#running = { child, ended };
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
    for (let tries = 0; ; tries++) {
      if (hasEnded() || tries === 1200) {
        // Its last output.
        if (hasEnded()) await closed;
        throw notStarted(path, log);
      }
      if (await answers(this.port)) break;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    await this.ready();
  }

  /** The id of the process while it runs. */
  get pid() {
    return this.#running?.child.pid;
  }

  /** Sends a signal to the server, such as `"SIGSTOP"`. */
  signal(name) {
    this.#running?.child.kill(name);
  }

  /** Ends it in an orderly way. */
  stop() {
    return this.end("SIGTERM");
  }

  /** Ends it as a crash of its process does. */
  crash() {
    return this.end("SIGKILL");
  }

  /** Ends it by a signal. */
  async end(signal) {
    const running = this.#running;
    if (running === undefined) return;
    running.child.kill(signal);
    // A stopped process takes a signal other than SIGKILL only when it goes on.
    this.signal("SIGCONT");
    await running.ended;
    if (this.#running === running) this.#running = undefined;
  }
}

/** Whether something listens on a port. An open connection without a word would hold up the end of a server for a minute. */
const answers = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const close = (is) => () => {
      socket.destroy();
      resolve(is);
    };
    socket.once("connect", close(true));
    socket.once("error", close(false));
  });
