// A process that is stopped while raising the ceiling keeps its lock: calls of the others wait for it once, and `health()` says why.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snowflake } from "frazil";
import { pause, start, until } from "./child-process.mjs";
import { tempDir } from "./temp-dir.mjs";

/** How often calls waited for the lock. */
const waitsOf = (ids, call) => {
  const before = ids.stats().extensions;
  assert.throws(call, { code: "LEASE_EXPIRED", name: "LeaseError", retryable: true });
  return ids.stats().extensions - before;
};

test("a call waits once for a process that holds the lock for raising the ceiling, and health() shows that one does", async (t) => {
  const [dir, paused] = [tempDir(), pause()];
  const holder = await start(t, { pause: paused });
  const ids = Snowflake.local({ dir });
  await holder.call("open", { dir });
  // Otherwise no call needs the lock.
  await until(() => ids.health().file.ceilingMs <= Date.now());
  assert.equal(ids.health().ok, true, "nobody has the lock, so a call raises the ceiling");
  paused.once("flush");
  const held = holder.call("next", 1);
  await holder.untilStopped();

  const { ok, refusal } = ids.health();
  assert.deepEqual([ok, refusal?.code, refusal?.retryable], [false, "LEASE_EXPIRED", true]);
  assert.equal(waitsOf(ids, ids.next), 1);
  assert.equal(waitsOf(ids, ids.nextString), 1);
  assert.equal(
    waitsOf(ids, () => ids.nextMany(2)),
    1,
  );
  const before = ids.stats().extensions;
  assert.equal(ids.tryNext(), undefined);
  assert.equal(ids.stats().extensions, before, "tryNext waits for nobody");
  const twice = () => {
    assert.throws(ids.next);
    ids.next();
  };
  assert.equal(waitsOf(ids, twice), 2, "the checker must see a call that waits twice");

  holder.resume();
  const issued = [...(await held), ids.next(), ids.tryNext()];
  assert.deepEqual([new Set(issued).size, ids.health().ok], [3, true]);
  ids.close();
});
