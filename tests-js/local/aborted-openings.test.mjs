// Opening a state file can wait up to startWaitMs. A program that aborts it must be able to end before that.
import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { describe, test } from "node:test";
import { entry, inNewProcess, needsLinux } from "../core/binding/node-process.mjs";
import { start } from "./child-process.mjs";
import { tempDir } from "./temp-dir.mjs";

/** A directory whose state file has been moved away from a process that still has it open and is stopped: openings there wait. */
async function placeInUse(t) {
  const dir = tempDir();
  const holder = await start(t);
  const { path } = await holder.call("open", { dir });
  process.kill(holder.pid, "SIGSTOP");
  await holder.untilStopped();
  renameSync(path, `${path}.old`);
  return { dir, holder };
}

/** What programs here begin with. Exit code 3 shows that the event loop of one is held. */
const prelude = (dir, limitMs = 30_000) => `
  import { createRequire } from "node:module";
  import { readdirSync, readFileSync, readlinkSync } from "node:fs";
  import { setTimeout as sleep } from "node:timers/promises";
  import { Worker } from "node:worker_threads";
  const entry = ${JSON.stringify(entry)};
  const { Snowflake } = createRequire(import.meta.url)(entry);
  setTimeout(() => process.exit(3), ${limitMs}).unref();
  /** Longer than the test. */
  const options = { dir: ${JSON.stringify(dir)}, startWaitMs: 2 ** 31 - 1 };
  const isOpening = (id) => {
    try {
      return readFileSync("/proc/self/task/" + id + "/comm", "latin1") === "frazil-open\\n";
    } catch {
      return false;
    }
  };
  const threads = () => readdirSync("/proc/self/task").filter(isOpening);
  const isOpen = (id) => {
    try {
      return readlinkSync("/proc/self/fd/" + id).includes(".frazil");
    } catch {
      return false;
    }
  };
  const openFiles = () => readdirSync("/proc/self/fd").filter(isOpen);
  const until = async (condition) => {
    while (!condition()) await sleep(5);
  };
  const refusal = (opening) => opening.then((ids) => ids.close() ?? "opened", ({ code, name }) => (typeof code === "string" ? code : name));
`;
const inNative = (script) => inNewProcess(script, { env: { FRAZIL_BACKEND: "native" } });

describe("localAsync() that waits and is aborted", needsLinux, () => {
  test("does not hold the event loop", async (t) => {
    const { dir } = await placeInUse(t);
    const result = await inNative(`${prelude(dir)}
      const aborter = new AbortController();
      const opening = refusal(Snowflake.localAsync({ ...options, signal: aborter.signal }));
      await until(() => openFiles().length > 0);
      aborter.abort();
      const name = await opening;
      process.on("exit", () => process.stdout.write(JSON.stringify(name)));
    `);
    assert.equal(result, "AbortError");
  });

  test("holds it until it is aborted", async (t) => {
    const { dir } = await placeInUse(t);
    const held = inNative(`${prelude(dir, 2000)}
      Snowflake.localAsync({ ...options, signal: new AbortController().signal });
      process.on("exit", () => process.stdout.write("null"));
    `);
    await assert.rejects(held, { code: 3 });
  });

  test("does not hold a worker thread", async (t) => {
    const { dir } = await placeInUse(t);
    const exitCode = await inNative(`${prelude(dir)}
      const worker = new Worker(\`
        const { Snowflake } = require(\${JSON.stringify(entry)});
        const options = \${JSON.stringify(options)};
        Snowflake.localAsync({ ...options, signal: AbortSignal.timeout(100) }).catch(() => {});
        setTimeout(() => {}, 200);
      \`, { eval: true, execArgv: [] });
      const code = await new Promise((resolve) => worker.once("exit", resolve));
      process.stdout.write(JSON.stringify(code));
    `);
    assert.equal(exitCode, 0);
  });

  test("leaves no file open, also if the file was open when the signal was aborted", async (t) => {
    const { dir, holder } = await placeInUse(t);
    const running = inNative(`${prelude(dir)}
      const first = new AbortController();
      const openings = Array.from({ length: 8 }, () => refusal(Snowflake.localAsync({ ...options, signal: first.signal })));
      await until(() => openFiles().length > 0 && threads().length === 8);
      first.abort();
      const names = await Promise.all(openings);
      process.kill(${holder.pid}, "SIGKILL");
      await until(() => threads().length === 0 && openFiles().length === 0);
      const aborter = new AbortController();
      const opening = refusal(Snowflake.localAsync({ ...options, signal: aborter.signal }));
      // Its thread opens the file and ends, and this one does not look.
      while (openFiles().length === 0 || threads().length > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      const opened = openFiles().length;
      aborter.abort();
      names.push(await opening);
      await until(() => openFiles().length === 0);
      const ids = await Snowflake.localAsync(options);
      const { attached } = ids.health().file;
      ids.close();
      process.stdout.write(JSON.stringify({ names, opened, attached }));
    `);
    const { names, opened, attached } = await running;
    assert.deepEqual(names, Array(9).fill("AbortError"));
    assert.ok(opened > 0, "it had been opened");
    assert.equal(attached, 1);
  });

  test("ends its thread", async (t) => {
    const { dir } = await placeInUse(t);
    const result = await inNative(`${prelude(dir)}
      const aborter = new AbortController();
      const { signal } = aborter;
      const openings = Array.from({ length: 16 }, () => refusal(Snowflake.localAsync({ ...options, signal })));
      await until(() => threads().length === 16);
      aborter.abort();
      await until(() => threads().length === 0);
      process.stdout.write(JSON.stringify(await Promise.all(openings)));
    `);
    assert.deepEqual(result, Array(16).fill("AbortError"));
  });

  test("does not end other openings of the file", async (t) => {
    const { dir, holder } = await placeInUse(t);
    const result = await inNative(`${prelude(dir)}
      const aborter = new AbortController();
      const openings = Array.from({ length: 16 }, (_, turn) =>
        refusal(Snowflake.localAsync({ ...options, ...(turn % 4 !== 1 && { signal: aborter.signal }) })),
      );
      await until(() => threads().length === 16);
      aborter.abort();
      await openings[0];
      process.kill(${holder.pid}, "SIGKILL");
      process.stdout.write(JSON.stringify(await Promise.all(openings)));
    `);
    const expected = Array.from({ length: 16 }, (_, turn) => (turn % 4 === 1 ? "opened" : "AbortError"));
    assert.deepEqual(result, expected);
  });
});

test("worker threads that end while an opening waits end its thread, and leave no file open", needsLinux, async (t) => {
  const { dir, holder } = await placeInUse(t);
  const attached = await inNative(`${prelude(dir)}
    const script = \`
      const { parentPort } = require("node:worker_threads");
      const { Snowflake } = require(\${JSON.stringify(entry)});
      Snowflake.localAsync(\${JSON.stringify(options)}).catch(() => {});
      parentPort.postMessage(0);
    \`;
    const workers = Array.from({ length: 8 }, () => new Worker(script, { eval: true, execArgv: [] }));
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once("message", resolve))));
    await until(() => openFiles().length > 0 && threads().length === 8);
    await Promise.all(workers.map((worker) => worker.terminate()));
    await until(() => threads().length === 0 && openFiles().length === 0);
    process.kill(${holder.pid}, "SIGKILL");
    const ids = await Snowflake.localAsync(options);
    const { attached } = ids.health().file;
    ids.close();
    process.stdout.write(JSON.stringify(attached));
  `);
  assert.equal(attached, 1);
});
