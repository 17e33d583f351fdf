// 2,000 seeds of the simulation on the shipped driver, and broken drivers that its checker must find.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BROKEN, buildBroken } from "./broken-drivers.mjs";
import { SOMETIMES } from "./events.mjs";

const SEEDS = 2000;
const here = dirname(fileURLToPath(import.meta.url));
const main = join(here, "simulation-main.mjs");
// In this folder, so that `frazil` resolves to the same package.
const folder = mkdtempSync(join(here, ".broken-"));
after(() => rmSync(folder, { recursive: true }));

/** Runs seeds in a process of their own, since all clocks and timers there are fake. */
async function run(from, until, ...driver) {
  const { stdout } = await promisify(execFile)(process.execPath, [main, `${from}`, `${until}`, ...driver]);
  return JSON.parse(stdout);
}

test(`${SEEDS} seeds, each of which ends with everybody minting and nothing left`, async (context) => {
  const halves = await Promise.all([run(0, SEEDS / 2), run(SEEDS / 2, SEEDS)]);
  for (const { failure } of halves) assert.equal(failure, undefined, failure);
  const ids = halves.reduce((sum, half) => sum + half.ids, 0);
  const most = Math.max(...halves.map((half) => half.most));
  context.diagnostic(`${ids} IDs; at most ${most} requests of a generator in 10 s`);
  assert.ok(ids > 1_000_000, `only ${ids} IDs`);
  const seen = new Set(halves.flatMap((half) => half.seen));
  assert.deepEqual(
    SOMETIMES.filter((what) => !seen.has(what)),
    [],
    "this never happened, so nothing was proved of it",
  );
});

test("a seed that is run twice does the same", async () => {
  const [one, other] = await Promise.all([run(7, 9), run(7, 9)]);
  assert.deepEqual(one, other);
});

for (const [name, { says }] of Object.entries(BROKEN)) {
  test(`a broken driver is found: ${name}`, async (context) => {
    const path = await buildBroken(name, folder);
    const { failure } = await run(0, 400, path);
    assert.match(`${failure}`, says);
    assert.match(failure, /node tests-js\/lease-driver-simulation\/simulation\.mjs \d+/);
    context.diagnostic(failure.split("\n")[0]);
  });
}
