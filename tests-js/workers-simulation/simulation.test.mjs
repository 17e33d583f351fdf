// 600 seeds of the simulation on the shipped client and WebAssembly module, and broken clients that its checker must find.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BROKEN } from "./broken-clients.mjs";
import { SOMETIMES } from "./events.mjs";

const SEEDS = 600;
const main = fileURLToPath(new URL("simulation-main.mjs", import.meta.url));

/** Runs seeds in a process of their own. */
async function run(from, until, ...client) {
  const { stdout } = await promisify(execFile)(process.execPath, [main, `${from}`, `${until}`, ...client]);
  return JSON.parse(stdout);
}

// docs/safety.md: 22, 23, 24, 25, 27
test(`${SEEDS} seeds, in which no ID repeats, no request hangs, and every isolate mints in the end`, async (context) => {
  const halves = await Promise.all([run(0, SEEDS / 2), run(SEEDS / 2, SEEDS)]);
  for (const { failure } of halves) assert.equal(failure, undefined, failure);
  const sum = (name) => halves.reduce((sum, half) => sum + half[name], 0);
  const most = Math.max(...halves.map((half) => half.most));
  context.diagnostic(
    `seeds 0 to ${SEEDS - 1}: ${sum("ids")} IDs, ${sum("asks")} requests to the store, at most ${most} of one request`,
  );
  assert.ok(sum("ids") > 1_000_000, `only ${sum("ids")} IDs`);
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
  test(`a broken client is found: ${name}`, async (context) => {
    const { failure, others } = await run(0, 300, name);
    assert.match(`${failure}`, says);
    assert.match(failure, /node tests-js\/workers-simulation\/simulation\.mjs \d+/);
    context.diagnostic(`${failure.split("\n")[0]}; ${others} seeds before failed otherwise`);
  });
}
