// Seeds of the simulation on the shipped client, WebAssembly module and rules of the store, and broken ones that its checker must find.
// FRAZIL_SEEDS=n runs so many seeds.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BROKEN } from "./broken.mjs";
import { SOMETIMES } from "./events.mjs";

const SEEDS = Number(process.env.FRAZIL_SEEDS ?? 300);
const main = fileURLToPath(new URL("simulation-main.mjs", import.meta.url));

/** Runs seeds in a process of their own. */
async function run(from, until, ...broken) {
  const { stdout } = await promisify(execFile)(process.execPath, [main, `${from}`, `${until}`, ...broken]);
  return JSON.parse(stdout);
}

// docs/safety.md: 28, 29
test(`${SEEDS} seeds, in which no number repeats, none is lost without cause, and no request hangs`, async (context) => {
  const half = Math.ceil(SEEDS / 2);
  const halves = await Promise.all([run(0, half), run(half, SEEDS)]);
  for (const { failure } of halves) assert.equal(failure, undefined, failure);
  const sum = (name) => halves.reduce((sum, half) => sum + half[name], 0);
  const most = (name) => Math.max(...halves.map((half) => half[name]));
  context.diagnostic(
    `seeds 0 to ${SEEDS - 1}: ${sum("numbers")} numbers handed out of ${sum("allocated")} that were allocated in ${sum("ranges")} ranges; ` +
      `${sum("holes")} lost with a cause, of which ${sum("leftovers")} ranges were taken after the next attempt had begun; ` +
      `${sum("asks")} requests to the store, at most ${most("most")} of one request, and ${most("mostTries").toFixed(1)} at once for an ` +
      `attempt; calls at most ${most("mostLateMs").toFixed()} ms late, and ${most("mostHealthyMs").toFixed()} ms where the store is healthy`,
  );
  // Each is the price of one lost try that was not waited for longer.
  assert.ok(sum("leftovers") < sum("ranges") / 20, `${sum("leftovers")} ranges were lost of ${sum("ranges")}`);
  assert.ok(sum("asks") < 3 * sum("ranges"), `${sum("asks")} requests to the store for ${sum("ranges")} ranges`);
  if (SEEDS < 300) return;
  assert.ok(sum("numbers") > 100_000, `only ${sum("numbers")} numbers`);
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
  test(`what is broken is found: ${name}`, async (context) => {
    const { failure, others } = await run(0, 100, name);
    assert.match(`${failure}`, says);
    assert.match(failure, /node tests-js\/segmented-simulation\/simulation\.mjs \d+/);
    context.diagnostic(`${failure.split("\n")[0]}; ${others} seeds before failed otherwise`);
  });
}
