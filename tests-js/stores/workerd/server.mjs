// A Worker in workerd whose objects and database are in a folder, and stores in this process that call it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { FrazilError } from "frazil";
import { tools } from "../../../scripts/tools.mjs";
import { serverFolder } from "../kit/server-process.mjs";
import { decode, encode } from "./values.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The dates that the Worker is run with: the oldest that is supported, and that of the workerd itself. */
export const DATES = ["2024-09-01", newestDate()];

/** The date of the workerd that is installed. */
function newestDate() {
  const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const [, date] = require("workerd/package.json").version.split(".");
  return date.replace(/^(....)(..)(..)$/, "$1-$2-$3");
}

const bundles = new Map();

/** The folder of a Worker as wrangler bundles it: the wasm file is an import. */
export async function bundleOnce(entry) {
  const known = bundles.get(entry);
  if (known !== undefined) return known;
  const outdir = serverFolder();
  await build({
    entryPoints: { worker: entry },
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    target: "es2022",
    logLevel: "silent",
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    external: ["cloudflare:workers"],
    // Not that of the package, which has the sources in the place of `frazil`.
    tsconfigRaw: {},
  });
  bundles.set(entry, outdir);
  return outdir;
}

/** The classes of the Worker of the tests, with their storage. */
const CLASSES = { TestLeases: "sqlite", BrokenLeases: "sqlite", OldLeases: "legacy-kv", OtherClass: "sqlite" };

/** A Worker. */
export class WorkerServer {
  #options;
  #child;
  #running;
  folder = serverFolder();

  /** The Worker of the tests. `defect`: what is broken in its objects and in its database. */
  static start({ date, defect } = {}) {
    const class_ = defect === undefined ? "TestLeases" : "BrokenLeases";
    return WorkerServer.startWith(path("worker.mjs"), {
      ...(date !== undefined && { date }),
      objects: { OBJECTS: class_, OLD: "OldLeases", OTHER: "OtherClass" },
      classes: CLASSES,
      databases: { D1: "frazil", D1_NEW: "empty" },
      vars: defect === undefined ? {} : { DEFECT: defect },
    });
  }

  /** A Worker whose main module is a file. */
  static async startWith(
    entry,
    { date = DATES[1], objects = {}, classes = {}, databases = {}, vars = {}, loaders = [] },
  ) {
    const server = new WorkerServer();
    const bundle = await bundleOnce(entry);
    server.#options = { folder: server.folder, bundle, date, objects, classes, databases, vars, loaders };
    await server.start();
    return server;
  }

  async start() {
    const args = ["--no-warnings", path("main.mjs"), JSON.stringify(this.#options)];
    this.#child = spawn(tools.node24, args, { stdio: ["pipe", "pipe", "inherit"] });
    const ended = once(this.#child, "close").then(([status]) => {
      throw new Error(`the Worker did not start: status ${status}`);
    });
    const [line] = await Promise.race([once(createInterface(this.#child.stdout), "line"), ended]);
    ended.catch(() => {});
    this.#running = JSON.parse(line);
  }

  /** Ends workerd at once, as a loss of power of its host does, but for the disk. */
  async kill() {
    const closed = once(this.#child, "close");
    process.kill(this.#running.pid, "SIGKILL");
    this.#child.stdin.end();
    await closed;
  }

  async stop() {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Makes a copy of the folder. Returns a call that replaces the folder by it. */
  async keepDisk() {
    const copy = serverFolder();
    await this.kill();
    cpSync(this.folder, copy, { recursive: true });
    await this.start();
    return async () => {
      await this.kill();
      this.loseDisk();
      cpSync(copy, this.folder, { recursive: true });
      await this.start();
    };
  }

  /** Empties the folder, while workerd is not running. */
  loseDisk() {
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder);
  }

  get url() {
    return this.#running.url;
  }

  /** The process of workerd. */
  get pid() {
    return this.#running.pid;
  }

  /** How much memory workerd has, in megabytes. */
  get megabytes() {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#running.pid}/status`, "utf8"));
    return Math.round(Number(kilobytes) / 1024);
  }

  /** Calls the Worker once. Rejects with the error of the call; with that of `fetch` while workerd is not running. */
  async call(call, given) {
    const response = await fetch(this.#running.url, { method: "POST", body: encode({ call, ...given }) });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const { value, error } = decode(text);
    if (error === undefined) return value;
    if (!error.ours) throw Object.assign(new Error(error.message), error);
    const { name, code, message, hint, retryable, field, cause } = error;
    const details = { retryable, field, cause, ...(hint && { hint }) };
    throw Object.assign(new FrazilError(code, message.slice(code.length + 2), details), { name });
  }

  /** A store whose every operation is a request to the Worker. */
  store(binding, options) {
    const verbs = ["acquire", "renew", "release", "ensure", "init", "fence", "migrate", "allocate", "initSegment"];
    const call = (verb) => async (request) => {
      const { signal, ...sent } = request ?? {};
      const given = { binding, options, verb, request: request && sent };
      if (signal?.aborted) {
        // The store in the Worker rejects with the reason of a signal that it has itself.
        await this.call("store", { ...given, aborted: true }).catch(({ message }) => assert.equal(message, "aborted"));
        throw signal.reason;
      }
      const answer = this.call("store", given);
      if (signal === undefined) return answer;
      return Promise.race([answer, new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason)))]);
    };
    const name = binding.startsWith("D1") ? "d1" : "durable-object";
    return { name, ...Object.fromEntries(verbs.map((verb) => [verb, call(verb)])) };
  }

  /** The binding of a database in this process: each batch is a request to the Worker. */
  database(binding) {
    const statement = (sql, values) => ({ sql, values, bind: (...values) => statement(sql, values) });
    return {
      prepare: (sql) => statement(sql, []),
      batch: (statements) =>
        this.call("database", { binding, statements: statements.map(({ sql, values }) => ({ sql, values })) }),
    };
  }

  /** Runs statements in a database, one after the other. Returns the rows of the last. */
  async sql(binding, ...statements) {
    const results = await this.call("database", {
      binding,
      statements: statements.map((sql) => ({ sql, values: [] })),
    });
    return results.at(-1).results;
  }
}
