// Servers of tools, such as `wrangler dev`, that tests start as people do.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";

/** How long a tool may take until its first answer, in steps of `STEP_MS`. */
const STEPS = 600;
const STEP_MS = 100;

/**
 * Starts a server and waits for its first answer, of any status. Resolves to its origin, that answer, what it has logged, and how to end
 * it with the processes that it has started.
 */
export async function startDevServer(program, args, { port, ...options }) {
  const child = spawn(program, args, {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
    // Its own group, which ends as a whole.
    detached: true,
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      log += chunk;
    });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const stop = async () => {
    process.kill(-child.pid, "SIGKILL");
    await ended;
  };
  const origin = `http://127.0.0.1:${port}`;
  for (let step = 0; step < STEPS && child.exitCode === null; step++) {
    const response = await fetch(origin).catch(() => undefined);
    if (response !== undefined) return { origin, response, stop, log: () => log };
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  if (child.exitCode === null) await stop();
  return assert.fail(`it did not start: ${log}`);
}
