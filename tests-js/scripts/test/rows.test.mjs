// The rows of docs/proofs/passed.json: the suites that CI runs again, and those that it considers proven.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inputsOf } from "../../../scripts/test/inputs.mjs";
import { chooseDue, keyOf, parseRows, printRows, whyNoRow } from "../../../scripts/test/rows.mjs";
import { hasRow, SUITES } from "../../../scripts/test/suites.mjs";

const withRows = SUITES.filter(hasRow);
const suites = ["a", "b", "c", "d"].map((name) => ({ name }));
const keys = new Map(suites.map(({ name }) => [name, `${name} 1`]));
const row = (key, seconds) => ({ key, seconds });

test("every suite that has a row has inputs, and they are in the repository", () => {
  for (const suite of withRows) {
    assert.ok(inputsOf(suite).length > 0);
    assert.match(keyOf(suite), /^[0-9a-f]{16} [0-9a-f]{16}$/, suite.name);
  }
  assert.throws(() => inputsOf({ name: "unheard" }), /has no inputs of unheard/);
});

test("suites have different names", () => {
  const names = SUITES.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
});

test("a suite without a row, or with the row of other inputs, is due", () => {
  const rows = new Map([
    ["a", row("a 1", 5)],
    ["b", row("b 2", 5)],
  ]);
  const { due, sample } = chooseDue(suites, rows, keys, "tree");
  assert.deepEqual(
    due.map(({ name }) => name),
    ["b", "c", "d"],
  );
  assert.deepEqual(
    sample.map(({ name }) => name),
    ["a"],
  );
});

test("the sample takes ten minutes, is that of the tree, and in time has every suite", () => {
  const rows = new Map(suites.map(({ name }) => [name, row(`${name} 1`, 290)]));
  const sampleOf = (tree) => chooseDue(suites, rows, keys, tree).sample.map(({ name }) => name);
  const seen = new Set();
  for (let tree = 0; tree < 40; tree++) {
    const sample = sampleOf(`tree ${tree}`);
    assert.equal(sample.length, 2);
    assert.deepEqual(sample, sampleOf(`tree ${tree}`));
    for (const name of sample) seen.add(name);
  }
  assert.equal(seen.size, suites.length);
});

test("a suite that takes longer than the sample has its turn too, and one whose inputs are not committed is due", () => {
  const rows = new Map(suites.map(({ name }) => [name, row(`${name} 1`, 601)]));
  const seen = new Set();
  for (let tree = 0; tree < 40; tree++) {
    const { sample } = chooseDue(suites, rows, keys, `tree ${tree}`);
    assert.equal(sample.length, 1);
    seen.add(sample[0].name);
  }
  assert.equal(seen.size, suites.length);
  const { due } = chooseDue(suites, rows, new Map([...keys].slice(1)), "tree");
  assert.deepEqual(
    due.map(({ name }) => name),
    ["a"],
  );
});

test("rows are a sorted line each, and read as they were written", () => {
  const rows = new Map([
    ["b", row("b 1", 2)],
    ["a", row("a 1", 1)],
  ]);
  const text = printRows(rows);
  assert.deepEqual(text.split("\n"), [
    "{",
    '  "a": {"key":"a 1","seconds":1},',
    '  "b": {"key":"b 1","seconds":2}',
    "}",
    "",
  ]);
  assert.deepEqual(JSON.parse(text), Object.fromEntries(rows));
  assert.deepEqual(new Map([...parseRows(text)].sort()), new Map([...rows].sort()));
  assert.deepEqual(parseRows(printRows(new Map())), new Map());
});

test("a merge conflict drops the row", () => {
  const conflict = `{
  "a": {"key":"a 1"},
<<<<<<< HEAD
  "b": {"key":"b 1"},
=======
  "b": {"key":"b 2"},
>>>>>>> other
  "c": {"key":"c 1"},
  "d": {"key":}
}
`;
  assert.deepEqual([...parseRows(conflict).keys()], ["a", "c"]);
});

test("a variable that changes the amount of tests gives no row", () => {
  for (const name of ["PROPTEST_CASES", "FRAZIL_NEMESIS_S", "LOOM_MAX_PREEMPTIONS", "RUSTFLAGS", "RUST_TEST_THREADS"])
    assert.match(whyNoRow(withRows[0], { [name]: "1" }), new RegExp(`^${name} may change`));
});
