// The script that holds the citations of docs/safety.md to it: what it must notice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { problems, problemsHere } from "../../scripts/promises.mjs";

const PAGE = "# Why\n\n1. **One.** It is.\n2. **Two.** So\n   is this, with 3. in it.\n\n10. **Ten.** And this.\n";
const RUST = `//! About one.\n//!\n//! ${"docs"}/safety.md: 1\n\nuse x;\n\n// ${"docs"}/safety.md: 2, 10\n#[should_panic]\n#[test]\nfn t() {}\n`;
const cite = (list, below = 'test("t", () => {});') => ({
  path: "a.test.mjs",
  text: `import x;\n  // ${"docs"}/safety.md:${list}\n  ${below}\n`,
});
const rust = { path: "a.rs", text: RUST };

test("every sentence of docs/safety.md is cited by a test, and no other", () => assert.deepEqual(problemsHere(), []));

test("sentences that are all cited are in order, at the top of a file and above a test", () => {
  assert.deepEqual(problems(PAGE, [rust]), []);
  assert.deepEqual(problems(PAGE, [cite(" 1, 2, 10")]), []);
  assert.deepEqual(problems(PAGE, [cite(" 1, 2, 10", "// why\n  describe(")]), []);
});

for (const [what, found, files, page = PAGE] of [
  ["a sentence that no test cites", "docs/safety.md: no test cites sentence 10", [cite(" 1, 2")]],
  ["a sentence that is new", "docs/safety.md: no test cites sentence 11", [rust], `${PAGE}11. **New.**\n`],
  ["a citation of none", "docs/safety.md has no sentence 3:", [rust, cite(" 2, 3")]],
  ["a citation of a sentence that is gone", "docs/safety.md has no sentence 10:", [rust], PAGE.replace("10. **", "")],
  ["a number that two sentences have", "docs/safety.md has two sentences 2", [rust], `${PAGE}2. **Again.**\n`],
  ["a citation of a range", "not a list of numbers:", [rust, cite(" 1-9")]],
  ["a citation of nothing", "not a list of numbers:", [rust, cite("")]],
  ["a citation above no test", "not above a test:", [rust, cite(" 1", "const a = 1;")]],
  ["a citation at the end of a file", "not above a test:", [rust, cite(" 1", "")]],
]) {
  test(`noticed: ${what}`, () => {
    const all = problems(page, files);
    assert.equal(all.length, 1, `${all}`);
    assert.ok(all[0].includes(found), all[0]);
  });
}
