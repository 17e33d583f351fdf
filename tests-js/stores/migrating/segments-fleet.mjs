// Processes of both generations that take numbers of one tag, while they are killed and stopped, and how often a number repeats.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { countIds } from "../../local/count-repeats.mjs";
import { randomNumbers } from "../../local/minting-process.mjs";
import { laterWork } from "../../processes/later.mjs";
import { Member } from "./fleet.mjs";

/** How long the processes may take until each has written numbers. */
const START_MS = 60_000;

/** How many numbers each generation takes at least, however slow the machine is, and how long that may take. */
export const ENOUGH = 1000;
const ENOUGH_MS = 60_000;

/**
 * Starts processes of both generations, and waits until each has written numbers. `old` and `fresh`: their tasks, for
 * `segments-main.mjs`. Resolves to `run(seconds)`, which lets them take numbers for so long under faults, and until each generation has
 * `ENOUGH` (a mutant: until a number repeats), ends them, and counts.
 */
export async function startSegments({ of, old, fresh, mutant, seed = 20261122 }) {
  const out = mkdtempSync(join(tmpdir(), "frazil-migrating-"));
  const random = randomNumbers(seed);
  const common = { out, of, mutant, batch: 50, pauseMs: 5 };
  const start = (tasks, isOld) =>
    tasks.map((task) => new Member("segments-main.mjs", () => ({ ...common, isOld, ...task })));
  const members = [...start(old, true), ...start(fresh, false)];
  const gaveUp = () => members.flatMap((member) => member.gaveUp);
  const endAll = () => Promise.all(members.map((member) => member.end()));
  const sizes = (prefix = "") =>
    readdirSync(out)
      .filter((name) => name.startsWith(prefix))
      .map((name) => statSync(join(out, name)).size);

  const startedBy = performance.now() + START_MS;
  while (sizes().filter((size) => size > 0).length < members.length) {
    if (performance.now() > startedBy || gaveUp().length > 0) {
      await endAll();
      throw new Error(`not all took numbers: ${gaveUp().join("\n")}`);
    }
    await sleep(20);
  }

  return async (seconds) => {
    const struck = { killed: 0, stopped: 0 };
    const { later, allDone } = laterWork();
    const hasRepeated = () => mutant !== undefined && countIds(out).repeats > 0;
    const amount = (prefix) => sizes(prefix).reduce((sum, size) => sum + Math.floor(size / 8), 0);
    const until = performance.now() + 1000 * seconds;
    const isShort = () => {
      const hasTime = mutant === undefined && performance.now() < until + ENOUGH_MS;
      return hasTime && Math.min(amount("old-"), amount("new-")) <= ENOUGH;
    };
    try {
      while ((performance.now() < until || isShort()) && !hasRepeated()) {
        await sleep(100 + 200 * random());
        const member = members[Math.floor(members.length * random())];
        if (random() < 0.5) {
          struck.killed++;
          await member.restart();
        } else {
          struck.stopped++;
          member.signal("SIGSTOP");
          later(600 * random(), () => member.signal("SIGCONT"));
        }
      }
      await allDone();
    } finally {
      await endAll();
    }
    const counted = { ...countIds(out), old: amount("old-"), fresh: amount("new-"), largest: largestIn(out), struck };
    rmSync(out, { recursive: true, force: true });
    return { ...counted, gaveUp: gaveUp() };
  };
}

/** The largest number in the sorted files. */
const largestIn = (out) =>
  readdirSync(out)
    .map((name) => readFileSync(join(out, name)))
    .map((bytes) => (bytes.length < 8 ? 0n : bytes.readBigUInt64LE(8 * Math.floor(bytes.length / 8) - 8)))
    .reduce((largest, number) => (number > largest ? number : largest), 0n);

export const shown = ({ issued, old, fresh, repeats, struck }) =>
  `${issued} numbers (${old} of the old generation, ${fresh} of the new one), ${repeats} repeats; killed ${struck.killed}, ` +
  `stopped ${struck.stopped}`;
