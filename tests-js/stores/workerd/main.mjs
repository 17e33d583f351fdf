// Runs the Worker in workerd until its standard input ends. Prints the address and the process of workerd as a line of JSON. Runs under
// Node 24, because miniflare needs 22.12 or newer.
//
//   node main.mjs OPTIONS    OPTIONS: { folder, bundle, date, defect } as JSON
import { readdirSync, readFileSync } from "node:fs";
import { Log, LogLevel, Miniflare } from "miniflare";

const { folder, bundle, date, defect } = JSON.parse(process.argv[2]);

const object = (storage) => ({ type: "durable-object", storage });
const binding = (exportName) => ({ type: "durable-object", worker: "frazil", exportName });
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
          OBJECTS: binding(defect === undefined ? "TestLeases" : "BrokenLeases"),
          OLD: binding("OldLeases"),
          OTHER: binding("OtherClass"),
          D1: { type: "d1", id: "frazil" },
          D1_NEW: { type: "d1", id: "empty" },
          ...(defect !== undefined && { DEFECT: { type: "json", value: defect } }),
        },
        exports: {
          TestLeases: object("sqlite"),
          BrokenLeases: object("sqlite"),
          OldLeases: object("legacy-kv"),
          OtherClass: object("sqlite"),
        },
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
