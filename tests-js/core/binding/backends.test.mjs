// docs/internals/claims.md: 21
// WebAssembly and the native addon in one process share no state, so the backend that mints second is refused.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { copyPackage, copyPackageWithAddon, entry, inNewProcess, needsLinux, repeats } from "./node-process.mjs";

const packaged = JSON.stringify(entry);

/** Defines `mint()` for programs and threads: it mints with a package, and returns the IDs or the refusal. */
const MINT = `
  globalThis.mint = ({ Snowflake }, options) => {
    try {
      const ids = new Snowflake(options);
      return { backend: ids.backend, ids: ids.nextManyStrings(2000) };
    } catch ({ code, message, hint }) {
      return { code, message, hint };
    }
  };
`;

/**
 * A program whose main thread mints with one package and a worker thread with another, in the given order, at the same clock
 * time.
 */
const program = ({ main, worker, order, mainOptions = "{ node: 5 }", workerOptions = "{ node: 5 }" }) => `
  import { createRequire } from "node:module";
  import { Worker } from "node:worker_threads";
  ${MINT}
  const require = createRequire(import.meta.url);
  const now = Date.now() + 500;
  Date.now = () => now;
  const thread = new Worker(${JSON.stringify(`
    const { parentPort, workerData } = require("node:worker_threads");
    ${MINT}
    process.env.FRAZIL_BACKEND = workerData.backend;
    Date.now = () => workerData.now;
    parentPort.on("message", () => {
      parentPort.postMessage(mint(require(workerData.path), eval("(" + workerData.options + ")")));
    });
    parentPort.postMessage("up");
  `)}, { eval: true, execArgv: [], workerData: { now, path: ${JSON.stringify(worker.path)}, backend: ${JSON.stringify(worker.backend)}, options: ${JSON.stringify(workerOptions)} } });
  const answer = () => new Promise((resolve, reject) => thread.once("message", resolve).once("error", reject));
  await answer();
  process.env.FRAZIL_BACKEND = ${JSON.stringify(main.backend)};
  const ours = () => mint(require(${JSON.stringify(main.path)}), ${mainOptions});
  const theirs = () => { const reply = answer(); thread.postMessage(0); return reply; };
  let result;
  if (${JSON.stringify(order)} === "main first") { const first = ours(); result = [first, await theirs()]; }
  else if (${JSON.stringify(order)} === "worker first") { const first = await theirs(); result = [first, ours()]; }
  else { const reply = theirs(); result = [ours(), await reply]; }
  // If both were refused, both ask again, in the order of the answers: one of them must then succeed.
  if (${JSON.stringify(order)} === "at once" && result.every((each) => each.code)) result = [ours(), await theirs()];
  await thread.terminate();
  process.stdout.write(JSON.stringify(result));
`;

const wasm = { path: entry, backend: "wasm" };
const native = { path: entry, backend: "native" };

const minted = (results) => results.flatMap(({ ids = [] }) => ids);

// 35,166 of 289,027 IDs repeated where the mark to look for was chosen by `process.platform`.
for (const platform of ["win32", "darwin"]) {
  test(`a main thread that says it runs on ${platform} sees the addon in a worker`, needsLinux, async () => {
    const mainOptions = `(Object.defineProperty(process, "platform", { value: "${platform}" }), { node: 5 })`;
    for (const order of ["main first", "worker first"]) {
      const results = await inNewProcess(program({ main: wasm, worker: native, order, mainOptions }));
      assert.equal(repeats(minted(results)), 0);
      assert.equal(results[1].code, "STATE_CONFLICT");
    }
  });
}

for (const order of ["main first", "worker first"]) {
  test(
    `WebAssembly in the main thread and the addon in a worker, ${order}: the second is refused`,
    needsLinux,
    async () => {
      const results = await inNewProcess(program({ main: wasm, worker: native, order }));
      assert.equal(repeats(minted(results)), 0);
      const [first, second] = results;
      assert.equal(first.code, undefined, first.message);
      assert.equal(second.code, "STATE_CONFLICT");
      assert.match(second.message, /native addon/);
      assert.match(second.message, /WebAssembly/);
      assert.match(second.hint, /FRAZIL_BACKEND|install/);
    },
  );
}

/**
 * Runs a package in the main thread, and the installed one in a worker that chooses its backend itself: the second is refused.
 */
async function assertSecondIsRefused(path) {
  const main = { path, backend: "" };
  for (const order of ["main first", "worker first"]) {
    // The working directory counts for a text that Node runs, and that of the tests has an addon.
    const cwd = tmpdir();
    const results = await inNewProcess(program({ main, worker: { ...native, backend: "" }, order }), { cwd });
    assert.equal(repeats(minted(results)), 0);
    assert.deepEqual(
      results.map(({ code }) => code),
      [undefined, "STATE_CONFLICT"],
    );
  }
}

