// A stress test. Eight processes with two threads each mint from one state file. At random intervals they are killed, one at a
// time or all at once, or stopped for longer than the ceiling reaches. The test then counts repeats among the IDs that they
// wrote.
//
// FRAZIL_STORM_S is the least duration: 20 s in CI, 120 s in `npm run test:long`, which then requires ten million IDs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testFolder } from "./minting-process.mjs";
import { brokenStorm, PROCESSES, storm } from "./storm.mjs";

const seconds = Number(process.env.FRAZIL_STORM_S ?? 20);

// docs/safety.md: 12
test(`${PROCESSES} processes that are killed for ${seconds} s repeat no ID`, async (t) => {
  const dir = testFolder(t, "state");
  const least = { minKills: Math.floor(seconds / 2) + 1, minIssued: seconds >= 120 ? 10_000_000 : 100_000 };
  const { issued, repeats, gaveUp, kills } = await storm(t, { options: { dir } }, seconds, least);
  t.diagnostic(`${issued} IDs, ${kills} kills`);
  assert.deepEqual(gaveUp, []);
  assert.equal(repeats, 0);
  assert.ok(kills >= least.minKills, `${kills} kills`);
  assert.ok(issued >= least.minIssued, `${issued} IDs`);
});

test("the checker catches processes that share a node id without a state file", async (t) => {
  assert.ok((await brokenStorm(t)) > 0);
});
