// What the tests of the simulations share: seeds in separate processes, what must have happened in them, and what is wrong on purpose.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

/** Runs seeds of the simulation in a file, in a process, since clocks and timers are fake there. `name`: what is broken, if anything. */
async function runSeeds(file, from, until, name = "") {
  const { stdout } = await promisify(execFile)(process.execPath, [file, `${from}`, `${until}`, name, "--json"]);
  return JSON.parse(stdout);
}

/** Runs that many seeds in two processes. Returns their results, without a failure. */
export async function runHalves(file, seeds) {
  const half = Math.ceil(seeds / 2);
  const halves = await Promise.all([runSeeds(file, 0, half), runSeeds(file, half, seeds)]);
  for (const { failure } of halves) assert.equal(failure, undefined, failure);
  // A half without seeds has no numbers.
  const of = (name) => halves.filter((half) => name in half).map((half) => half[name]);
  return {
    sum: (name) => of(name).reduce((sum, count) => sum + count),
    most: (name) => Math.max(...of(name)),
    seen: new Set(halves.flatMap((half) => half.seen)),
  };
}

/** An event that never happened was not tested. */
export function assertSeen(seen, events) {
  assert.deepEqual(
    events.filter((what) => !seen.has(what)),
    [],
    "this never happened, so nothing was proved of it",
  );
}

/** A seed that is run twice does the same. */
export function testThatSeedsRepeat(file) {
  test("a seed that is run twice does the same", async () => {
    const [one, other] = await Promise.all([runSeeds(file, 7, 9), runSeeds(file, 7, 9)]);
    assert.deepEqual(one, other);
  });
}

/**
 * Everything that is wrong on purpose is found within that many seeds, by a failure that `says` so and names how to replay it.
 * `others`: how many seeds before that may fail otherwise.
 */
export function testBroken(file, broken, seeds, { others: mostOthers = Infinity } = {}) {
  const path = /tests-js\/simulations\/[a-z-]+\/simulation\.mjs$/.exec(file)[0];
  for (const [name, { says }] of Object.entries(broken)) {
    test(`what is broken is found: ${name}`, async (context) => {
      const { failure, others } = await runSeeds(file, 0, seeds, name);
      assert.match(`${failure}`, says);
      assert.ok(failure.includes(`node ${path} `), failure);
      assert.ok(others <= mostOthers, `${others} seeds failed otherwise`);
      context.diagnostic(`${failure.split("\n")[0]}${others ? `; ${others} seeds before failed otherwise` : ""}`);
    });
  }
}