test("if both backends start at once, at most one of them mints", needsLinux, async () => {
  for (let round = 0; round < 10; round++) {
    const results = await inNewProcess(program({ main: wasm, worker: native, order: "at once" }));
    assert.equal(repeats(minted(results)), 0);
    assert.deepEqual(
      results.map(({ code }) => code).filter((code) => code !== undefined && code !== "STATE_CONFLICT"),
      [],
    );
    assert.ok(
      results.some(({ code }) => code === "STATE_CONFLICT"),
      "one of them must be refused",
    );
  }
});

test(
  "a package without its addon in the main thread, and one with it in a worker: the second is refused",
  needsLinux,
  () => assertSecondIsRefused(join(copyPackage(), "dist/node.cjs")),
);

// 600,516 IDs repeated: Rollup takes that entry if it is not told that the program is for Node.
test("the entry for browsers in the main thread, and the addon in a worker: the second is refused", needsLinux, () =>
  assertSecondIsRefused(join(copyPackage(), "dist/inline.cjs")),
);

test("the entry for browsers warns in Node, says what to tell the bundler, and does not in a test environment with a document", async () => {
  const minted = (before, env) =>
    inNewProcess(
      `
      const warnings = [];
      process.on("warning", ({ code, message, detail }) => warnings.push({ code, message, detail }));
      ${before}
      const { Snowflake } = await import(${JSON.stringify(join(copyPackage(), "dist/inline.mjs"))});
      let said;
      try { said = [new Snowflake({ node: 5 }), new Snowflake({ node: 6 })].map(({ backend }) => backend); }
      catch ({ code, message, hint }) { said = { code, message, hint }; }
      await new Promise(setImmediate);
      process.stdout.write(JSON.stringify({ said, warnings, isMarked: process.env.FRAZIL_WASM_PROCESS !== undefined }));
      `,
      { env: { FRAZIL_BACKEND: "", ...env } },
    );
  const { said, warnings, isMarked } = await minted("");
  assert.deepEqual({ said, isMarked }, { said: ["wasm", "wasm"], isMarked: true });
  assert.equal(warnings.length, 1);
  assert.equal(warnings[0].code, "FRAZIL_WASM");
  assert.match(warnings[0].message, /entry for browsers/);
  assert.match(warnings[0].detail, /--platform=node.*exportConditions: \["node"\]/);
  const chosen = await minted("", { FRAZIL_BACKEND: "wasm" });
  assert.deepEqual(chosen, { said: ["wasm", "wasm"], warnings: [], isMarked: true });
  const simulated = await minted("globalThis.document = {};");
  assert.deepEqual(simulated, { said: ["wasm", "wasm"], warnings: [], isMarked: false });
  const forced = await minted("", { FRAZIL_BACKEND: "native" });
  assert.equal(forced.said.code, "NATIVE_REQUIRED");
  assert.match(forced.said.hint, /^Tell the bundler/);
});

test(
  "a package that finds the addon of another version mints no static IDs beside the package that belongs to it",
  needsLinux,
  async () => {
    const folder = copyPackageWithAddon();
    const file = join(folder, "dist/node.cjs");
    const text = readFileSync(file, "utf8");
    const compared = /\babi\(\)\s*!==\s*(\d+)/;
    assert.match(text, compared, "the comparison with the addon's version must be found");
    writeFileSync(file, text.replace(compared, "abi() !== 4711"));
    await assertSecondIsRefused(file);
  },
);

