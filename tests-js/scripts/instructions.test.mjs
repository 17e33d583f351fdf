// Tests of scripts/checks/instructions.mjs: the counts that it must refuse. The mutant of the suite shows that it finds a slower program.
import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, otherCompiler, tolerance } from "../../scripts/checks/instructions.mjs";

const recorded = { short: 20, long: 10_000 };

test("equal counts, and counts within the tolerance, do not differ", () => {
  assert.deepEqual(differences(recorded, recorded), []);
  assert.deepEqual(differences(recorded, { short: 22, long: 10_200 }), []);
  assert.deepEqual(differences(recorded, { short: 18, long: 9_800 }), []);
});

test("the tolerance is 2 %, and at least 2 instructions", () => {
  assert.deepEqual([0, 20, 149, 150, 10_000].map(tolerance), [2, 2, 2, 3, 200]);
});

for (const [what, counts, found] of [
  ["more instructions", { short: 23, long: 10_201 }, [/^short: 23 .* 18 to 22: slower$/, /^long: 10201 .*: slower$/]],
  ["fewer instructions", { short: 17, long: 9_799 }, [/^short: 17 .*: faster, so record/, /^long: 9799 .*: faster/]],
  ["a subject that is not counted any more", { short: 20 }, [/^long: recorded, but not counted any more$/]],
  ["a subject that is not recorded", { ...recorded, other: 5 }, [/^other: 5 instructions, and not recorded$/]],
])
  test(`${what}: refused, with the figures`, () => {
    const lines = differences(recorded, counts);
    assert.equal(lines.length, found.length);
    for (const [at, line] of lines.entries()) assert.match(line, found[at]);
  });

test("another compiler than the recorded one is named, with what to do", () => {
  assert.equal(otherCompiler({ rustc: "1.95.0" }, "1.95.0"), undefined);
  assert.match(
    otherCompiler({ rustc: "1.95.0" }, "1.96.0"),
    /1\.95\.0, .* 1\.96\.0; .* npm run bench -- instructions$/,
  );
});
