// Processes that mint, started and ended by a test. Only those are ever signalled.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("minting-main.mjs", import.meta.url));

/** A folder of a test's own, on a disk. Goes when the test is over, after what `before` does. */
export function folder(t, name, before = () => {}) {
  const path = mkdtempSync(join(tmpdir(), `frazil-${name}-`));
  t.after(async () => {
    await before();
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

/** A process that mints. `before` is a shell command that it runs first, in mounts of its own. */
export function minter(t, task, { before, env = {} } = {}) {
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
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  const closed = once(child, "close");
  t.after(() => child.kill("SIGKILL"));
  return {
    signal: (name) => child.kill(name),
    /** Ends it, and waits until it is gone. */
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
    /** The code it gave up with, once it has; `undefined` where it was ended from outside. */
    ended: closed.then(([status]) => (status === null ? undefined : said.split("\n")[0] || `exit code ${status}`)),
    get said() {
      return said;
    },
  };
}

/** Numbers from 0 to 1 that are the same in every run (a linear congruential generator, Numerical Recipes). */
export function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
