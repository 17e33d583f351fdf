// docs/internals/claims.md: 19
// A target array that is detached or shrunk while it is filled: the call is refused, and no ID is issued twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Snowflake } from "frazil";
import { inNewProcess } from "../core/package-copy.mjs";
import { rules } from "../vectors/generated-tables.mjs";
import { repeats } from "./broken-generators.mjs";
import { increasing, scripted, start, times, tinyLayout } from "./scripted-clock.mjs";

const words = (length) => new BigUint64Array(new ArrayBuffer(8 * length, { maxByteLength: 8 * 2 * length }));
const ways = {
  "transferred away": (target) => structuredClone(target.buffer, { transfer: [target.buffer] }),
  "made shorter": (target) => target.buffer.resize(8),
  "made empty": (target) => target.buffer.resize(0),
};
const refused = (target, issued) => (error) => {
  const { name, code, field, value, rule } = error;
  assert.deepEqual(
    { name, code, field, rule, issued: error.issued },
    { name: "ConfigError", code: "INVALID_ARGUMENT", field: "target", rule: rules.TARGET_LOST, issued },
  );
  return value === target;
};

for (const [name, lose] of Object.entries(ways)) {
  test(`a target ${name} while fillAsync waits is refused, and the IDs it got are never repeated`, async () => {
    const { ids, clock } = scripted({ maxLeadMs: 0 });
    const target = words(3 * 4096);
    const waiting = ids.fillAsync(target);
    await sleep(0);
    const got = [...target.subarray(0, 4096)];
    assert.ok(increasing(got) && got[0] > 0n);
    lose(target);
    clock.ms += 1;
    await assert.rejects(waiting, refused(target, 4096));
    got.push(...times(5, ids.next));
    assert.equal(repeats(got), 0);
    assert.ok(increasing(got));
    assert.equal(ids.stats().issued, 4096 + 5);
  });

  test(`a target ${name} before any ID could be issued is refused, and no ID is lost`, async () => {
    const { ids, clock } = scripted({ maxLeadMs: 0 });
    const first = ids.nextMany(4096);
    const target = words(100);
    const waiting = ids.fillAsync(target);
    await sleep(0);
    lose(target);
    clock.ms += 1;
    await assert.rejects(waiting, refused(target, 0));
    const { issued, dropped } = ids.stats();
    assert.deepEqual({ issued, dropped }, { issued: 4096, dropped: 0 });
    assert.ok(first.at(-1) < ids.next());
  });

  // The first reading is before the block, the second before the core is called again.
  for (const [read, issued] of [
    [1, 0],
    [2, 3],
    [3, 3],
  ]) {
    test(`a target ${name} by the clock at reading ${read} is refused by fill and fillAsync`, async () => {
      for (const call of ["fill", "fillAsync"]) {
        let reads = 0;
        let target;
        // The clock stalls at the third reading, so it is read once more before the stall is trusted.
        const now = () => {
          if (++reads === read && target !== undefined) lose(target);
          return start;
        };
        const ids = new Snowflake({ node: 7, layout: tinyLayout, maxLeadMs: 0, maxWaitMs: 1, maxAsyncWaitMs: 1, now });
        const got = [ids.next()];
        target = words(8);
        reads = 0;
        const attempt = async () => ids[call](target);
        await assert.rejects(attempt, refused(target, issued));
        target = undefined;
        assert.ok(ids.stats().dropped === 0);
        const { issued: count } = ids.stats();
        assert.equal(count, 1 + issued);
        for (let at = 0; at < 4; at++) {
          const id = await ids.nextAsync().catch(() => undefined);
          if (id !== undefined) got.push(id);
        }
        assert.equal(repeats(got), 0);
        assert.ok(increasing(got));
      }
    });
  }
}

test("the same checker catches a generator that reuses all IDs of a call that failed", () => {
  let last = 0n;
  const fill = (target, lose) => {
    const before = last;
    try {
      for (let at = 0; at < target.length; at += 4) {
        target.set(
          times(4, () => ++last),
          at,
        );
        lose();
      }
    } catch {
      last = before;
    }
  };
  const target = words(8);
  const got = [];
  const lose = () => {
    got.push(...target);
    target.buffer.resize(8 * 4);
    throw new Error("lost");
  };
  fill(target, lose);
  got.push(...times(5, () => ++last));
  assert.ok(repeats(got.filter((id) => id > 0n)) > 0);
});

test("a replaced Date.now whose result detaches the target when it is compared: refused, and no repeat", async () => {
  const script = `
    import { Snowflake } from "frazil";
    const ids = new Snowflake({ node: 64, maxWaitMs: 1000 });
    const { now } = Date;
    const got = [];
    const codes = [];
    for (const call of ["fill", "fillAsync"]) {
      for (let at = 0; at < 3; at++) got.push(ids.next());
      const target = new BigUint64Array(100);
      let compared = 0;
      Date.now = () => ({ valueOf() {
        compared++;
        structuredClone(target.buffer, { transfer: [target.buffer] });
        return now();
      } });
      try { await ids[call](target); } catch (error) { codes.push(error.code); }
      Date.now = now;
      for (let at = 0; at < 100; at++) got.push(ids.next());
    }
    process.stdout.write(JSON.stringify({ codes, repeats: got.length - new Set(got).size }));
  `;
  assert.deepEqual(await inNewProcess(script), { codes: ["INVALID_CLOCK", "INVALID_CLOCK"], repeats: 0 });
});
