// Every link of a page leads to an existing file and heading, and every page of docs can be reached.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { PAGES, root, textOf } from "./examples.mjs";
import { deadLinks, linksOf } from "./links.mjs";

const OTHERS = [
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "examples/url-shortener/README.md",
  "examples/typed-api/README.md",
];
const ofDocs = readdirSync(join(root, "docs"), { recursive: true })
  .map((name) => `docs/${name.replaceAll("\\", "/")}`)
  .filter((name) => name.endsWith(".md") && !name.startsWith("docs/reference/api/"));
const pages = new Map([...new Set([...PAGES, ...OTHERS, ...ofDocs])].map((page) => [page, textOf(page)]));

test("no link of a page is dead", () => {
  assert.ok(pages.size > 60, `${pages.size}`);
  assert.deepEqual(
    deadLinks(pages, (file) => existsSync(join(root, file))),
    [],
  );
});

/** The pages that one leads to, through others. */
function reachedFrom(first) {
  const reached = new Set([first]);
  for (const page of reached)
    for (const link of linksOf(pages.get(page))) {
      const target = posix.join(posix.dirname(page), link.split("#")[0]);
      if (pages.has(target)) reached.add(target);
    }
  return reached;
}

test("every page is reached from the README, and from the first page of docs", () => {
  for (const first of ["README.md", "docs/index.md"]) {
    const reached = reachedFrom(first);
    assert.deepEqual(
      PAGES.filter((page) => !reached.has(page) && page !== "README.md"),
      [],
      first,
    );
  }
});

test("a dead link and a dead anchor are found", () => {
  const pages = new Map([
    [
      "README.md",
      "# Title\n[a](docs/a.md#there), [b](docs/b.md), [c](docs/a.md#gone), [d](#title)\n\n```js\nx[0](docs/none.md)\n```\n",
    ],
    [
      "docs/a.md",
      "## There\n[back](../README.md) `[code](gone.md)`\n\n```sh\n# not a heading\n```\n[e](#not-a-heading)\n",
    ],
  ]);
  assert.deepEqual(
    deadLinks(pages, (file) => pages.has(file)),
    [
      "README.md: docs/b.md",
      "README.md: docs/a.md#gone (no such heading)",
      "docs/a.md: #not-a-heading (no such heading)",
    ],
  );
});