test("a generator of Snowflake.local() counts as one of the addon", needsLinux, async () => {
  const { mkdtempSync, rmSync } = await import("node:fs");
  const { tmpdir } = await import("node:os");
  const dir = mkdtempSync(join(tmpdir(), "frazil-attack-"));
  const script = `
    import { Worker } from "node:worker_threads";
    const worker = new Worker(\`
      process.env.FRAZIL_BACKEND = "native";
      const { Snowflake } = require(${packaged});
      let said;
      try { said = { id: Snowflake.local({ dir: ${JSON.stringify(JSON.stringify(dir)).slice(1, -1)} }).nextString() }; } catch ({ code, message, hint }) { said = { code, message, hint }; }
      require("node:worker_threads").parentPort.postMessage(said);
    \`, { eval: true, execArgv: [] });
    const answer = new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    const { createRequire } = await import("node:module");
    process.env.FRAZIL_BACKEND = "wasm";
    const { Snowflake } = createRequire(import.meta.url)(${packaged});
    const said = await answer;
    let ours;
    try { ours = { id: new Snowflake({ node: 1023 }).nextString() }; } catch ({ code }) { ours = { code }; }
    process.stdout.write(JSON.stringify({ said, ours }));
  `;
  try {
    const { said, ours } = await inNewProcess(script);
    assert.ok(said.id, said.message);
    assert.equal(ours.code, "STATE_CONFLICT");
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test(
  "with unshared: true, or with a now of its own, WebAssembly is not refused, and the checker catches its repeats",
  needsLinux,
  async () => {
    const own = "{ node: 5, unshared: true }";
    for (const options of [
      { mainOptions: own },
      { mainOptions: "{ node: 5, now: () => now }" },
      { workerOptions: own },
      { workerOptions: "{ node: 5, now: Date.now }" },
    ]) {
      const results = await inNewProcess(program({ main: wasm, worker: native, order: "main first", ...options }));
      assert.deepEqual(
        results.map(({ code, backend }) => code ?? backend),
        ["wasm", "native"],
      );
      assert.ok(repeats(minted(results)) > 0, "the same times and node id must give the same IDs");
    }
  },
);

test("a refused generator does not lock out the other backend", needsLinux, async () => {
  const codes = async (given) =>
    (await inNewProcess(program({ main: wasm, worker: native, ...given }))).map(({ code, backend }) => code ?? backend);
  assert.deepEqual(await codes({ order: "main first", mainOptions: "{ node: 5000 }" }), ["INVALID_NODE", "native"]);
  assert.deepEqual(await codes({ order: "worker first", workerOptions: "{ node: 5000 }" }), ["INVALID_NODE", "wasm"]);
});

test("a child of a process on WebAssembly can use the addon", needsLinux, async () => {
  const script = `
    import { execFileSync } from "node:child_process";
    import { createRequire } from "node:module";
    const require = createRequire(import.meta.url);
    process.env.FRAZIL_BACKEND = "wasm";
    const { Snowflake } = require(${packaged});
    new Snowflake({ node: 5 }).next();
    const script = "process.stdout.write(JSON.stringify([require(${packaged.replaceAll('"', '\\"')})].map(({ Snowflake }) => { const ids = new Snowflake({ node: 5 }); ids.next(); return ids.backend; })))";
    const env = { ...process.env, FRAZIL_BACKEND: "native" };
    const child = JSON.parse(execFileSync(process.execPath, ["--eval", script], { env }));
    process.stdout.write(JSON.stringify(child));
  `;
  assert.deepEqual(await inNewProcess(script), ["native"]);
});

test(
  "where process takes no note of the mark, one descriptor is opened and no call is refused",
  needsLinux,
  async () => {
    const { opened, backends } = await inNewProcess(`
    import { readdirSync } from "node:fs";
    import { createRequire } from "node:module";
    process.env.FRAZIL_BACKEND = "wasm";
    const { Snowflake } = createRequire(import.meta.url)(${packaged});
    new Snowflake({ node: 5, now: Date.now }).next();
    Object.preventExtensions(process);
    const before = readdirSync("/proc/self/fd").length;
    const backends = new Set(Array.from({ length: 50 }, () => new Snowflake({ node: 5 }).backend));
    const opened = readdirSync("/proc/self/fd").length - before;
    process.stdout.write(JSON.stringify({ opened, backends: [...backends] }));
  `);
    assert.deepEqual({ opened, backends }, { opened: 1, backends: ["wasm"] });
  },
);

test("where globalThis takes no properties, every generator is refused with a code, and not the first alone", async () => {
  const codes = await inNewProcess(`
    import { createRequire } from "node:module";
    const { Snowflake } = createRequire(import.meta.url)(${packaged});
    Object.preventExtensions(globalThis);
    const codes = Array.from({ length: 3 }, () => {
      try {
        return new Snowflake({ node: 5 }).backend;
      } catch ({ code }) {
        return code;
      }
    });
    process.stdout.write(JSON.stringify(codes));
  `);
  assert.deepEqual(codes, Array(3).fill("STATE_CONFLICT"));
});

test(
  "a program that closes all descriptors, or removes the variable, leaves one mark of WebAssembly",
  needsLinux,
  async () => {
    const after = (change) =>
      inNewProcess(
        program({
          main: wasm,
          worker: native,
          order: "main first",
        }).replace("result = [first, await theirs()]", `${change}; result = [first, await theirs()]`),
      );
    const closing = `const { closeSync, readdirSync, readlinkSync } = require("node:fs");
    for (const name of readdirSync("/proc/self/fd")) {
      try { if (readlinkSync("/proc/self/fd/" + name).endsWith("/personality")) closeSync(Number(name)); } catch {}
    }`;
    for (const change of [closing, "delete process.env.FRAZIL_WASM_PROCESS"]) {
      const results = await after(change);
      assert.equal(results[1].code, "STATE_CONFLICT", change);
    }
    const both = await after(`${closing}; delete process.env.FRAZIL_WASM_PROCESS`);
    assert.ok(repeats(minted(both)) > 0, "the checker must see what happens without a mark");
  },
);
