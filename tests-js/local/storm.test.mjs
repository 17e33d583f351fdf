// A stress test. Eight processes with two threads each mint from one state file. At random intervals they are killed, one at a
// time or all at once, or stopped for longer than the ceiling reaches. The test then counts repeats among the IDs that they
// wrote.
//
// FRAZIL_STORM_S is the duration: 20 s in CI, 120 s in `npm run test:long`, which then requires ten million IDs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { countIds } from "./count-repeats.mjs";
import { randomNumbers, startMinting, testFolder } from "./minting-process.mjs";

const seconds = Number(process.env.FRAZIL_STORM_S ?? 20);
const PROCESSES = 8;

/**
 * Kills and stops processes at random. Returns how many IDs were written and repeated, and the errors with which processes gave
 * up.
 */
async function storm(t, task, durationS) {
  const out = testFolder(t, "storm");
  const random = randomNumbers(20261121);
  const start = () => startMinting(t, { threads: 2, batch: 1024, pauseMs: 4, out, ...task });
  const children = Array.from({ length: PROCESSES }, start);
  const gaveUp = [];
  const replace = async (at) => {
    const old = children[at];
    await old.kill();
    const code = await old.ended;
    if (code !== undefined) gaveUp.push(old.errorOutput);
    children[at] = start();
  };
  let kills = 0;
  const until = performance.now() + 1000 * durationS;
  while (performance.now() < until) {
    await sleep(200 + 600 * random());
    const action = random();
    const at = Math.floor(PROCESSES * random());
    if (action < 0.1) {
      // All at once, so that for a moment no process has the file open.
      kills += PROCESSES;
      await Promise.all(children.map((_, at) => replace(at)));
    } else if (action < 0.2) {
      children[at].signal("SIGSTOP");
      setTimeout(() => children[at].signal("SIGCONT"), 3500);
    } else {
      kills++;
      await replace(at);
    }
  }
  for (const process of children) {
    process.signal("SIGCONT");
    await process.kill();
    if ((await process.ended) !== undefined) gaveUp.push(process.errorOutput);
  }
  return { ...countIds(out), gaveUp, kills };
}

// docs/safety.md: 12
test(`${PROCESSES} processes that are killed for ${seconds} s repeat no ID`, async (t) => {
  const dir = testFolder(t, "state");
  const { issued, repeats, gaveUp, kills } = await storm(t, { options: { dir } }, seconds);
  t.diagnostic(`${issued} IDs, ${kills} kills`);
  assert.deepEqual(gaveUp, []);
  assert.equal(repeats, 0);
  assert.ok(kills > seconds / 2, `${kills} kills`);
  assert.ok(issued >= (seconds >= 120 ? 10_000_000 : 100_000), `${issued} IDs`);
});

test("the checker catches processes that share a node id without a state file", async (t) => {
  const { repeats } = await storm(t, { broken: true }, 4);
  assert.ok(repeats > 0);
});
