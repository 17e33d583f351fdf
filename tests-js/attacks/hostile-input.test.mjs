// What comes from outside the program, or from a mock: keys of any length, and a source of randomness that gives zeros.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, Snowflake } from "frazil";
import { inNewProcess } from "../api/package-copy.mjs";

test("a key of a million letters is refused without being compared letter by letter", (t) => {
  const { split } = String.prototype;
  let longest = 0;
  t.after(() => {
    String.prototype.split = split;
  });
  String.prototype.split = function (...given) {
    const parts = split.apply(this, given);
    if (parts.length > longest) longest = parts.length;
    return parts;
  };
  const key = "x".repeat(1_000_000);
  const body = { timestampMs: 0, sequence: 0, node: 0, [key]: 1 };
  assert.throws(() => Layout.named("default").compose(body), { code: "INVALID_ARGUMENT" });
  assert.throws(() => new Snowflake({ node: 1, [key]: 1 }), { code: "INVALID_OPTION" });
  assert.ok(longest < 1000, `${longest} letters were taken apart`);
  // The checker sees what is taken apart.
  key.split("");
  assert.equal(longest, key.length);
  assert.throws(() => new Snowflake({ nood: 1 }), { message: /did you mean node/ });
});

for (const sequenceStart of ["random", "wrap"]) {
  test(`${sequenceStart} mints where the source of randomness gives zeros alone`, async () => {
    const program = `
      import { createRequire } from "node:module";
      const { Snowflake } = createRequire(import.meta.url)("frazil");
      crypto.getRandomValues = (array) => array;
      const ids = new Snowflake({ node: 1, sequenceStart: ${JSON.stringify(sequenceStart)} }).nextManyStrings(1000);
      process.stdout.write(JSON.stringify(new Set(ids).size));
    `;
    assert.equal(await inNewProcess(program), 1000);
  });
}
