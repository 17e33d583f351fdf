// 2,000 seeds of the simulation on the shipped driver, and broken drivers that its checker must find.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { assertSeen, runHalves, testBroken, testThatSeedsRepeat } from "../seeds.mjs";
import { BROKEN } from "./broken.mjs";
import { SOMETIMES } from "./events.mjs";

const SEEDS = 2000;
const file = join(import.meta.dirname, "simulation.mjs");

test(`${SEEDS} seeds, each of which ends with everybody minting and nothing left`, async (context) => {
  const { sum, most, seen } = await runHalves(file, SEEDS);
  context.diagnostic(`${sum("ids")} IDs; at most ${most("most")} requests of a generator in 10 s`);
  assert.ok(sum("ids") > 1_000_000, `only ${sum("ids")} IDs`);
  assertSeen(seen, SOMETIMES);
});

testThatSeedsRepeat(file);
testBroken(file, BROKEN, 400, { others: 0 });
