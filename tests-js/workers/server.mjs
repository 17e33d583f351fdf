// A Worker in workerd that uses `leased()`.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Log, LogLevel, Miniflare } from "miniflare";
import { serverFolder } from "../stores/server-process.mjs";

/** The dates that the Worker is run with: the oldest that is supported, and the newest that this workerd accepts. */
export const DATES = ["2024-09-01", newestDate()];

function newestDate() {
  const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const [, date] = require("workerd/package.json").version.split(".");
  return date.replace(/^(....)(..)(..)$/, "$1-$2-$3");
}

/** A Worker as wrangler bundles it: the wasm file is an import. */
async function modulesOf(name) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    outdir: "out",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    logLevel: "silent",
    conditions: ["workerd", "worker", "browser"],
    tsconfigRaw: "{}", // that of the sources would map frazil to them
    loader: { ".wasm": "copy" },
    external: ["cloudflare:workers"],
  });
  return Object.fromEntries(
    outputFiles.map(({ path, contents }) => {
      const file = path.split("/").at(-1);
      const isWasm = file.endsWith(".wasm");
      return [
        file,
        { type: isWasm ? "wasm" : "esm", contents: isWasm ? contents : new TextDecoder().decode(contents) },
      ];
    }),
  );
}

/** The processes of workerd that this process has started. */
function runtimes() {
  return readdirSync("/proc").filter((pid) => {
    try {
      const [, name, parent] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
      return name === "workerd" && Number(parent) === process.pid;
    } catch {
      return false; // no process, or one that has ended meanwhile
    }
  });
}

/**
 * Starts a Worker. It has no compatibility flags, and Durable Objects of a class. `folder`: of the storage, if that is there already.
 */
export async function startWorker({
  name = "worker.mjs",
  className = "FrazilLeases",
  date = DATES[1],
  env = {},
  folder = serverFolder(),
} = {}) {
  const before = runtimes();
  const miniflare = new Miniflare({
    cf: false, // otherwise miniflare downloads a sample
    log: new Log(LogLevel.ERROR),
    logRequests: false,
    handleUncaughtError() {},
    resourcePersistencePath: folder,
    workers: [
      {
        config: {
          name: "frazil",
          compatibilityDate: date,
          manifest: { mainModule: name, modules: await modulesOf(name) },
          env: { FRAZIL: { type: "durable-object", worker: "frazil", exportName: className }, ...env },
          exports: { [className]: { type: "durable-object", storage: "sqlite" } },
        },
        dev: { rootPath: folder },
      },
    ],
  });
  const url = await miniflare.ready;
  const pid = Number(runtimes().find((pid) => !before.includes(pid)));
  return {
    url,
    folder,
    stop: () => miniflare.dispose(),
    /** Ends workerd at once, as a loss of power of its host does, but for the disk. */
    async kill() {
      process.kill(pid, "SIGKILL");
      await miniflare.dispose();
    },
    get: async (path) => (await fetch(new URL(path, url))).json(),
  };
}
