// Millions of calls, too slow for the quick suites: a tight loop, a clock that stands still, a generator for each ID.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snowflake } from "frazil";
import { CATCH_NUMBERS, inNewProcess } from "../core/package-copy.mjs";
import { repeats, wrapping } from "./broken-generators.mjs";
import { increasing, start } from "./scripted-clock.mjs";
import { wideLayout } from "./wide-layout.mjs";

test("two million IDs in a tight loop do not repeat, and increase", () => {
  const ids = new Snowflake({ node: 1, layout: wideLayout });
  const issued = Array.from({ length: 2_000_000 }, () => ids.next());
  assert.equal(repeats(issued), 0);
  assert.ok(increasing(issued));
  const { issued: count, dropped, reservations } = ids.stats();
  assert.equal(count, 2_000_000);
  assert.ok(reservations < count / 10, `${reservations} reservations, ${dropped} dropped`);
  // The broken generator's clock allows 20,000 calls per millisecond, however slow the machine is: more than its sequence holds.
  let calls = 0;
  const broken = wrapping(() => start + Math.floor(calls++ / 20_000));
  assert.ok(repeats(Array.from({ length: 2_000_000 }, () => broken())) > 0, "the checker must catch the mutant");
});

test("on a clock that stands still, 100,000 calls neither hang nor repeat an ID", () => {
  for (const maxLeadMs of [0, 10, 1000]) {
    const ids = new Snowflake({ node: 7, maxLeadMs, maxWaitMs: 0, now: () => start });
    const issued = [];
    const codes = new Set();
    for (let call = 0; call < 100_000; call++) {
      try {
        issued.push(ids.next());
      } catch (error) {
        codes.add(`${error.code} ${error.retryAfterMs}`);
      }
    }
    assert.equal(repeats(issued), 0);
    assert.equal(issued.length, Math.min(100_000, (maxLeadMs + 1) * 4096));
    assert.deepEqual([...codes], maxLeadMs < 1000 ? ["SEQUENCE_EXHAUSTED 1"] : []);
  }
  const broken = wrapping(() => start);
  assert.ok(repeats(Array.from({ length: 100_000 }, () => broken())) > 0, "the checker must catch the mutant");
});

test("a million generators with the same options leak no memory and repeat no ID", async () => {
  const script = `
    ${CATCH_NUMBERS}
    const count = 1_000_000;
    const issued = new BigUint64Array(count);
    const options = { node: 23, maxWaitMs: 1000 };
    const mint = (first, end) => {
      for (let at = first; at < end; at++) issued[at] = new Snowflake(options).next();
    };
    const memory = () => (gc(), process.memoryUsage());
    mint(0, 1000);
    const before = memory();
    mint(1000, count);
    const after = memory();
    let repeated = 0;
    for (let at = 1; at < count; at++) if (issued[at] <= issued[at - 1]) repeated++;
    const { buffer } = numbers();
    process.stdout.write(JSON.stringify({ repeated, heap: after.heapUsed - before.heapUsed, page: buffer.byteLength }));
  `;
  const { repeated, heap, page } = await inNewProcess(script, { flags: ["--expose-gc"] });
  // With one thread the state word only grows, so an ID that is not larger than the last may be a repeat.
  assert.equal(repeated, 0);
  assert.ok(heap < 2e6, `the heap grew by ${heap} bytes`);
  assert.ok(page < 2e6, `the memory of the module has ${page} bytes`);
});
