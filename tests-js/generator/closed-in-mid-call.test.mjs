// docs/internals/claims.md: 20
// If a clock closes its own generator, that takes effect at once, because the handle may already belong to another generator.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snowflake } from "frazil";
import { repeats } from "./broken-generators.mjs";
import { start, tinyLayout } from "./scripted-clock.mjs";

/**
 * A generator whose clock, at one of its readings, closes it and opens others. `backMs` is how far the first reading is set
 * back, so that the core asks for a second one.
 */
function closing(reading, backMs = 0) {
  let reads = -Infinity;
  const others = [];
  const now = () => {
    if (++reads === reading) {
      ids.close();
      for (let node = 0; node < 8; node++)
        others.push(new Snowflake({ node: 100 + node, layout: tinyLayout, now: () => start }));
    }
    return reads === 1 ? start - backMs : start;
  };
  const ids = new Snowflake({ node: 7, layout: tinyLayout, maxLeadMs: 0, maxWaitMs: 1, maxAsyncWaitMs: 1, now });
  const arm = () => {
    reads = 0;
  };
  return { ids, others, arm };
}

const calls = {
  next: (ids) => ids.next(),
  nextString: (ids) => ids.nextString(),
  nextMany: (ids) => ids.nextMany(6),
  nextManyStrings: (ids) => ids.nextManyStrings(6),
  fill: (ids) => ids.fill(new BigUint64Array(6)),
  nextAsync: (ids) => ids.nextAsync(),
  nextManyAsync: (ids) => ids.nextManyAsync(6),
  fillAsync: (ids) => ids.fillAsync(new BigUint64Array(6)),
};
for (const [name, call] of Object.entries(calls)) {
  test(`${name} is CLOSED if the clock closes the generator, at whichever reading`, async () => {
    for (const backMs of [0, 60_000]) {
      let read = 0;
      for (const used of [0, 1, 2, 4]) {
        // Every attempt reads the clock twice before it trusts a stall, and there are two attempts.
        for (const reading of [1, 2, 3, 4]) {
          const { ids, others, arm } = closing(reading, backMs);
          for (let at = 0; at < used; at++) ids.next();
          arm();
          const outcome = await (async () => call(ids))().catch((error) => error);
          if (others.length === 0) continue;
          read = Math.max(read, reading);
          assert.equal(outcome?.code, "CLOSED", `${used} used, reading ${reading}: ${String(outcome)}`);
          const got = others.flatMap((other) => other.nextMany(4));
          assert.equal(repeats(got), 0, "the other generators must repeat no ID");
          assert.throws(ids.next, { code: "CLOSED" });
          if (backMs === 0) assert.equal(ids.stats().stepsBack, 0);
        }
      }
      assert.ok(read >= 2, `there was no second reading, ${backMs} ms back`);
    }
  });
}

test("the refusal of health() is CLOSED if the clock closes the generator, and reports nothing of the one that reuses its handle", () => {
  const { ids, others, arm } = closing(1);
  ids.nextMany(4);
  arm();
  assert.equal(ids.health().refusal.code, "CLOSED");
  assert.equal(others.length, 8);
});

test("if its clock does not close it, the same generator mints for its own node id", () => {
  const { ids, others, arm } = closing(99, 60_000);
  ids.next();
  arm();
  assert.equal(ids.decode(ids.next()).node, 7);
  assert.equal(others.length, 0);
});

test("a generator that is closed again during close() releases its handle only once", () => {
  const { ids } = closing(0);
  ids.next();
  const { unregister } = FinalizationRegistry.prototype;
  let again = 0;
  FinalizationRegistry.prototype.unregister = function (token) {
    again++;
    ids.close();
    return unregister.call(this, token);
  };
  try {
    ids.close();
  } finally {
    FinalizationRegistry.prototype.unregister = unregister;
  }
  assert.equal(again, 1);
  const others = Array.from({ length: 8 }, (_, node) => new Snowflake({ node, layout: tinyLayout, now: () => start }));
  assert.equal(repeats(others.flatMap((other) => other.nextMany(4))), 0);
});
