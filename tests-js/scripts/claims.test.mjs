// Tests of scripts/checks/claims.mjs: the mistakes in citations of docs/internals/claims.md that it must find.
import assert from "node:assert/strict";
import { test } from "node:test";
import { problems, problemsHere } from "../../scripts/checks/claims.mjs";

const PAGE = "# Why\n\n1. **One.** It is.\n2. **Two.** So\n   is this, with 3. in it.\n\n10. **Ten.** And this.\n";
const RUST = `//! About one.\n//!\n//! ${"docs"}/internals/claims.md: 1\n\nuse x;\n\n// ${"docs"}/internals/claims.md: 2, 10\n#[should_panic]\n#[test]\nfn t() {}\n`;
const cite = (list, below = 'test("t", () => {});', page = "internals/claims.md") => ({
  path: "a.test.mjs",
  text: `import x;\n  // ${"docs"}/${page}:${list}\n  ${below}\n`,
});
const rust = { path: "a.rs", text: RUST };

test("every sentence of docs/internals/claims.md is cited by a test, and no citation is wrong", () =>
  assert.deepEqual(problemsHere(), []));

test("no mistake is found if every sentence is cited, at the top of a file or above a test", () => {
  assert.deepEqual(problems(PAGE, [rust]), []);
  assert.deepEqual(problems(PAGE, [cite(" 1, 2, 10")]), []);
  assert.deepEqual(problems(PAGE, [cite(" 1, 2, 10", "// why\n  describe(")]), []);
});

for (const [what, found, files, page = PAGE] of [
  ["a sentence that no test cites", "docs/internals/claims.md: no test cites sentence 10", [cite(" 1, 2")]],
  [
    "a new sentence without a citation",
    "docs/internals/claims.md: no test cites sentence 11",
    [rust],
    `${PAGE}11. **New.**\n`,
  ],
  [
    "a citation of a sentence that does not exist",
    "docs/internals/claims.md has no sentence 3:",
    [rust, cite(" 2, 3")],
  ],
  [
    "a citation of a sentence that was removed",
    "docs/internals/claims.md has no sentence 10:",
    [rust],
    PAGE.replace("10. **", ""),
  ],
  ["two sentences with one number", "docs/internals/claims.md has two sentences 2", [rust], `${PAGE}2. **Again.**\n`],
  [
    "a citation of a page that is gone",
    "the sentences are in docs/internals/claims.md:",
    [rust, cite(" 1", undefined, "claims.md")],
  ],
  [
    "a citation of another page, without numbers",
    "the sentences are in docs/internals/claims.md:",
    [rust, cite("", undefined, "why.md")],
  ],
  ["a citation of a range", "not a list of numbers:", [rust, cite(" 1-9")]],
  ["a citation in words", "not a list of numbers:", [rust, cite(" one")]],
  ["a citation without numbers", "not a list of numbers:", [rust, cite("")]],
  ["a citation that is not above a test", "not above a test:", [rust, cite(" 1", "const a = 1;")]],
  ["a citation at the end of a file", "not above a test:", [rust, cite(" 1", "")]],
]) {
  test(`found: ${what}`, () => {
    const all = problems(page, files);
    assert.equal(all.length, 1, `${all}`);
    assert.ok(all[0].includes(found), all[0]);
  });
}
