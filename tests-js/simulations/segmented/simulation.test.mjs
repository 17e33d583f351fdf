// Seeds of the simulation on the shipped client, WebAssembly module and rules of the store, and broken ones that its checker must find.
// FRAZIL_SEEDS=n runs n seeds.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { assertSeen, runHalves, testBroken, testThatSeedsRepeat } from "../seeds.mjs";
import { BROKEN } from "./broken.mjs";
import { SOMETIMES } from "./events.mjs";

const SEEDS = Number(process.env.FRAZIL_SEEDS ?? 300);
const file = join(import.meta.dirname, "simulation.mjs");

// docs/internals/claims.md: 28, 29
test(`${SEEDS} seeds, in which no number repeats, none is lost without cause, and no request hangs`, async (context) => {
  const { sum, most, seen } = await runHalves(file, SEEDS);
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
  assertSeen(seen, SOMETIMES);
});

testThatSeedsRepeat(file);
testBroken(file, BROKEN, 100);
