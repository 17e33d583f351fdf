// The rules of TypeScript alone, row by row, as in `crates/core/tests/errors.rs` for the core: a rule is one short fact, and a hint says
// what to do. All texts name pages by their titles, because the package does not contain the pages.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ruled } from "./rule-texts.mjs";

const MAX_LENGTH = 120;
/** What somebody is told to do. */
const ADVICE = /\?|\b(Did you|Use|Pass|For example|Write|Call|Give|Set|Check|Run)\b/;

const path = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const filesIn = (folder) => readdirSync(path(folder), { recursive: true }).map((name) => `${folder}/${name}`);

/** What is wrong with the text of a rule, if anything. */
function faultOf(text) {
  const { rule, hint } = ruled(text);
  if (text.split("\n").length > 2) return "more than two lines";
  if (rule.length > MAX_LENGTH) return `more than ${MAX_LENGTH} characters`;
  if (ADVICE.test(rule)) return "advice, which belongs into the hint";
  if (!rule.startsWith("must ") || rule.endsWith(".")) return "no rule that completes the name of a field";
  if (hint !== undefined && !/^\p{Lu}.*[.?]$/u.test(hint)) return "a hint that is no sentence";
  return undefined;
}

async function packageRules() {
  const { outputFiles } = await build({
    entryPoints: [path("npm/frazil/src/base/package-rules.ts")],
    format: "esm",
    write: false,
  });
  const { PackageRule } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  return Object.entries(PackageRule);
}

test("each rule of the package is one short fact, and each hint is sentences", async () => {
  const rows = await packageRules();
  assert.ok(rows.length > 20, `${rows.length} rows`);
  for (const [name, text] of rows) assert.equal(faultOf(text), undefined, name);
});

test("texts of other kinds are found", () => {
  for (const wrong of [
    "must be\nGiven.\nOnce.",
    `must be ${"x".repeat(MAX_LENGTH)}`,
    "must be known. Did you mean node?",
    "must be a list. For example [].",
    "Must be a list",
    "must be a list.",
    "must be a list\nPass one",
    "must be a list\npass one.",
  ])
    assert.notEqual(faultOf(wrong), undefined, wrong);
});

const TITLES = filesIn("docs")
  .filter((name) => name.endsWith(".md"))
  .map((name) => /^# (.*)$/m.exec(readFileSync(path(name), "utf8"))?.[1]);

/** The files and pages that a text names, and that its reader does not find. */
const lostIn = (text) => [
  ...(text.match(/\bdocs\/[\w/-]+|\b[\w/-]+\.md\b/g) ?? []),
  ...[...text.matchAll(/\bpage \\?"(.*?)\\?"/g)].map(([, title]) => title).filter((title) => !TITLES.includes(title)),
];

test("no text of the package names a file that it does not carry, or a page that does not exist", () => {
  const files = filesIn("npm/frazil/dist").filter((name) => /\.([cm]?js|d\.[cm]?ts)$/.test(name));
  const texts = files.map((name) => [name, readFileSync(path(name), "utf8")]);
  assert.ok(texts.some(([, text]) => /page \\?"Platforms/.test(text)));
  for (const [name, text] of texts) assert.deepEqual(lostIn(text), [], name);
});

test("such names are found", () => {
  const found = (text) => lostIn(text).length;
  const texts = [
    "See docs/guides/testing.",
    "(platforms.md)",
    'See the page "Plattforms".',
    'See the page \\"Plattforms\\".',
  ];
  assert.deepEqual(texts.map(found), [1, 1, 1, 1]);
  assert.equal(found('See the page "Platforms".'), 0);
});
