// Runs the Worker in workerd until its standard input ends. Prints the address and the process of workerd as a line of JSON. Runs under
// Node 24, because miniflare needs 22.12 or newer.
//
//   node main.mjs OPTIONS    OPTIONS: { folder, bundle, date, objects, classes, databases, vars, loaders } as JSON
import { readdirSync, readFileSync } from "node:fs";
import { Log, LogLevel, Miniflare } from "miniflare";

const { folder, bundle, date, objects, classes, databases, vars, loaders } = JSON.parse(process.argv[2]);

const mapped = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
const module = (name) => {
  const type = name.endsWith(".wasm") ? "wasm" : "esm";
  return [name, { type, contents: readFileSync(`${bundle}/${name}`, type === "esm" ? "utf8" : undefined) }];
};

/** The process of workerd, a child of this one. */
function workerd() {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const [, name, parent] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
      if (name === "workerd" && Number(parent) === process.pid) return Number(pid);
    } catch {
      // ended meanwhile
    }
  }
  throw new Error("workerd is not running");
}

const miniflare = new Miniflare({
  cf: false, // otherwise miniflare downloads a sample
  log: new Log(LogLevel.ERROR),
  logRequests: false,
  handleUncaughtError() {}, // an object that is aborted says so
  resourcePersistencePath: folder,
  workers: [
    {
      config: {
        name: "frazil",
        compatibilityDate: date,
        manifest: { mainModule: "worker.mjs", modules: Object.fromEntries(readdirSync(bundle).map(module)) },
        env: {
          ...mapped(objects, (exportName) => ({ type: "durable-object", worker: "frazil", exportName })),
          ...mapped(databases, (id) => ({ type: "d1", id })),
          ...mapped(vars, (value) => ({ type: "json", value })),
          ...Object.fromEntries(loaders.map((name) => [name, { type: "worker-loader" }])),
        },
        exports: mapped(classes, (storage) => ({ type: "durable-object", storage })),
      },
      dev: { rootPath: folder },
    },
  ],
});
const url = await miniflare.ready;
const pid = workerd();
process.stdout.write(`${JSON.stringify({ url, pid })}\n`);
process.stdin.resume();
process.stdin.once("end", () => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // ended before
  }
  process.exit();
});
