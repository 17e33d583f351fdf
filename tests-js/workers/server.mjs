// A Worker in workerd that uses `leased()`.
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

/** Starts a Worker. It has no compatibility flags, and a Durable Object. */
export async function startWorker({ name = "worker.mjs", date = DATES[1], env = {} } = {}) {
  const folder = serverFolder();
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
          env: { FRAZIL: { type: "durable-object", worker: "frazil", exportName: "TestLeases" }, ...env },
          exports: { TestLeases: { type: "durable-object", storage: "sqlite" } },
        },
        dev: { rootPath: folder },
      },
    ],
  });
  const url = await miniflare.ready;
  return {
    url,
    stop: () => miniflare.dispose(),
    /** Resolves to the result of a call. Rejects with what it threw. */
    call: async (name, given = {}) => {
      const target = new URL(`/${name}?given=${encodeURIComponent(JSON.stringify(given))}`, url);
      const response = await fetch(target, { signal: AbortSignal.timeout(20_000) });
      const value = await response.json();
      if (response.ok) return value;
      throw Object.assign(new Error(value.error.message), value.error);
    },
  };
}
