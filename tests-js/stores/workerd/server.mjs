// A Worker in workerd whose objects and database are in a folder, and stores in this process that call it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { FrazilError } from "frazil";
import { Log, LogLevel, Miniflare } from "miniflare";
import { serverFolder } from "../server-process.mjs";
import { decode, encode } from "./values.mjs";

/** The dates that the Worker is run with: the oldest that is supported, and the newest that this workerd accepts. */
export const DATES = ["2024-09-01", newestDate()];

/** The date of the workerd that is installed. */
function newestDate() {
  const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const [, date] = require("workerd/package.json").version.split(".");
  return date.replace(/^(....)(..)(..)$/, "$1-$2-$3");
}

let modules;

/** The Worker as wrangler bundles it: the wasm file is an import. */
async function modulesOfWorker() {
  if (modules) return modules;
  const outdir = serverFolder();
  await build({
    entryPoints: [fileURLToPath(new URL("worker.mjs", import.meta.url))],
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    target: "es2022",
    logLevel: "silent",
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    external: ["cloudflare:workers"],
  });
  const module = (name) => {
    const type = name.endsWith(".wasm") ? "wasm" : "esm";
    return [name, { type, contents: readFileSync(`${outdir}/${name}`, type === "esm" ? "utf8" : undefined) }];
  };
  modules = Object.fromEntries(readdirSync(outdir).map(module));
  return modules;
}

/** The processes of workerd that this process has started. */
function runtimes() {
  const started = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const [, name, parent] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
      if (name === "workerd" && Number(parent) === process.pid) started.push(Number(pid));
    } catch {
      // ended meanwhile
    }
  }
  return started;
}

const object = (storage) => ({ type: "durable-object", storage });
const binding = (exportName) => ({ type: "durable-object", worker: "frazil", exportName });

/** A Worker. `defect`: what is broken in it. */
export class WorkerServer {
  #options;
  #miniflare;
  #pid;
  folder = serverFolder();

  static async start({ date = DATES[1], defect } = {}) {
    const server = new WorkerServer();
    const vars = defect === undefined ? {} : { DEFECT: { type: "json", value: defect } };
    server.#options = {
      cf: false, // otherwise miniflare downloads a sample
      log: new Log(LogLevel.ERROR),
      logRequests: false,
      handleUncaughtError() {}, // an object that is aborted says so
      resourcePersistencePath: server.folder,
      workers: [
        {
          config: {
            name: "frazil",
            compatibilityDate: date,
            manifest: { mainModule: "worker.mjs", modules: await modulesOfWorker() },
            env: {
              OBJECTS: binding(defect === undefined ? "TestLeases" : "BrokenLeases"),
              OLD: binding("OldLeases"),
              OTHER: binding("OtherClass"),
              D1: { type: "d1", id: "frazil" },
              D1_NEW: { type: "d1", id: "empty" },
              ...vars,
            },
            exports: {
              TestLeases: object("sqlite"),
              BrokenLeases: object("sqlite"),
              OldLeases: object("legacy-kv"),
              OtherClass: object("sqlite"),
            },
          },
          dev: { rootPath: server.folder },
        },
      ],
    };
    await server.start();
    return server;
  }

  async start() {
    const before = runtimes();
    this.#miniflare = new Miniflare(this.#options);
    await this.#miniflare.ready;
    this.#pid = runtimes().find((pid) => !before.includes(pid));
  }

  /** Ends workerd at once, as a loss of power of its host does, but for the disk. */
  async kill() {
    process.kill(this.#pid, "SIGKILL");
    await this.#miniflare.dispose();
  }

  async stop() {
    await this.#miniflare.dispose();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Calls the Worker once. Rejects with the error of the call. */
  async call(call, given) {
    const response = await this.#miniflare.dispatchFetch("http://frazil.test/", {
      method: "POST",
      body: encode({ call, ...given }),
    });
    const { value, error } = decode(await response.text());
    if (error === undefined) return value;
    if (!error.ours) throw Object.assign(new Error(error.message), error);
    const { code, message, retryable, field, cause } = error;
    throw Object.assign(new FrazilError(code, message.slice(code.length + 2), { retryable, field, cause }), {
      name: error.name,
    });
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
}
