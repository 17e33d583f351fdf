// The end of a turn is noticed by nothing that a program can replace: a block of `freshness: "turn"` ends with it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

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
