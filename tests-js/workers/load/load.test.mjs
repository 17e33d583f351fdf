// A hundred isolates in workerd under leases of as many node ids, with clocks further apart than the window is long. Isolates are replaced,
// the object is aborted, and workerd is killed and restarted on the same storage.
//
// FRAZIL_WORKERS_LOAD_S is the duration of the run. It is 20 in CI, and 180 in `npm run test:long`, which does not
// end the run of the broken object at its first repeat.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ISOLATES, run } from "./fleet.mjs";

const SECONDS = Number(process.env.FRAZIL_WORKERS_LOAD_S ?? 20);
const isLong = SECONDS > 60;
const MILLION = 1_000_000;

/** The figures of a run, as one line. */
function shown({ failures, heldFailures, ...figures }) {
  const named = Object.entries(figures).map(([name, figure]) => `${name} ${figure}`);
  const refused = Object.entries(failures).map(([code, count]) => `${count} ${code}`);
  return [...named, ...refused].join(", ");
}

function assertHeld({ ids, repeats, isolates, reused, aborts, kills, failedHeld, waitedHeld, heldFailures }) {
  assert.ok(ids >= MILLION, `${ids} IDs`);
  assert.equal(repeats, 0);
  assert.equal(failedHeld, 0, JSON.stringify(heldFailures.slice(0, 5)));
  assert.equal(waitedHeld, 0);
  assert.ok(isolates > 2 * ISOLATES, `${isolates} isolates`);
  assert.ok(reused > ISOLATES, `${reused} times a node id went to another isolate`);
  assert.ok(aborts > 1 && kills > 0, `${aborts} aborts, ${kills} kills`);
}

// docs/internals/claims.md: 22, 23
test(`isolates repeat no ID, and no request fails while a lease is held, for ${SECONDS} s`, async (t) => {
  const figures = await run({ seconds: SECONDS, atLeast: MILLION });
  t.diagnostic(shown(figures));
  assertHeld(figures);
});

test("the checker catches an object that forgets where a window begins", async (t) => {
  const figures = await run({ class_: "BrokenLeases", seconds: 60, stopsAtRepeat: !isLong });
  t.diagnostic(shown(figures));
  assert.ok(figures.repeats > 0);
});
