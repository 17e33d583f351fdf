// Hostile or mocked input: property names of any length, and a random number generator that returns zeros.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, Snowflake } from "frazil";
import { inNewProcess } from "../core/package-copy.mjs";

test("a property name of a million letters is refused without comparing it letter by letter", (t) => {
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
  assert.ok(longest < 1000, `a name was split into ${longest} letters`);
  // The checker detects a split.
  key.split("");
  assert.equal(longest, key.length);
  assert.throws(() => new Snowflake({ nood: 1 }), {
    message: 'INVALID_OPTION: unknown option "nood"',
    hint: 'Did you mean "node"?',
  });
});

for (const sequenceStart of ["random", "wrap"]) {
  test(`sequenceStart ${sequenceStart} mints even if crypto.getRandomValues returns only zeros`, async () => {
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
