// Programs that use SQLite in runtimes other than the tests'.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../../scripts/shell.mjs";
import { tools } from "../../../scripts/tools.mjs";

/** The path of a file of this folder. */
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Runs a program to its end. Returns its output. */
function output([program, ...args], more = {}) {
  // With the variable, a Node that runs tests takes itself for one that this Node has started, and runs none.
  const { NODE_TEST_CONTEXT, ...env } = { ...process.env, ...more };
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env });
  let text = "";
  let errors = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) =>
      status === 0 ? resolve(text) : reject(new Error(`status ${status}\n${text}${errors}`)),
    );
  });
}

/** Runs a file of tests in a Node that has node:sqlite. Returns how many passed; the runner of suites hears of those that were skipped. */
export async function passedIn(name, env) {
  const reporters = [
    ["tap", "stdout"],
    [`${root}scripts/test/reporter.mjs`, "stderr"],
  ].flatMap(([reporter, to]) => [`--test-reporter=${reporter}`, `--test-reporter-destination=${to}`]);
  const said = await output([tools.node24, "--no-warnings", "--test", ...reporters, file(name)], env);
  return Number(/^# pass (\d+)$/m.exec(said)?.[1]);
}

/** A runtime, and the client in it. */
export const NODE_24 = ["Node 24", tools.node24, "node:sqlite"];
export const OTHER_CLIENTS = [
  ["Node 22", tools.node22, "node:sqlite"],
  ["Bun", tools.bun, "bun:sqlite"],
  // Compiled from its sources by `npm test -- stores-better-sqlite3`, which takes minutes.
  ...(process.env.FRAZIL_BETTER_SQLITE3
    ? [["better-sqlite3", process.execPath, process.env.FRAZIL_BETTER_SQLITE3]]
    : []),
];

/** Runs a contract on its own file, by a program that prints the outcome. Returns that. */
export async function holdContract(name, program, client) {
  const folder = mkdtempSync(join(tmpdir(), "frazil-sqlite-"));
  try {
    return JSON.parse(await output([program, file(name), folder, client]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
