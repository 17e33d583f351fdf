// Starts child processes under simulated faults: another boot id, other mounts, wrong clocks, failing flushes. Each mounts in its own mount
// namespace, so its mounts disappear however it ends.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { preloadedLibrary } from "../processes/preloaded.mjs";
import { tempDir } from "./temp-dir.mjs";

const program = fileURLToPath(new URL("child-main.mjs", import.meta.url));
const isRoot = process.getuid?.() === 0;
/** The command that runs a program in its own mount namespace. */
export const unshare = ["unshare", ...(isRoot ? [] : ["--map-root-user"]), "--mount"];
/** The options of a process of another user. */
export const NOBODY = { uid: 65534, gid: 65534 };
const isPossible = ([program, ...args], options) => spawnSync(program, args, options).status === 0;
const namespaces = isPossible([...unshare, "true"]);

/** The options of a test that needs a mount namespace; it is skipped where there is none. */
export const withMounts = { skip: !namespaces && "needs unshare --mount" };
/** The options of a test that mounts a file system image, which needs root. */
export const withDisks = {
  skip: !(isRoot && namespaces && isPossible(["losetup", "--find"])) && "needs root, to mount a file system",
};
/** The options of a test that starts a process as another user, which needs root. */
export const withUsers = {
  skip: !isPossible(["test", "-r", program], NOBODY) && "needs root, and a repository that every user may read",
};

/** `Snowflake.local()` detects an orchestrator, or finds the state directory, by these variables: no test may inherit them. */
const READ_BY_LOCAL =
  /^(KUBERNETES_|ECS_|AWS_LAMBDA_|NOMAD_|K_SERVICE|CLOUD_RUN_|CONTAINER_APP_|WEBSITE_|FLY_|DYNO|RENDER|RAILWAY_|SWARM_|STATE_DIRECTORY|XDG_)/;
for (const name of Object.keys(process.env)) if (READ_BY_LOCAL.test(name)) delete process.env[name];
process.env.FRAZIL_BACKEND = "native";

const folder = mkdtempSync(join(tmpdir(), "frazil-system-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (name) => join(folder, `${name}-${++files}`);

/** The path of the compiled `injected-faults.c`. */
const faultLibrary = () => preloadedLibrary(new URL("injected-faults.c", import.meta.url));

/** A switch that makes the next flush to disk fail, and one that forbids all of them, as a sandbox does. */
export function disk() {
  const file = newFile("flush");
  const write = (what = "") => writeFileSync(file + what, "");
  return { file, failOnce: write, forbid: () => write(".forbidden") };
}

/** A switch that stops a process (SIGSTOP): while it opens a state file, after `opened` or after `read`; or before a `flush`. */
export function pause() {
  const file = newFile("pause");
  return { file, once: (what) => writeFileSync(`${file}.${what}`, "") };
}

/** The file of another boot id, for processes that are to run "after another boot". */
export function boot() {
  const file = newFile("boot");
  writeFileSync(file, `${crypto.randomUUID()}\n`);
  return file;
}

/**
 * Starts a process that executes commands. It is killed when the test ends.
 *
 * @param mounts shell commands that run first, in the mount namespace of the process.
 * @param asPid1 whether its process id is 1, as in a container.
 */
export async function start(t, { boot, clocks, disk, pause, mounts = [], asPid1 = false, env = {}, ...options } = {}) {
  const prelude = [...(boot ? [`mount --bind ${boot} /proc/sys/kernel/random/boot_id`] : []), ...mounts];
  const processes = asPid1 ? ["--pid", "--fork", "--kill-child"] : [];
  const inNamespace = [...unshare, ...processes, "sh", "-ec", [...prelude, 'exec "$0" "$@"'].join("\n")];
  const [file, ...args] = [...(asPid1 || prelude.length > 0 ? inNamespace : []), process.execPath, program];
  const libraries = [...(clocks ? [clocks.env.LD_PRELOAD] : []), ...(disk || pause ? [faultLibrary()] : [])];
  const faults = {
    ...clocks?.env,
    ...(libraries.length > 0 && { LD_PRELOAD: libraries.join(":") }),
    ...(disk && { FLUSH: disk.file }),
    ...(pause && { PAUSE: pause.file }),
  };
  const child = spawn(file, args, {
    env: { ...process.env, ...faults, ...env },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    serialization: "advanced",
    ...options,
  });
  const waiting = new Map();
  child.on("message", ({ number, value, error }) => {
    const { resolve, reject } = waiting.get(number);
    waiting.delete(number);
    if (error) reject(Object.assign(new Error(error.message), error));
    else resolve(value);
  });
  const exited = once(child, "exit").then(([code, signal]) => {
    for (const { reject } of waiting.values()) reject(new Error(`the process ended with ${signal ?? code}`));
    return { code, signal };
  });
  t.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let calls = 0;
  const answer = (number) => new Promise((resolve, reject) => waiting.set(number, { resolve, reject }));
  const call = (command, ...args) => {
    const number = ++calls;
    const answered = answer(number);
    child.send({ number, command, args });
    return answered;
  };
  await answer(0);
  return {
    pid: child.pid,
    exited,
    call,
    /** Kills it, by default as the out-of-memory killer does. */
    end(signal = "SIGKILL") {
      child.kill(signal);
      return exited;
    },
    /** Waits until it is stopped (SIGSTOP). */
    untilStopped: () => until(() => /^State:\tT/m.test(readFileSync(`/proc/${child.pid}/status`, "utf8"))),
    resume: () => child.kill("SIGCONT"),
    /** Makes it mint into a file until it gets the command `stop`. */
    async mint(task) {
      await call("mint", task);
      await until(async () => (await call("minted")).issued > 0);
    },
    /** Waits until one of its calls is refused with a code. */
    untilRefused: (code) => until(async () => (await call("minted")).codes[code] > 0),
  };
}

/** A condition that does not hold after this long counts as a failure: a little earlier than the suite ends the test. */
const TIMEOUT_MS = 280_000;

/** Waits until a condition holds, and returns its value. */
export async function until(condition) {
  const started = performance.now();
  while (performance.now() - started < TIMEOUT_MS) {
    const value = await condition();
    if (value) return value;
    await sleep(20);
  }
  throw new Error(`not true within ${TIMEOUT_MS} ms: ${condition}`);
}

/**
 * Opens a state file in a process whose clock stands at `nowMs`, and mints 1,000 IDs two seconds later, all of that time: the same IDs in
 * each process that shares no state with the others.
 */
export async function mintAt(nowMs, { call }, options) {
  await call("freezeClock", nowMs);
  const { path } = await call("open", options);
  // Raises the ceiling, by a time that is later by the wait for its locks: at most a second.
  await call("next", 1);
  // The ceiling is high enough for this time, so there is no wait.
  await call("freezeClock", nowMs + 2000);
  return { path, ids: await call("next", 1000) };
}

/** The IDs of two processes that mint at the same time, each from its own new file. */
export async function idsOfTwoFiles(one, other) {
  const nowMs = Date.now() + 30_000;
  const first = await mintAt(nowMs, one, { dir: tempDir() });
  const second = await mintAt(nowMs, other, { dir: tempDir() });
  return [...first.ids, ...second.ids];
}

/** All IDs in files that children wrote, in the order of the files. */
export function writtenIds(...names) {
  return names.flatMap((name) => {
    const bytes = readFileSync(name);
    return [...new BigUint64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~7)))];
  });
}
