// Processes of their own, on a machine that can be given faults: another boot, other mounts, wrong clocks, failing flushes.
// What is mounted is mounted in a namespace of the process, so it is gone when that is, however it ends.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("child-main.mjs", import.meta.url));
const isRoot = process.getuid?.() === 0;
const unshare = ["unshare", ...(isRoot ? [] : ["--map-root-user"]), "--mount"];
const namespaces = spawnSync(unshare[0], [...unshare.slice(1), "true"]).status === 0;

/** What to skip a test with that needs mounts of its own. */
export const withMounts = { skip: !namespaces && "needs unshare --mount" };
/** The same for tests that mount a file system of their own making. */
export const withDisks = { skip: !(isRoot && namespaces) && "takes root, to mount a file system" };

/** By these variables an orchestrator shows, or says where state goes: no test may inherit them. */
const MEANINGFUL =
  /^(KUBERNETES_|ECS_|AWS_LAMBDA_|NOMAD_|K_SERVICE|CONTAINER_APP_|FLY_|DYNO|SWARM_|STATE_DIRECTORY|XDG_)/;
for (const name of Object.keys(process.env)) if (MEANINGFUL.test(name)) delete process.env[name];
process.env.FRAZIL_BACKEND = "native";

const folder = mkdtempSync(join(tmpdir(), "frazil-system-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (name) => join(folder, `${name}-${++files}`);

let library;
/** The faults of `injected-faults.c`, compiled. */
function system() {
  if (library === undefined) {
    library = join(folder, "injected-faults.so");
    const source = fileURLToPath(new URL("injected-faults.c", import.meta.url));
    execFileSync("cc", ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source]);
  }
  return library;
}

/** The clocks of a machine, which processes are started with. */
export function clocks({ wallMs = 0, bootMs = 0 } = {}) {
  const file = newFile("clocks");
  const set = ({ wallMs = 0, bootMs = 0 }) =>
    writeFileSync(
      file,
      new Uint8Array(BigInt64Array.of(BigInt(wallMs) * 1_000_000n, BigInt(bootMs) * 1_000_000n).buffer),
      {
        flag: "r+",
      },
    );
  writeFileSync(file, "");
  set({ wallMs, bootMs });
  return { file, set };
}

/** A disk whose next flush can be made to fail. */
export function disk() {
  const file = newFile("flush");
  return { file, failOnce: (what = "") => writeFileSync(file + what, "") };
}

/** A place in the opening of a state file at which a process can be made to stop itself: `opened` or `read`. */
export function pause() {
  const file = newFile("pause");
  return { file, once: (what) => writeFileSync(`${file}.${what}`, "") };
}

/** Another boot of the machine, which processes are started in. */
export function boot() {
  const file = newFile("boot");
  writeFileSync(file, `${crypto.randomUUID()}\n`);
  return file;
}

/**
 * Starts a process that takes commands, and ends it with the test.
 *
 * @param mounts commands of the shell that run first, in the namespace of the process.
 * @param first whether its process id is 1, as in a container.
 */
export async function start(t, { boot, clocks, disk, pause, mounts = [], first = false, env = {}, ...options } = {}) {
  const prelude = [...(boot ? [`mount --bind ${boot} /proc/sys/kernel/random/boot_id`] : []), ...mounts];
  const processes = first ? ["--pid", "--fork", "--kill-child"] : [];
  const inNamespace = [...unshare, ...processes, "sh", "-ec", [...prelude, 'exec "$0" "$@"'].join("\n")];
  const [file, ...args] = [...(first || prelude.length > 0 ? inNamespace : []), process.execPath, program];
  const faults = {
    ...((clocks || disk || pause) && { LD_PRELOAD: system() }),
    ...(clocks && { CLOCKS: clocks.file }),
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
    /** Ends it, by default as an out-of-memory killer does. */
    end(signal = "SIGKILL") {
      child.kill(signal);
      return exited;
    },
    /** Waits until it has stopped. */
    stopped: () => until(() => /^State:\tT/m.test(readFileSync(`/proc/${child.pid}/status`, "utf8"))),
    go: () => child.kill("SIGCONT"),
    /** Has it mint into a file of the test's until it is told to stop. */
    async mint(task) {
      await call("mint", task);
      await until(async () => (await call("minted")).issued > 0);
    },
    /** Waits until it is refused with a code. */
    refused: (code) => until(async () => (await call("minted")).codes[code] > 0),
  };
}

/** What takes so long does not come. */
const NEVER_MS = 90_000;

/** Waits for a condition. */
export async function until(condition) {
  const started = performance.now();
  while (performance.now() - started < NEVER_MS) {
    const value = await condition();
    if (value) return value;
    await sleep(20);
  }
  throw new Error(`it never came to ${condition}`);
}

/** All IDs that were written to files, in the order of the files. */
export function written(...names) {
  return names.flatMap((name) => {
    const bytes = readFileSync(name);
    return [...new BigUint64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~7)))];
  });
}
