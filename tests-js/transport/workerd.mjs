// Workers in Cloudflare's runtime with every kind of binding that carries IDs.
import assert from "node:assert/strict";
import { builtinModules } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Log, LogLevel, Miniflare } from "miniflare";

const folder = fileURLToPath(new URL("./", import.meta.url));

/** The modules of a Worker, as wrangler bundles it: the wasm file is an import. A warning is a failure. */
async function bundle(program, modulesOfNode) {
  const { outputFiles, warnings } = await build({
    stdin: { contents: program, resolveDir: folder, sourcefile: "worker.mjs" },
    outdir: folder,
    write: false,
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    external: ["cloudflare:*", ...(modulesOfNode ? ["node:*", "pg-native", ...builtinModules] : [])],
    // Packages in CommonJS require the modules of Node.
    banner: modulesOfNode
      ? { js: 'import { createRequire } from "node:module"; const require = createRequire("/");' }
      : {},
    // Not that of the tests, which has the sources in the place of `frazil`.
    tsconfigRaw: {},
    logLevel: "silent",
  });
  assert.deepEqual(warnings, []);
  return outputFiles.map(({ path, contents, text }) =>
    path.endsWith(".wasm")
      ? [basename(path), { type: "wasm", contents }]
      : ["worker.mjs", { type: "esm", contents: text }],
  );
}

/**
 * Starts a Worker from its text. `exports`: the names of its classes, Durable Objects with SQLite. `connectionString`: of the
 * database behind its Hyperdrive; then it has the modules of Node too. Its bindings are `DB` (D1), `KV`, `R2`, `QUEUE` (which it
 * consumes, if it has a handler), `HYPERDRIVE`, and one for each class and each entrypoint in `services`, in capitals.
 */
export async function startWorker(
  program,
  { date = "2026-11-01", classes = [], services = [], connectionString } = {},
) {
  // Hyperdrive insists on a password; the server accepts any.
  const origin = connectionString?.replace("@", ":any@");
  const modules = Object.fromEntries(await bundle(program, origin !== undefined));
  const bound = (type, names) =>
    names.map((exportName) => [exportName.toUpperCase(), { type, worker: "transport", exportName }]);
  const env = {
    DB: { type: "d1", id: "db" },
    KV: { type: "kv", id: "kv" },
    R2: { type: "r2", name: "r2" },
    QUEUE: { type: "queue", name: "queue" },
    ...Object.fromEntries([...bound("durable-object", classes), ...bound("worker", services)]),
    ...(origin && { HYPERDRIVE: { type: "hyperdrive", id: "hyperdrive", dev: { connectionString: origin } } }),
  };
  return new Miniflare({
    cf: false, // otherwise miniflare downloads a sample
    log: new Log(LogLevel.ERROR),
    logRequests: false,
    workers: [
      {
        config: {
          name: "transport",
          compatibilityDate: date,
          compatibilityFlags: origin ? ["nodejs_compat"] : [],
          manifest: { mainModule: "worker.mjs", modules },
          env,
          exports: Object.fromEntries([
            ...classes.map((name) => [name, { type: "durable-object", storage: "sqlite" }]),
            ...services.map((name) => [name, { type: "worker" }]),
          ]),
          triggers: /^ {2}async queue\(/m.test(program) ? [{ type: "queue", name: "queue", maxBatchTimeout: 0 }] : [],
        },
      },
    ],
  });
}

/** A request that takes longer counts as hanging. */
const HANG_MS = 30_000;

/** Sends a request, with a value as JSON or without a body. Resolves to the text of the answer. */
export async function textOf(worker, path = "/", body) {
  const response = await worker.dispatchFetch(`http://transport.test${path}`, {
    signal: AbortSignal.timeout(HANG_MS),
    ...(body !== undefined && { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return response.text();
}
