// Kills and stops processes that mint, at random intervals, and counts repeats among the IDs that they wrote.
import { setTimeout as sleep } from "node:timers/promises";
import { countIds, idsWritten } from "./count-repeats.mjs";
import { randomNumbers, startMinting, testFolder } from "./minting-process.mjs";

export const PROCESSES = 8;

/**
 * Kills processes at random, and stops them unless `stops` is false: Windows has no signal for that. Returns how many IDs were written
 * and repeated, and the errors with which processes gave up.
 *
 * @param durationS the least time that it goes on; longer where the machine takes longer to kill `minKills` and mint `minIssued`.
 */
export async function storm(t, task, durationS, { stops = true, minKills = 0, minIssued = 0 } = {}) {
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
  while (performance.now() < until || kills < minKills || idsWritten(out) < minIssued) {
    t.signal.throwIfAborted();
    await sleep(200 + 600 * random());
    const action = random();
    const at = Math.floor(PROCESSES * random());
    if (action < 0.1) {
      // All at once, so that for a moment no process has the file open.
      kills += PROCESSES;
      await Promise.all(children.map((_, at) => replace(at)));
    } else if (action < 0.2 && stops) {
      children[at].signal("SIGSTOP");
      setTimeout(() => children[at].signal("SIGCONT"), 3500);
    } else {
      kills++;
      await replace(at);
    }
  }
  for (const child of children) {
    await child.kill();
    if ((await child.ended) !== undefined) gaveUp.push(child.errorOutput);
  }
  return { ...countIds(out), gaveUp, kills };
}

/**
 * The same with processes that share a node id and no state file. Returns how many IDs repeat. On a busy machine the processes may not
 * mint at one time for a while, so it is tried until they do.
 */
export async function brokenStorm(t) {
  for (;;) {
    const { repeats } = await storm(t, { broken: true }, 4, { stops: false });
    if (repeats > 0) return repeats;
  }
}
