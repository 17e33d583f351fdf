// The vectors against the package as Node loads it: FRAZIL_BACKEND says on which backend.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as frazil from "frazil";
import * as decoder from "frazil/decode";
import { checkDecoder, checkErrors, checkGeneration, checkIds, checkLayouts, checkRanges } from "./check.mjs";
import { errors, slot } from "./tables.mjs";

const vectors = (name) =>
  JSON.parse(readFileSync(new URL(`../../crates/core/vectors/${name}.json`, import.meta.url), "utf8"));

/** The realm's way to the core, made by the first generator. */
const port = () => {
  const ids = new frazil.Snowflake({ node: 0 });
  assert.equal(ids.backend, process.env.FRAZIL_BACKEND ?? "native");
  return globalThis[Symbol.for("frazil")];
};

test("layouts", (t) => t.diagnostic(`${checkLayouts(frazil, vectors("layouts"))} cases`));
test("ids", (t) => t.diagnostic(`${checkIds(frazil, vectors("ids"))} cases`));
test("ranges", (t) => t.diagnostic(`${checkRanges(frazil, vectors("ranges"))} cases`));
test("frazil/decode: layouts and ids", (t) => {
  t.diagnostic(`${checkDecoder(decoder, vectors("layouts"), vectors("ids"))} cases`);
});
test("generation", (t) => {
  t.diagnostic(`${checkGeneration({ ...frazil, slot, port: port() }, vectors("generation"))} cases`);
});
test("errors", (t) => {
  t.diagnostic(`${checkErrors({ ...frazil, slot, errors, port: port() }, vectors("errors"))} cases`);
});
test("a wrong vector is noticed", () => {
  const wrong = vectors("ids");
  wrong.valid[0].id = "1";
  assert.throws(() => checkIds(frazil, wrong), /1 of \d+ cases failed/);
  const script = vectors("generation").scripts.find(({ name }) => name === "many in a tick");
  script.steps[1].expect.ids.first = "1";
  const generation = { scripts: [script] };
  assert.throws(() => checkGeneration({ ...frazil, slot, port: port() }, generation), /1 of \d+ cases failed/);
});
