// Each code of the table is provoked, and checked as a person sees it: printed, in a JSON log, and uncaught.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ELSEWHERE, PROVOKED, show } from "./each-code.mjs";

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const [, union] = /ErrorCode =([^;]*);/.exec(read("../npm/frazil/src/generated/errors.ts"));
const CODES = union.match(/[A-Z_]+/g);
const MAX_MESSAGE = 200;

test("each code of the table is provoked, here or in the test that is named", () => {
  assert.deepEqual([...PROVOKED, ...Object.keys(ELSEWHERE)].sort(), CODES.sort());
  for (const [code, name] of Object.entries(ELSEWHERE)) assert.ok(read(name).includes(code), `${code} in ${name}`);
});

/** What is wrong with a text that is shown, if anything. */
function faultOf(text, code, { message, hint }) {
  const lines = text.split("\n").map((line) => line.trim());
  if (!lines.some((line) => line.endsWith(`: ${message}`) || line.endsWith(`: ${message} {`)))
    return "no line is the message";
  const own = text.split("[cause]")[0].replace(/^ *at .*$/gm, "");
  if (own.split(code).length !== 2) return "the code is not there once";
  if (hint !== undefined && !/\bhint: ['"`]/.test(own)) return "the hint is missing";
  return undefined;
}

for (const code of PROVOKED)
  test(`${code} is one line with the code, and its hint stands apart, wherever it is shown`, () => {
    const { stdout, stderr, status } = show(code);
    assert.equal(status, 1, stderr);
    const lines = stdout.trimEnd().split("\n");
    const json = JSON.parse(lines.pop());
    assert.equal(json.code, code, stdout);
    assert.ok(json.message.startsWith(`${code}: `) && json.message.length <= MAX_MESSAGE, json.message);
    assert.doesNotMatch(json.message, /\n|\?|\. |\.$|\bundefined: |\[object/);
    if ("hint" in json) assert.match(json.hint, /^\p{Lu}.*[.?]$/u);
    const uncaught = stderr.slice(stderr.indexOf(`${json.name}: `));
    for (const text of [lines.join("\n"), uncaught]) assert.equal(faultOf(text, code, json), undefined, text);
  });

test("a text without its hint, or with the code twice, is found", () => {
  const json = { message: "CLOSED: it is", hint: "Open it." };
  for (const text of ["", "E: CLOSED: it is", "E: CLOSED: it is {\n code: 'CLOSED',\n hint: 'Open it.' }"])
    assert.notEqual(faultOf(text, "CLOSED", json), undefined, text);
  assert.equal(faultOf("E: CLOSED: it is\n  at x {\n  hint: 'Open it.'\n}", "CLOSED", json), undefined);
});
