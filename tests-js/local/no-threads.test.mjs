// localAsync() opens a state file on a separate thread. Process limits (ulimit -u, pids.max) can refuse that thread.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { entry, inNewProcess, needsLinux } from "../core/binding/node-process.mjs";
import { preloadedLibrary } from "../processes/preloaded.mjs";
import { tempDir } from "./temp-dir.mjs";

/** A program that asks for a state file while no thread can be started. It ends only if its event loop does. */
const program = `
  import { createRequire } from "node:module";
  import { rmSync, writeFileSync } from "node:fs";
  const { Snowflake } = createRequire(import.meta.url)(${JSON.stringify(entry)});
  const dir = ${JSON.stringify(tempDir())};
  // Loaded before, because the addon and the package need no thread.
  new Snowflake({ node: 1 }).next();
  setTimeout(() => process.exit(3), 30_000).unref();
  const results = [];
  const attempt = async (options) => {
    try {
      const ids = await Snowflake.localAsync({ dir, ...options });
      results.push({ opened: typeof ids.next() });
      ids.close();
    } catch ({ constructor, code, field, message, hint, retryable }) {
      results.push({ name: constructor.name, code, field, message: message + hint, retryable });
    }
  };
  const { NO_THREAD } = process.env;
  writeFileSync(NO_THREAD, "");
  await attempt();
  await attempt({ node: 5000 });
  // A refused opening registers no node id.
  results.push({ issued: typeof new Snowflake({ node: 0 }).next() });
  await attempt({ node: 2 });
  rmSync(NO_THREAD);
  await attempt({ node: 2 });
  process.on("exit", () => process.stdout.write(JSON.stringify(results)));
`;

describe("localAsync() where no thread can be started", needsLinux, () => {
  let results;
  before(async () => {
    const library = preloadedLibrary(new URL("no-thread.c", import.meta.url));
    const env = { FRAZIL_BACKEND: "native", LD_PRELOAD: library, NO_THREAD: join(tempDir(), "no-thread") };
    // With exit code 3 it rejects: the event loop did not end.
    results = await inNewProcess(program, { env });
  });

  test("is refused with a code, and says what helps", () => {
    for (const { message, ...error } of [results[0], results[3]]) {
      assert.deepEqual(error, { name: "ConfigError", code: "STATE_FILE_FAILED", field: "dir", retryable: false });
      assert.match(message, /no thread could be started.*os error 11.*ulimit -u.*Snowflake\.local\(\)/s);
    }
  });

  test("refuses options that are wrong as it does where there are threads", () => {
    assert.deepEqual([results[1].code, results[1].field], ["INVALID_NODE", "node"]);
  });

  test("leaves nothing in the way of other generators, nor of the next attempt", () => {
    assert.deepEqual([results[2], results[4]], [{ issued: "bigint" }, { opened: "bigint" }]);
  });
});
