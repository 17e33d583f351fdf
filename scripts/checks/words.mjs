// Counts the words of prose in README and docs: `node scripts/checks/words.mjs`. Blocks of code, comments, addresses of links, the
// changelog, and the records of proofs and benchmarks do not count. Code within a sentence does, since it is read with it.
import { PAGES, textOf } from "../../tests-js/pages/examples.mjs";

/** The words of prose in a page. */
const wordsIn = (text) =>
  text
    .replaceAll(/^ *```.*?^ *```$/gms, "")
    .replaceAll(/<!--.*?-->/gs, "")
    .replaceAll(/\]\([^)\s]*\)/g, "]")
    .split(/[\s|]+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

const counts = PAGES.map((page) => [page, wordsIn(textOf(page))]);
const total = counts.reduce((sum, [, words]) => sum + words, 0);
for (const [page, words] of [...counts, ["all", total]]) process.stdout.write(`${String(words).padStart(6)} ${page}\n`);
