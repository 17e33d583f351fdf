// A clock is user code, and runs in the middle of a call: it may close the generator that asks it, and open others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snowflake } from "frazil";

const start = 1_780_000_000_000;

/**
 * What a call gives during which the clock closes the generator of node 7 that reads it, and opens others of node 8. The clock
 * does so at a reading, counted from the call on; the first reading of the call is a minute back, so that there is a second.
 */
function closedAt(reading, call) {
  let reads = -1;
  const opened = [];
  const ids = new Snowflake({
    node: 7,
    maxWaitMs: 0,
    now() {
      reads++;
      if (reads === reading) {
        ids.close();
        for (let at = 0; at < 3; at++) opened.push(new Snowflake({ node: 8, now: () => start }));
      }
      return reads === 1 && reading > 1 ? start - 60_000 : start;
    },
  });
  ids.next();
  try {
    return { gives: call(ids), node: opened[0]?.node };
  } catch (error) {
    return { code: error.code, node: opened[0]?.node };
  } finally {
    for (const other of opened) other.close();
  }
}

for (const [name, call] of [
  ["next", (ids) => ids.decode(ids.next()).node],
  ["nextMany", (ids) => ids.nextMany(3).map((id) => ids.decode(id).node)],
  ["fill", (ids) => Array.from(ids.fill(new BigUint64Array(3)), (id) => ids.decode(id).node)],
]) {
  test(`${name}() of a generator that is closed in mid-call issues no ID of another node id`, () =>
    assert.deepEqual(closedAt(2, call), { code: "CLOSED", node: 8 }));
}

test("health() of a generator that is closed in mid-call tells nothing of another", () =>
  assert.deepEqual(
    closedAt(1, (ids) => {
      const { refusal, leadMs } = ids.health();
      if (refusal) throw refusal;
      return leadMs;
    }),
    { code: "CLOSED", node: 8 },
  ));

test("the clock is read where the checker thinks it is: left open, the same calls mint", () => {
  assert.deepEqual(
    closedAt(99, (ids) => ids.decode(ids.next()).node),
    { gives: 7, node: undefined },
  );
});
