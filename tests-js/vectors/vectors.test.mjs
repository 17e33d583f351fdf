// Checks the vectors against the package as Node loads it, on the backend of FRAZIL_BACKEND.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as frazil from "frazil";
import * as decoder from "frazil/decode";
import * as publicForms from "frazil/public";
import * as text from "frazil/text";
import {
  checkDecoder,
  checkErrors,
  checkGeneration,
  checkIds,
  checkLayouts,
  checkRanges,
  checkSegments,
  checkText,
} from "./check.mjs";
import { checkPublic } from "./check-public.mjs";
import { errors, segment, slot } from "./generated-tables.mjs";

const folder = new URL("../../crates/core/vectors/", import.meta.url);
const checked = new Set();

function vectors(name) {
  checked.add(`${name}.json`);
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8"));
}

/** The realm's connection to the core, which the first generator creates. */
const port = () => {
  const ids = new frazil.Snowflake({ node: 0 });
  assert.equal(ids.backend, process.env.FRAZIL_BACKEND ?? "native");
  return globalThis[Symbol.for("frazil")].connect();
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
test("public", (t) => t.diagnostic(`${checkPublic(publicForms, vectors("public"))} cases`));
test("text", (t) => t.diagnostic(`${checkText(text, vectors("text"))} cases`));
test("segments", (t) => {
  t.diagnostic(`${checkSegments({ slot, segment, port: port() }, vectors("segments"))} cases`);
});
test("every file of vectors is checked, here and in the runtimes", () => {
  const files = readdirSync(folder).sort();
  assert.deepEqual([...checked].sort(), files);
  const runtimeChecks = readFileSync(new URL("../runtimes/checks.mjs", import.meta.url), "utf8");
  const imported = [...runtimeChecks.matchAll(/^import (\w+) from "\.\.\/\.\.\/crates\/core\/vectors\/(.+)";$/gm)];
  assert.deepEqual(imported.map(([, , file]) => file).sort(), files);
  for (const [, name] of imported) assert.match(runtimeChecks, new RegExp(`: check\\w+\\(.*\\b${name}\\b.*\\),`), name);
});
test("the checkers detect a wrong vector", () => {
  const wrong = vectors("ids");
  wrong.valid[0].id = "1";
  assert.throws(() => checkIds(frazil, wrong), /1 of \d+ cases failed/);
  const script = vectors("generation").scripts.find(({ name }) => name === "many in a tick");
  script.steps[1].expect.ids.first = "1";
  const generation = { scripts: [script] };
  assert.throws(() => checkGeneration({ ...frazil, slot, port: port() }, generation), /1 of \d+ cases failed/);
  const { segments } = vectors("segments");
  segments.find(({ counts }) => counts.length > 2).counts[2]++;
  assert.throws(() => checkSegments({ slot, segment, port: port() }, { segments }), /1 of \d+ cases failed/);
  for (const spoil of [
    (cases) => (cases.sealed[0].text = cases.sealed[1].text),
    (cases) => (cases.short[0].id = "1"),
    (cases) => (cases.refusedSealed[0].text = cases.sealed[0].text),
    (cases) => (cases.keys[0].fingerprint = cases.keys[1].fingerprint),
    (cases) => (cases.refusedKeys[0].text = cases.keys[0].text),
  ]) {
    const cases = vectors("public");
    spoil(cases);
    assert.throws(() => checkPublic(publicForms, cases), /[12] of \d+ cases failed/);
  }
  for (const spoil of [
    (texts) => (texts.refused[0].position = 1),
    (texts) => (texts.refused[0].text = texts.ids[0].fixed.hex),
    (texts) => (texts.ids[0].bytes[7] = 1),
    (texts) => (texts.published[0].text = texts.ids[0].fixed.base32),
  ]) {
    const texts = vectors("text");
    spoil(texts);
    assert.throws(() => checkText(text, texts), /[12] of \d+ cases failed/);
  }
});
