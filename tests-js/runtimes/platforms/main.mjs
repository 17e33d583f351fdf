// The program that runs on a platform: one check, whose name is the first argument. It writes its result to the file that the
// second names, since Node under Wine cannot print to a pipe. Bundled, with `frazil` left to the runtime.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { repeats } from "../../generator/broken-generators.mjs";
import { resultOf } from "../json-result.mjs";

const here = fileURLToPath(import.meta.url);

/** Runs a task in a worker thread: returns its answer once the thread has ended. */
async function inWorker(task) {
  const worker = new Worker(here, { workerData: task });
  let answer;
  worker.on("message", (message) => {
    answer = message;
  });
  await new Promise((resolve, reject) => worker.once("exit", resolve).once("error", reject));
  if (answer === undefined) throw new Error(`the worker gave no answer to ${JSON.stringify(task)}`);
  return answer;
}

/** In a worker: mints with a static node id. With `unshared` the generator has its own clock, and so shares no state. */
async function mint({ node, count, unshared, nowMs, from = "frazil" }) {
  if (nowMs !== undefined) Date.now = () => nowMs;
  const { Snowflake } = from === "frazil" ? await import("frazil") : createRequire(here)(from);
  try {
    const ids = new Snowflake({ node, maxWaitMs: 1000, ...(unshared && { now: Date.now }) });
    return { backend: ids.backend, ids: ids.nextManyStrings(count) };
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}

const issuedBy = (answers) => {
  for (const { code, message, backend } of answers) {
    if (code !== undefined) throw new Error(`${code}: ${message}`);
    if (backend !== "native") throw new Error(`a thread runs on ${backend}`);
  }
  const ids = answers.flatMap(({ ids }) => ids);
  return { issued: ids.length, repeats: repeats(ids) };
};

/** A copy of the installed packages in another folder. */
function copyOf(platformPackage) {
  const require = createRequire(here);
  const folder = join(dirname(here), "second");
  const copy = (name, files) => {
    const from = dirname(require.resolve(`${name}/package.json`));
    const to = join(folder, "node_modules", name);
    for (const file of files) {
      mkdirSync(dirname(join(to, file)), { recursive: true });
      copyFileSync(join(from, file), join(to, file));
    }
    return to;
  };
  copy(platformPackage, ["package.json", "frazil.node"]);
  return join(copy("frazil", ["package.json", "dist/node.cjs"]), "dist/node.cjs");
}

const CHECKS = {
  async vectors(dir) {
    const { checkMinting, checkVectors } = await import("../checks.mjs");
    return { vectors: checkVectors(), minting: await checkMinting(5, dir, { acceptUnprovenPlatform: true }) };
  },
  /** A state file without the option that accepts a platform. */
  async local(dir) {
    const { Snowflake } = await import("frazil");
    try {
      Snowflake.local({ dir, scope: "unaccepted" }).close();
      return "opened";
    } catch (error) {
      return error.code;
    }
  },
  /** Threads that mint at the same time with one node id; and generators that share nothing, which must repeat. */
  async threads() {
    const task = { node: 6, count: 20_000 };
    const shared = await Promise.all([1, 2, 3, 4].map(() => inWorker(task)));
    const still = { node: 7, count: 1000, unshared: true, nowMs: Date.now() + 1000 };
    const unshared = await Promise.all([1, 2].map(() => inWorker(still)));
    return { shared: issuedBy(shared), unshared: issuedBy(unshared) };
  },
  /** Threads one after another, each the only one that has the addon loaded, at the same clock time. */
  async survival() {
    const inTurn = async (task) => {
      const answers = [];
      for (let thread = 0; thread < 5; thread++) answers.push(await inWorker(task));
      return issuedBy(answers);
    };
    const task = { node: 8, count: 100, nowMs: Date.now() + 1000 };
    return { shared: await inTurn(task), unshared: await inTurn({ ...task, unshared: true }) };
  },
  /** A copy of the addon beside the one in use; and the one in use once more. */
  async copies(platformPackage) {
    const { Snowflake } = await import("frazil");
    const ids = new Snowflake({ node: 9 });
    await ids.nextAsync();
    const task = { node: 10, count: 1 };
    const second = await inWorker({ ...task, from: copyOf(platformPackage) });
    return { second: second.code ?? "minted", same: issuedBy([await inWorker(task)]).issued };
  },
};

if (isMainThread) {
  const [check, file, argument] = process.argv.slice(2);
  // Windows wants the drive, which the path of the system that emulates it does not have.
  const answer = await resultOf(() => CHECKS[check](isAbsolute(argument) ? resolve(argument) : argument));
  writeFileSync(file, JSON.stringify({ ...answer, version: process.version, bun: process.versions.bun }));
  process.exit(0);
} else parentPort.postMessage(await mint(workerData));
