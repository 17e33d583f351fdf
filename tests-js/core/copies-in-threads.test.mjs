// Two copies of the addon in one process, in different threads, whose realms share no JavaScript state.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { Snowflake } from "frazil";
import { repeats } from "../generator/broken-generators.mjs";
import { copyPackage, inNewProcess } from "./package-copy.mjs";

const ids = new Snowflake({ node: 0 });
const native = ids.backend === "native";

/** Mints in a worker thread with the package at a path: returns the ID, or the refusal. */
function inWorker(path) {
  const script = `
    const { parentPort, workerData } = require("node:worker_threads");
    const { Snowflake } = require(workerData);
    try {
      parentPort.postMessage({ id: new Snowflake({ node: 5 }).next() });
    } catch (error) {
      parentPort.postMessage({ code: error.code, message: error.message });
    }
  `;
  const worker = new Worker(script, { eval: true, workerData: path });
  return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
}

/** A copy of the package with a copy of the addon beside it. */
function copyWithAddon() {
  const folder = copyPackage();
  const addonPackage = "frazil-linux-x64-gnu";
  const installed = dirname(realpathSync(createRequire(import.meta.url).resolve(`${addonPackage}/package.json`)));
  mkdirSync(join(folder, "node_modules", addonPackage), { recursive: true });
  for (const name of ["package.json", "frazil.node"]) {
    cpSync(join(installed, name), join(folder, "node_modules", addonPackage, name));
  }
  return folder;
}

test("a second copy of the addon in another thread is refused", {
  skip: !native && "does not apply: the backend is WebAssembly",
}, async () => {
  const { code, message } = await inWorker(join(copyWithAddon(), "dist/node.cjs"));
  assert.equal(code, "STATE_CONFLICT");
  assert.match(message, /another copy of frazil is loaded from .*frazil\.node/);
  const first = ids.next();
  assert.ok(first < ids.next(), "the first copy must still mint");
});

test("the same copy of the addon in another thread is not refused", {
  skip: !native && "does not apply: the backend is WebAssembly",
}, async () => {
  const { id } = await inWorker("frazil");
  assert.equal(ids.decode(id).node, 5);
});

/** IDs of five threads that run one after another, each the only one that has the addon loaded, at the same clock time. */
const inTurn = (options) =>
  inNewProcess(`
    import { Worker } from "node:worker_threads";
    const script = \`
      import { parentPort, workerData } from "node:worker_threads";
      import { Snowflake } from "frazil";
      Date.now = () => workerData;
      parentPort.postMessage(new Snowflake(${options}).nextManyStrings(100));
    \`;
    const now = Date.now() + 1000;
    const issued = [];
    for (let thread = 0; thread < 5; thread++) {
      const worker = new Worker(script, { eval: true, workerData: now });
      worker.once("message", (ids) => issued.push(...ids));
      await new Promise((resolve, reject) => worker.once("exit", resolve).once("error", reject));
    }
    console.log(JSON.stringify(issued));
  `);

// docs/internals/claims.md: 3
test("a state outlives the thread that created it", {
  skip: !native && "does not apply: the backend is WebAssembly",
}, async () => {
  const issued = await inTurn("{ node: 6 }");
  assert.equal(issued.length, 500);
  assert.equal(repeats(issued), 0);
  const broken = await inTurn("{ node: 6, now: Date.now }");
  assert.equal(repeats(broken), 400, "the checker must catch threads whose states end with them");
});
