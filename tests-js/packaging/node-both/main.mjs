import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as imported from "frazil";

const required = createRequire(import.meta.url)("frazil");
const names = Object.keys(imported);
assert.deepEqual(names, Object.keys(required).sort());
for (const name of names) assert.equal(imported[name], required[name], `${name} is one class`);

// The entries of stores have no state, so each format has a copy. Errors of both are those of the package.
const require = createRequire(import.meta.url);
const { exports } = require("frazil/package.json");
const stores = Object.keys(exports).filter((path) => path.startsWith("./stores/"));
assert.ok(stores.length >= 6, `${stores}`);
for (const path of [...stores, "./testing", "./testing/lease-contract", "./testing/segment-contract"]) {
  const entry = path.replace(".", "frazil");
  const formats = [await import(entry), require(entry)];
  assert.deepEqual(...formats.map((format) => Object.keys(format).sort()));
  // Those in memory need nothing that could be missing.
  const classes = formats.flatMap((format) =>
    Object.entries(format).filter(([name]) => /^(?!Memory).*Store$/.test(name)),
  );
  for (const [name, Store] of classes)
    assert.throws(
      () => new Store({}),
      (error) => error instanceof imported.ConfigError,
      name,
    );
}

/** How many IDs two generators repeat when they are called alternately. */
function repeats(...generators) {
  const issued = Array.from({ length: 100_000 }, (_, at) => generators[at % 2].next());
  return issued.length - new Set(issued).size;
}
const options = { node: 7, maxWaitMs: 1000 };
const ids = [imported, required].map(({ Snowflake }) => new Snowflake(options));
assert.equal(repeats(...ids), 0);
// The mutant: generators like those of two copies of a package that each have a state of their own.
const alone = () => {
  let calls = 0;
  return new imported.Snowflake({ ...options, now: () => 1_780_000_000_000 + (calls++ >> 10) });
};
assert.ok(repeats(alone(), alone()) > 0, "the checker must catch the mutant");
process.stdout.write(ids.map(({ backend }) => backend).join(" "));
