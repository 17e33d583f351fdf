// The pages of docs/reference/stores, as they are printed: what is run once, the program, and the rights and commands of `npx frazil ddl`.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Segment } from "frazil/segment";
import { root } from "../../../scripts/shell.mjs";
import { tools } from "../../../scripts/tools.mjs";
import { serverFolder } from "./server-process.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const textOf = (name) => readFileSync(path(`../../../docs/reference/stores/${name}.md`), "utf8");
/** A program that has not ended by then is kept alive by its client. */
const LIMIT_MS = 30_000;

const RUNTIMES = { Bun: [tools.bun, "run"], Deno: [tools.deno, "run", "-A", "--no-prompt"] };
const DENO = { DENO_DIR: `${root}.cache/deno`, DENO_NO_UPDATE_CHECK: "1" };

/** Runs a program of a page beside this file, where its packages are found. */
async function run(name, code, { runtime: [program, ...args] = [process.execPath], env = {}, cwd }) {
  const file = path(`of-the-page-${name}-${process.pid}.mjs`);
  writeFileSync(file, code);
  try {
    const child = spawn(program, [...args, file], {
      cwd,
      env: { ...process.env, NODE_NO_WARNINGS: "1", ...DENO, ...env },
    });
    const output = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"])
      child[stream].on("data", (chunk) => {
        output[stream] += chunk;
      });
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    const status = await new Promise((resolve) => child.once("close", (code, signal) => resolve(signal ?? code)));
    clearTimeout(timer);
    return { status, ...output };
  } finally {
    rmSync(file);
  }
}

/**
 * Runs the two programs that a page begins with. The set-up changes nothing when it runs again. The program runs twice, each time to its
 * end, and once in each of the other runtimes. `setting`: `runtime`, the command of the first ones (default: this Node), `env`, further
 * variables, and `others`, names of runtimes.
 */
export async function runPage(name, { others = ["Bun", "Deno"], ...setting } = {}) {
  const page = textOf(name);
  const [once, program] = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
  const all = { cwd: serverFolder(), ...setting };
  assert.ok(page.indexOf(once) < page.indexOf("\n## "), "the programs come first");
  assert.deepEqual(await run(name, once, all), { status: 0, stdout: "", stderr: "" });
  for (let start = 1; start <= 2; start++) {
    const { status, stdout, stderr } = await run(name, program, all);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: "" }, `start ${start}`);
    assert.match(stdout, /^\d{18}n \d+\n$/);
  }
  assert.deepEqual(await run(name, once, all), { status: 0, stdout: "", stderr: "" });
  for (const other of others) {
    const { status, stdout, stderr } = await run(name, program, { ...all, runtime: RUNTIMES[other] });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: "" }, other);
    assert.match(stdout, /^\d{18}n \d+\n$/, other);
  }
}

const cli = path("../../../npm/frazil/dist/cli.mjs");
const TAGS = ["orders", "invoices/2026-11-22"];

/** Asserts that tags whose records `npx frazil ddl --tag` prints start at 1, and that running it again changes nothing. */
export async function checkTags(name, store, runPrinted) {
  const printed = execFileSync(process.execPath, [cli, "ddl", name, ...TAGS.flatMap((tag) => ["--tag", tag])]);
  for (const first of [1n, 1001n]) {
    await runPrinted(`${printed}`);
    for (const tag of TAGS) {
      const numbers = new Segment(store, { tag });
      assert.equal(await numbers.next(), first);
      numbers.close();
    }
  }
}

/** Asserts that a page has what `npx frazil ddl` prints of rights and commands. `lines`: which of the lines that it prints. */
export function checkPrinted(name, lines, change = (line) => line) {
  const printed = execFileSync(process.execPath, [cli, "ddl", name], { encoding: "utf8" }).split("\n");
  const wanted = printed
    .map((line) => line.replace(/^(--|#) */, "").replace(/ {2,}#.*$/, ""))
    .filter((line) => lines.test(line));
  assert.ok(wanted.length > 0, "nothing is printed");
  const page = textOf(name)
    .split("\n")
    .map((line) => line.replace(/ {2,}#.*$/, ""));
  for (const line of wanted.map(change))
    assert.ok(page.includes(line), `docs/reference/stores/${name}.md has no line ${line}`);
}
