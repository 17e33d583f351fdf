// Real servers in temporary folders and on loopback: what tests of all stores start, signal and end them with.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
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

/**
 * A clock that tests move, for one server: `env` is for its process, and `jump` steps the clock. Not for Go programs, which ask
 * the kernel without the C library.
 */
export function movableClock() {
  const file = join(serverFolder(), "clock");
  let offsetMs = 0;
  const jump = async (ms) => {
    offsetMs += ms;
    // Atomic, so that the server does not read half a number.
    writeFileSync(`${file}.new`, `${offsetMs < 0 ? "" : "+"}${offsetMs / 1000}s\n`);
    renameSync(`${file}.new`, file);
  };
  jump(0);
  const env = {
    LD_PRELOAD: "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    DONT_FAKE_MONOTONIC: "1",
  };
  return { env, jump };
}

/** A free port. */
export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

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

/** Starts a program, and resolves when the port answers. `env`: variables besides those of this process. */
export async function startProgram(path, args, port, { user, env = {} } = {}) {
  // Set behind `setpriv`: libfaketime keeps its state by user.
  const variables = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  const [program, ...rest] = [...asUser(user), "env", ...variables, path, ...args];
  const child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"], cwd: tmpdir() });
  servers.add(child);
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      log = `${log}${chunk}`.slice(-4000);
    });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  ended.then(() => servers.delete(child));
  for (let tries = 0; ; tries++) {
    if (child.exitCode !== null || tries === 1200) throw new Error(`${path} did not start: ${log}`);
    if (await answers(port)) break;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return { child, ended };
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
