// A stress test. Eight processes with two threads each mint from one state file. At random intervals they are killed, one at a
// time or all at once, or stopped for longer than the ceiling reaches. The test then counts repeats among the IDs that they
// wrote.
//
// FRAZIL_STORM_S is the least duration: 20 s in CI, 120 s in `npm run test:long`, which then requires ten million IDs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { countIds, idsWritten } from "./count-repeats.mjs";
import { randomNumbers, startMinting, testFolder } from "./minting-process.mjs";

const seconds = Number(process.env.FRAZIL_STORM_S ?? 20);
const PROCESSES = 8;

/** Starts a process that mints, in two threads. */
const start = (t, out, task) => startMinting(t, { threads: 2, batch: 1024, pauseMs: 4, out, ...task });

// docs/internals/claims.md: 12
test(`${PROCESSES} processes that are killed for ${seconds} s repeat no ID`, async (t) => {
  const dir = testFolder(t, "state");
  const out = testFolder(t, "storm");
  const least = { kills: Math.floor(seconds / 2) + 1, issued: seconds >= 120 ? 10_000_000 : 100_000 };
  const random = randomNumbers(20261121);
  const children = Array.from({ length: PROCESSES }, () => start(t, out, { options: { dir } }));
  const gaveUp = [];
  const kill = async (child) => {
    await child.kill();
    if ((await child.ended) !== undefined) gaveUp.push(child.errorOutput);
  };
  let kills = 0;
  const replace = async (at) => {
    kills++;
    await kill(children[at]);
    children[at] = start(t, out, { options: { dir } });
  };
  const until = performance.now() + 1000 * seconds;
  // Longer where the machine takes longer.
  while (performance.now() < until || kills < least.kills || idsWritten(out) < least.issued) {
    t.signal.throwIfAborted();
    await sleep(200 + 600 * random());
    const action = random();
    const at = Math.floor(PROCESSES * random());
    if (action < 0.1) {
      // All at once, so that for a moment no process has the file open.
      await Promise.all(children.map((_, at) => replace(at)));
    } else if (action < 0.2) {
      children[at].signal("SIGSTOP");
      setTimeout(() => children[at].signal("SIGCONT"), 3500);
    } else await replace(at);
  }
  await Promise.all(children.map(kill));
  const { issued, repeats } = countIds(out);
  t.diagnostic(`${issued} IDs, ${kills} kills`);
  assert.deepEqual(gaveUp, []);
  assert.equal(repeats, 0);
  assert.ok(issued >= least.issued && kills >= least.kills);
});

test("the checker catches processes that share a node id without a state file", async (t) => {
  const out = testFolder(t, "broken");
  const children = Array.from({ length: PROCESSES }, () => start(t, out, { broken: true }));
  while (countIds(out).repeats === 0) {
    t.signal.throwIfAborted();
    await sleep(200);
  }
  await Promise.all(children.map((child) => child.kill()));
});
