// Measures, interleaved, how many IDs several processes mint together from one state file, and the time from the start of a
// process to its first ID.
import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * The IDs per second that `processes` mint together for `ms`: from one state file if `dir` is given, else each from its own
 * state.
 */
async function rate(processes, dir, ms = 400) {
  const children = Array.from({ length: processes }, () => fork(path("fill-main.mjs"), [JSON.stringify({ dir, ms })]));
  const messages = () => Promise.all(children.map(async (child) => (await once(child, "message"))[0]));
  await messages();
  const counts = messages();
  for (const child of children) child.send("go");
  return ((await counts).reduce((sum, count) => sum + count, 0) * 1000) / ms;
}

/** Milliseconds from the start of a process to its first ID. */
function firstId(...args) {
  const { stdout, signal, stderr } = spawnSync(process.execPath, [path("first-id-main.mjs"), ...args], {
    encoding: "utf8",
  });
  if (signal !== "SIGKILL") throw new Error(`no first ID: ${stderr}`);
  return JSON.parse(stdout).mintedMs;
}

/** Milliseconds that Node takes from its start until a program runs, by the same clock. */
function nodeAlone() {
  const script = "process.stdout.write(String(performance.now()))";
  return Number(spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }).stdout);
}

/** One round of all measurements. */
export async function round(dir) {
  return {
    rates: {
      "one process, its own state": await rate(1),
      "1 process, state file": await rate(1, dir),
      "2 processes, one state file": await rate(2, dir),
      "4 processes, one state file": await rate(4, dir),
    },
    starts: { "Node alone": nodeAlone(), "static node id": firstId(), "`local()`, after a crash": firstId(dir) },
  };
}
