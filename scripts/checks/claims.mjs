// Checks the citations of docs/internals/claims.md in the tests: every numbered sentence must be cited by at least one test, and every
// cited number must exist. The two forms of a citation:
//
//   // docs/internals/claims.md: 7, 9        above a test (or a `describe`, or a contract)
//   //! docs/internals/claims.md: 7, 9       at the top of a file whose tests are all about these sentences
//
// A test may cite a sentence only if the test would fail if the sentence were false.
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../shell.mjs";

const SENTENCE = /^(\d+)\. \*\*/gm;
// Of any page, so that a citation of one that has moved is found.
const CITATION = /^\s*\/\/[!/]? (docs\/internals\/claims\.md|docs\/\S+(?=:( \d|\s*$))):(?<list>.*)$/;
const PAGE = "docs/internals/claims.md";
const NUMBERS = /^ \d+(, \d+)*$/;
const COMMENT_OR_ATTRIBUTE = /^\s*(\/\/|#!?\[(?!test\]))/;
const TEST = /^\s*(#\[test\]|(await )?(test|describe|leaseContract|segmentContract)\()/;

/** The mistakes in the citations of a page's sentences by test files, one line each. */
export function problems(page, files) {
  const sentences = [...page.matchAll(SENTENCE)].map(([, number]) => Number(number));
  const uncited = new Set(sentences);
  const found = [];
  const twice = sentences.filter((number, at) => sentences.indexOf(number) !== at);
  for (const number of twice) found.push(`${PAGE} has two sentences ${number}`);
  for (const { path, text } of files) {
    const lines = text.split("\n");
    for (const [at, line] of lines.entries()) {
      const citation = CITATION.exec(line);
      if (citation === null) continue;
      const { list } = citation.groups;
      const say = (what) => found.push(`${path}:${at + 1}: ${what}: ${line.trim()}`);
      const next = lines.slice(at + 1).find((later) => !COMMENT_OR_ATTRIBUTE.test(later));
      const top = lines.slice(0, at).every((before) => COMMENT_OR_ATTRIBUTE.test(before));
      if (citation[1] !== PAGE) say(`the sentences are in ${PAGE}`);
      else if (!NUMBERS.test(list)) say("not a list of numbers");
      else if (!top && !TEST.test(next ?? "")) say("not above a test");
      else {
        for (const number of list.split(",").map(Number)) {
          if (!sentences.includes(number)) say(`${PAGE} has no sentence ${number}`);
          uncited.delete(number);
        }
      }
    }
  }
  for (const number of uncited) found.push(`${PAGE}: no test cites sentence ${number}`);
  return found;
}

/** Every test file: those of JavaScript, and all of Rust, since unit tests stand beside the code they test. */
function testFiles() {
  const list = (folder) => readdirSync(`${root}${folder}`, { recursive: true }).map((name) => join(folder, name));
  const isInstalled = (path) => path.split(sep).includes("node_modules");
  const paths = [...list("tests-js"), ...list("crates")].filter(
    (path) => /(\.test\.mjs|\.rs)$/.test(path) && !isInstalled(path),
  );
  return paths.map((path) => ({ path, text: readFileSync(`${root}${path}`, "utf8") }));
}

/** The mistakes in the repository. */
export const problemsHere = () => problems(readFileSync(`${root}${PAGE}`, "utf8"), testFiles());

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = problemsHere();
  for (const line of found) process.stderr.write(`${line}\n`);
  process.exitCode = found.length > 0 ? 1 : 0;
}
