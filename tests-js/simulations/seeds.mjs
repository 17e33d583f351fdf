// What the tests of the simulations share: seeds in processes of their own, what must have happened in them, and what is wrong on purpose.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

/** Runs seeds in a process, since clocks and timers are fake there. `main` writes what happened as JSON. */
export async function runSeeds(main, from, until, ...more) {
  const { stdout } = await promisify(execFile)(process.execPath, [main, `${from}`, `${until}`, ...more]);
  return JSON.parse(stdout);
}

/** Runs that many seeds in two processes. Returns their results, none of which has a failure. */
export async function runHalves(main, seeds) {
  const half = Math.ceil(seeds / 2);
  const halves = await Promise.all([runSeeds(main, 0, half), runSeeds(main, half, seeds)]);
  for (const { failure } of halves) assert.equal(failure, undefined, failure);
  // A half without seeds has no numbers.
  const of = (name) => halves.filter((half) => name in half).map((half) => half[name]);
  return {
    sum: (name) => of(name).reduce((sum, count) => sum + count),
    most: (name) => Math.max(...of(name)),
    seen: new Set(halves.flatMap((half) => half.seen)),
  };
}

/** What never happened was not tested. */
export function assertSeen(seen, events) {
  assert.deepEqual(
    events.filter((what) => !seen.has(what)),
    [],
    "this never happened, so nothing was proved of it",
  );
}

/** A seed that is run twice does the same. */
export function testThatSeedsRepeat(main) {
  test("a seed that is run twice does the same", async () => {
    const [one, other] = await Promise.all([runSeeds(main, 7, 9), runSeeds(main, 7, 9)]);
    assert.deepEqual(one, other);
  });
}

/**
 * Everything that is wrong on purpose is found within that many seeds, by a failure that `says` so and names how to replay it. `argument`:
 * what `main` is given for a name.
 */
export function testBroken(main, broken, seeds, argument = (name) => name) {
  const folder = /tests-js\/simulations\/[a-z-]+(?=\/simulation-main\.mjs$)/.exec(main)[0];
  for (const [name, { says }] of Object.entries(broken)) {
    test(`what is broken is found: ${name}`, async (context) => {
      const { failure, others } = await runSeeds(main, 0, seeds, await argument(name));
      assert.match(`${failure}`, says);
      assert.match(failure, new RegExp(`node ${folder}/simulation\\.mjs \\d+`));
      context.diagnostic(`${failure.split("\n")[0]}${others ? `; ${others} seeds before failed otherwise` : ""}`);
    });
  }
}
