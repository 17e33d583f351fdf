// Starts, signals and ends processes that mint. Only processes that a test started are signalled.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("minting-main.mjs", import.meta.url));

/** A new folder on a disk. It is removed when the test ends, after `before` has run. */
export function testFolder(t, name, before = () => {}) {
  const path = mkdtempSync(join(tmpdir(), `frazil-${name}-`));
  t.after(async () => {
    await before();
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

/** Starts a process that mints. `before` is a shell command that runs first, in the mount namespace of the process. */
export function startMinting(t, task, { before, env = {} } = {}) {
  const argument = JSON.stringify(task);
  const settings = { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, FRAZIL_BACKEND: "native", ...env } };
  const child =
    before === undefined
      ? spawn(process.execPath, [script, argument], settings)
      : spawn(
          "unshare",
          ["-m", "sh", "-c", `${before} && exec "$0" "$@"`, process.execPath, script, argument],
          settings,
        );
  let errorOutput = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    errorOutput += text;
  });
  const closed = once(child, "close");
  t.after(() => child.kill("SIGKILL"));
  return {
    signal: (name) => child.kill(name),
    /** Kills it and waits until it has ended. */
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
    /** Resolves when the process ends: to the code that it gave up with, or to `undefined` if a signal ended it. */
    ended: closed.then(([status]) =>
      status === null ? undefined : errorOutput.split("\n")[0] || `exit code ${status}`,
    ),
    get errorOutput() {
      return errorOutput;
    },
  };
}

/** Pseudo-random numbers from 0 to 1, the same in every run (a linear congruential generator, Numerical Recipes). */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
