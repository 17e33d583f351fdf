// Mints with two copies of the addon in one process: with the first in the main thread, and then with the second in a worker
// thread. It has no imports of its own, so that every runtime and system can run it:
//
//   node copies-main.cjs PACKAGE ADDON CASE
//
// PACKAGE is the folder of frazil, ADDON the file of the addon, CASE one of those below. It writes what both did, as JSON.
const fs = require("node:fs");
const { constants, tmpdir } = require("node:os");
const { join } = require("node:path");
const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");

const GLOBAL = `process.dlopen(module, file, ${constants.dlopen?.RTLD_NOW | constants.dlopen?.RTLD_GLOBAL})`;
const DESCRIPTOR = `
  const open = fs.openSync(file);
  process.dlopen(module, "/proc/self/fd/" + open);
  fs.closeSync(open);
  fs.unlinkSync(file);
`;

/**
 * - `load`, `loadSecond`: JavaScript that loads the addon from `file`; default: as Node loads it
 * - `between`: what happens to the file of the first copy before the second one is loaded
 * - `link`: whether the second file is a hard link to the first
 * - `options`: of the generators
 */
const CASES = {
  "two paths": {},
  "symbols of both for all libraries": { load: GLOBAL },
  "first renamed": { between: (file) => fs.renameSync(file, `${file}.old`) },
  "first removed": { between: (file) => fs.unlinkSync(file) },
  "first replaced": {
    between: (file) => {
      fs.copyFileSync(file, `${file}.new`);
      fs.renameSync(`${file}.new`, file);
    },
  },
  // Of another number, since the linker takes a path that it knows for the file that it has loaded.
  "closed descriptors": { load: DESCRIPTOR, loadSecond: `fs.openSync("/dev/null"); ${DESCRIPTOR}` },
  "hard link": { link: true },
  "hard link, own states": { link: true, options: { now: true } },
};

/** Makes a copy of the package that loads the addon from a file of its own. */
function copy(folder, { source, load = "process.dlopen(module, file)", link = false }) {
  fs.cpSync(join(process.argv[2], "dist"), join(folder, "dist"), { recursive: true });
  fs.copyFileSync(join(process.argv[2], "package.json"), join(folder, "package.json"));
  const file = join(folder, "copy.node");
  if (link) fs.linkSync(source, file);
  else fs.copyFileSync(source, file);
  // The name that the package looks for first.
  const { platform, arch } = process;
  const name = platform === "linux" ? `frazil-linux-${arch}-gnu` : `frazil-${platform}-${arch}`;
  const loader = join(folder, "node_modules", name);
  fs.mkdirSync(loader, { recursive: true });
  fs.writeFileSync(join(loader, "package.json"), JSON.stringify({ name, main: "load.cjs" }));
  fs.writeFileSync(
    join(loader, "load.cjs"),
    `const file = ${JSON.stringify(file)}; const fs = require("node:fs"); ${load};`,
  );
  return { file, entry: join(folder, "dist", "node.cjs") };
}

/** Mints with a package: returns the IDs, or the refusal. */
function mint({ entry, now, options = {} }) {
  Date.now = () => now;
  try {
    const { Snowflake } = require(entry);
    const ids = new Snowflake({ node: 5, ...(options.now && { now: Date.now }) });
    return { backend: ids.backend, ids: ids.nextManyStrings(2000) };
  } catch ({ code, message }) {
    return { code, message };
  }
}

async function main() {
  process.env.FRAZIL_BACKEND = "native";
  const { between, load, loadSecond = load, link, options } = CASES[process.argv[4]];
  const folder = fs.mkdtempSync(join(tmpdir(), "frazil-copies-"));
  try {
    const first = copy(join(folder, "first"), { source: process.argv[3], load });
    const second = copy(join(folder, "second"), { source: first.file, load: loadSecond, link });
    const now = Date.now() + 500;
    const results = [mint({ entry: first.entry, now, options })];
    between?.(first.file);
    const worker = new Worker(__filename, { workerData: { entry: second.entry, now, options }, execArgv: [] });
    results.push(await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject)));
    await worker.terminate();
    process.stdout.write(JSON.stringify(results));
  } finally {
    try {
      fs.rmSync(folder, { recursive: true, force: true });
    } catch {
      // Windows keeps the file of a loaded library.
    }
  }
}

if (isMainThread) main();
else parentPort.postMessage(mint(workerData));
