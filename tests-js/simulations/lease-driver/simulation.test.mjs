// 2,000 seeds of the simulation on the shipped driver, and broken drivers that its checker must find.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { assertSeen, runHalves, testBroken, testThatSeedsRepeat } from "../seeds.mjs";
import { BROKEN, buildBroken } from "./broken-drivers.mjs";
import { SOMETIMES } from "./events.mjs";

const SEEDS = 2000;
const main = join(import.meta.dirname, "simulation-main.mjs");
// In this folder, so that `frazil` resolves to the same package.
const folder = mkdtempSync(join(import.meta.dirname, ".broken-"));
after(() => rmSync(folder, { recursive: true }));

test(`${SEEDS} seeds, each of which ends with everybody minting and nothing left`, async (context) => {
  const { sum, most, seen } = await runHalves(main, SEEDS);
  context.diagnostic(`${sum("ids")} IDs; at most ${most("most")} requests of a generator in 10 s`);
  assert.ok(sum("ids") > 1_000_000, `only ${sum("ids")} IDs`);
  assertSeen(seen, SOMETIMES);
});

testThatSeedsRepeat(main);
testBroken(main, BROKEN, 400, (name) => buildBroken(name, folder));
