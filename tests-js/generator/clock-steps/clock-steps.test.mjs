// Clock steps in a real process: libfaketime changes the time that Node reads from the operating system, and four worker
// threads mint with one node id. This process counts repeats. Each scenario also runs a broken generator, which must be caught.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tools } from "../../../scripts/tools.mjs";
import { faketimeClock } from "../../processes/movable-clock.mjs";

const folder = mkdtempSync(join(tmpdir(), "frazil-clock-"));
after(() => rmSync(folder, { recursive: true }));

/** Twenty offsets of up to five seconds, the same in every run: a linear congruential generator (Numerical Recipes). */
function random() {
  let state = 20261121;
  return Array.from({ length: 20 }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return { afterMs: 100, offsetS: Number(((state / 2 ** 32) * 10 - 5).toFixed(3)) };
  });
}

/** The offsets of the clock from the real time; `afterMs` is the wait before each. The process starts two hours behind. */
const SCENARIOS = {
  "a second back": [{ afterMs: 1200, offsetS: -1 }],
  "an hour back": [{ afterMs: 700, offsetS: -3600 }],
  "an hour forward, and back": [
    { afterMs: 500, offsetS: 3600 },
    { afterMs: 700, offsetS: 0 },
  ],
  "to before the process started": [{ afterMs: 700, offsetS: -9000 }],
  "twenty steps at random": random(),
};

let runs = 0;

async function mint(task) {
  const run = ++runs;
  const out = join(folder, `ids-${run}`);
  const clock = faketimeClock({ library: tools.faketime, offsetMs: -7_200_000 });
  const env = { ...process.env, ...clock.env, FRAZIL_BACKEND: "native" };
  const script = fileURLToPath(new URL("minting-main.mjs", import.meta.url));
  const argument = JSON.stringify({ most: 200_000, ...task, out });
  const { stdout } = await promisify(execFile)(process.execPath, [script, argument], { env });
  const bytes = readFileSync(out);
  const ids = new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8).sort();
  let repeats = 0;
  for (let at = 1; at < ids.length; at++) if (ids[at] === ids[at - 1]) repeats++;
  return { issued: ids.length, repeats, threads: JSON.parse(stdout) };
}

/**
 * Scenarios in which the clock shows the same times twice, so that one broken thread repeats itself. The others need two
 * threads.
 */
const REPEATS_TIMES = ["a second back", "twenty steps at random"];

// The tests mostly sleep, so several can run at once.
const concurrency = 4;
// docs/internals/claims.md: 1, 4, 6
describe("a clock that is set back and forth", { concurrency }, () => {
  for (const [name, steps] of Object.entries(SCENARIOS)) {
    for (const layout of ["default", "multi-clock"]) {
      test(`${name}, layout ${layout}: no repeat`, async () => {
        const { issued, repeats, threads } = await mint({ steps, layout, threads: 4 });
        assert.equal(repeats, 0);
        assert.ok(issued > 1000, `${issued} issued`);
        const codes = new Set(threads.flatMap(({ codes }) => Object.keys(codes)));
        // Every thread saw the clock step back. With clock ids some threads had to switch, and the others followed, but not to
        // times at which an earlier process may have minted.
        const follows = layout === "multi-clock" && name !== "to before the process started";
        // With twenty steps over ten seconds, all clock ids can be in use for a while.
        if (follows && steps.length === 20) codes.delete("CLOCK_BACKWARD");
        assert.deepEqual([...codes], follows ? [] : ["CLOCK_BACKWARD"]);
        for (const { stats } of threads) assert.ok(stats.stepsBack > 0, JSON.stringify(stats));
        const switches = threads.reduce((sum, { stats }) => sum + stats.switches, 0);
        if (layout === "default") assert.equal(switches, 0);
        else assert.ok(switches > 0 || !follows, `${switches} switches`);
      });
    }

    const threads = REPEATS_TIMES.includes(name) ? 1 : 2;
    test(`${name}: the checker catches a generator that restarts its sequence, in ${threads} threads`, async () => {
      const { repeats } = await mint({ steps, broken: true, threads });
      assert.ok(repeats > 0);
    });
  }
});
