// 600 seeds of the simulation on the shipped client and WebAssembly module, and broken clients that its checker must find.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { assertSeen, runHalves, testBroken, testThatSeedsRepeat } from "../seeds.mjs";
import { BROKEN } from "./broken.mjs";
import { SOMETIMES } from "./events.mjs";

const SEEDS = 600;
const file = join(import.meta.dirname, "simulation.mjs");

// docs/internals/claims.md: 22, 23, 24, 25, 27
test(`${SEEDS} seeds, in which no ID repeats, no request hangs, and every isolate mints in the end`, async (context) => {
  const { sum, most, seen } = await runHalves(file, SEEDS);
  context.diagnostic(
    `seeds 0 to ${SEEDS - 1}: ${sum("ids")} IDs, ${sum("asks")} requests to the store, at most ${most("most")} of one request`,
  );
  assert.ok(sum("ids") > 1_000_000, `only ${sum("ids")} IDs`);
  assertSeen(seen, SOMETIMES);
});

testThatSeedsRepeat(file);
testBroken(file, BROKEN, 300);
