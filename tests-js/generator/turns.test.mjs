// A program cannot hide the end of a turn by replacing anything: a block of `freshness: "turn"` ends with it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createContext, runInContext } from "node:vm";

test("fake timers that were installed before the package was loaded keep no block", () => {
  const program = `
    globalThis.queueMicrotask = () => {};
    globalThis.setImmediate = globalThis.setTimeout = () => {};
    const { Snowflake } = await import("frazil");
    const ids = new Snowflake({ node: 7, freshness: "turn" });
    const ages = [];
    // The block grows with the calls of a turn.
    for (let count = 0; count < 3000; count++) ids.next();
    await undefined;
    await undefined;
    for (let turn = 0; turn < 5; turn++) {
      const beforeMs = Date.now();
      ages.push(beforeMs - ids.decode(ids.next()).timestampMs);
      await undefined;
      await undefined;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
    console.log(JSON.stringify(ages));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  assert.ok(stdout, stderr);
  const ages = JSON.parse(stdout);
  assert.equal(ages.length, 5);
  // One of a block that was kept is 50 ms old.
  assert.ok(Math.max(...ages) <= 0, `${ages}`);
});

/** The package, loaded in a vm context. */
function loadedIn(context) {
  const path = createRequire(import.meta.url).resolve("frazil");
  const load = runInContext(
    `(function (exports, require, module, __filename, __dirname) {${readFileSync(path)}\n})`,
    context,
  );
  const module = { exports: {} };
  load(module.exports, createRequire(path), module, path, dirname(path));
  return module.exports;
}

/** Calls a function a few times at each depth at which the stack overflows somewhere inside. */
function callNearOverflow(call) {
  let depth = 0;
  const dive = () => {
    try {
      dive();
    } catch {
      depth = 0;
    }
    if (depth++ < 10)
      try {
        call();
      } catch {}
  };
  // Arguments move the frames, so that the stack overflows elsewhere.
  const moved = (..._words) => dive();
  for (let words = 0; words < 40; words++) moved(...new Array(words));
}

for (const microtaskMode of [undefined, "afterEvaluate"]) {
  test(`in a vm context with microtaskMode ${microtaskMode} a turn ends as well`, async () => {
    const globals = { process, performance, crypto, atob, SharedArrayBuffer, Atomics };
    const { Snowflake } = loadedIn(createContext(globals, { ...(microtaskMode && { microtaskMode }) }));
    let ms = 1_790_000_000_000;
    let reads = 0;
    const now = () => {
      reads++;
      return ms;
    };
    const ids = new Snowflake({ node: 7, freshness: "turn", now });
    // Called from outside the context, as by a server that keeps its handlers in one.
    for (let count = 0; count < 3000; count++) ids.next();
    assert.ok(reads < 20, "in a turn the clock is not read for each ID");
    for (let count = 0; count < 5; count++) {
      await turn();
      ms += 100;
      assert.equal(ids.decode(ids.next()).timestampMs, ms);
    }
    // On a block of an earlier turn, where the end of this turn takes more of the stack than the ID.
    for (let count = 0; count < 3000; count++) ids.next();
    await turn();
    callNearOverflow(ids.next);
    for (let count = 0; count < 5; count++) {
      await turn();
      ms += 100;
      assert.equal(ids.decode(ids.next()).timestampMs, ms, "after a stack overflow");
      ids.next();
    }
  });
}
