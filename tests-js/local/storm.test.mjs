// Eight processes with two threads each mint on one state file, and are killed, all the time, one by one and all at once, and
// stopped for longer than the ceiling reaches. Another process counts what they wrote down.
//
// FRAZIL_STORM_S is how long a storm lasts: 20 s in CI, 120 s in `npm run test:long`, which then wants ten million IDs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { count } from "./count-repeats.mjs";
import { folder, minter, numbers } from "./minting-process.mjs";

const seconds = Number(process.env.FRAZIL_STORM_S ?? 20);
const PROCESSES = 8;

/** Lets a storm rage over processes, and returns what they had issued, and what they said before they gave up. */
async function storm(t, task, rage_s) {
  const out = folder(t, "storm");
  const random = numbers(20261121);
  const start = () => minter(t, { threads: 2, batch: 1024, pauseMs: 4, out, ...task });
  const fleet = Array.from({ length: PROCESSES }, start);
  const gaveUp = [];
  const replace = async (at) => {
    const old = fleet[at];
    await old.kill();
    const code = await old.ended;
    if (code !== undefined) gaveUp.push(old.said);
    fleet[at] = start();
  };
  let kills = 0;
  const until = performance.now() + 1000 * rage_s;
  while (performance.now() < until) {
    await sleep(200 + 600 * random());
    const whim = random();
    const at = Math.floor(PROCESSES * random());
    if (whim < 0.1) {
      // All at once: the file is nobody's for a moment.
      kills += PROCESSES;
      await Promise.all(fleet.map((_, at) => replace(at)));
    } else if (whim < 0.2) {
      fleet[at].signal("SIGSTOP");
      setTimeout(() => fleet[at].signal("SIGCONT"), 3500);
    } else {
      kills++;
      await replace(at);
    }
  }
  for (const process of fleet) {
    process.signal("SIGCONT");
    await process.kill();
    if ((await process.ended) !== undefined) gaveUp.push(process.said);
  }
  return { ...count(out), gaveUp, kills };
}

// docs/safety.md: 12
test(`${PROCESSES} processes that are killed for ${seconds} s repeat no ID`, async (t) => {
  const dir = folder(t, "state");
  const { issued, repeats, gaveUp, kills } = await storm(t, { options: { dir } }, seconds);
  t.diagnostic(`${issued} IDs, ${kills} kills`);
  assert.deepEqual(gaveUp, []);
  assert.equal(repeats, 0);
  assert.ok(kills > seconds / 2, `${kills} kills`);
  assert.ok(issued >= (seconds >= 120 ? 10_000_000 : 100_000), `${issued} IDs`);
});

test("processes that share a node id without a state file are caught", async (t) => {
  const { repeats } = await storm(t, { broken: true }, 4);
  assert.ok(repeats > 0);
});
