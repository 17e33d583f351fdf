// The pages in the tarballs: no link in them is dead, whether or not there is a repository.
import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { packedPages } from "../../scripts/build/pages.mjs";
import { repositorySetting } from "../../scripts/release/repository.mjs";
import { versionOf } from "../../scripts/release/versions.mjs";
import { copyManifests, editJson } from "./checkout.mjs";
import { emptyFolder, pack, root, run } from "./tarballs.mjs";

const repository = "https://github.com/example/frazil";

/** The anchors of a page, as GitHub and npm make them from headings. */
function anchorsOf(text) {
  const seen = new Map();
  return new Set(
    [...text.replaceAll(/^ *```.*?^ *```/gms, "").matchAll(/^#+ (.*)$/gm)].map(([, heading]) => {
      const anchor = heading
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
        .replaceAll(" ", "-");
      const count = seen.get(anchor) ?? 0;
      seen.set(anchor, count + 1);
      return count === 0 ? anchor : `${anchor}-${count}`;
    }),
  );
}

/** The links of a page, outside of code. */
const linksOf = (text) =>
  [
    ...text
      .replaceAll(/^ *```.*?^ *```/gms, "")
      .replaceAll(/`[^`]*`/g, "code")
      .matchAll(/\]\(([^)\s]+)\)/g),
  ].map(([, link]) => link);

/** The dead links of pages (path to text), beside which the files `isThere` are. */
function deadLinks(pages, isThere) {
  const dead = [];
  for (const [path, text] of pages)
    for (const link of linksOf(text).filter((link) => !/^https?:/.test(link))) {
      const [file, anchor] = link.split("#");
      const target = file === "" ? path : posix.join(posix.dirname(path), file);
      if (!isThere(target)) dead.push(`${path}: ${link}`);
      else if (anchor !== undefined && pages.has(target) && !anchorsOf(pages.get(target)).has(anchor))
        dead.push(`${path}: ${link} (no such heading)`);
    }
  return dead;
}

const asMap = (pages) => new Map(pages.map(({ path, text }) => [path, text]));

test("no link in a page of a tarball is dead", () => {
  for (const { name, tarball } of pack()) {
    const folder = emptyFolder(`pages-${name}`);
    run(folder, "tar", ["-xzf", tarball]);
    const packed = join(folder, "package");
    const files = readdirSync(packed, { recursive: true }).filter((file) => file.endsWith(".md"));
    assert.ok(files.includes("README.md"), name);
    const pages = new Map(files.map((file) => [file, readFileSync(join(packed, file), "utf8")]));
    const setting = repositorySetting();
    if (name !== "frazil" || setting === undefined)
      assert.deepEqual(
        deadLinks(pages, (file) => existsSync(join(packed, file))),
        [],
        name,
      );
  }
});

test("the tarball has the pages that were made from this checkout", () => {
  const [{ tarball }] = pack();
  const folder = emptyFolder("current-pages");
  run(folder, "tar", ["-xzf", tarball]);
  const pages = packedPages();
  assert.ok(pages.length >= 25, `${pages.length} pages`);
  for (const { path, text } of pages) assert.equal(readFileSync(join(folder, "package", path), "utf8"), text, path);
  assert.equal(
    readdirSync(join(folder, "package/docs"), { recursive: true }).filter((file) => file.endsWith(".md")).length,
    pages.length - 1,
  );
});

/** The pages as they would be in the package of a checkout with that setting. */
function pagesWith(t, setting) {
  const checkout = copyManifests(t);
  for (const file of ["docs", "README.md"]) cpSync(join(root, file), join(checkout, file), { recursive: true });
  editJson(join(checkout, "package.json"), (content) => {
    for (const key of ["repository", "author"]) delete content[key];
    Object.assign(content, setting);
  });
  return asMap(packedPages(checkout));
}

test("without a repository every link leads to a page of the package", (t) => {
  const pages = pagesWith(t, {});
  assert.deepEqual(
    deadLinks(pages, (file) => pages.has(file)),
    [],
  );
  // What the package does not contain is named, and no link. A parenthesis that would only name it is left out.
  for (const page of ["docs/safety.md", "docs/leases.md", "docs/segments.md", "docs/local.md"])
    assert.match(pages.get(page), /(?<!\[)\bProofs lists/, page);
  assert.match(pages.get("docs/platforms.md"), / is not on record\.$/m);
  assert.match(pages.get("docs/workers.md"), / held a lease\. \*\*Not run\*\*/);
  assert.ok(linksOf(pages.get("README.md")).length >= 10);
});

test("with a repository every link of the README leads there, at the tag of the version, and to a file", (t) => {
  const pages = pagesWith(t, { repository, author: "somebody" });
  const prefix = `${repository}/blob/v${versionOf()}/`;
  // Those that were relative, and not to a heading.
  const [own, all] = [readFileSync(join(root, "README.md"), "utf8"), pages.get("README.md")].map(linksOf);
  const links = all.filter((link) => !own.includes(link));
  assert.ok(links.length >= 10);
  for (const link of links) {
    assert.ok(link.startsWith(prefix), link);
    assert.ok(existsSync(join(root, link.slice(prefix.length).split("#")[0])), link);
  }
  assert.match(pages.get("docs/platforms.md"), / is not on record \(\[releasing\]\(https:.*\)\)\.$/m);
  // The other pages still lead to each other, and to the repository only for what the package does not contain.
  assert.deepEqual(
    deadLinks(new Map([...pages].filter(([path]) => path !== "README.md")), (file) => pages.has(file)),
    [],
  );
  const outside = [...pages]
    .filter(([path]) => path !== "README.md")
    .flatMap(([, text]) => linksOf(text).filter((link) => link.startsWith(prefix)));
  assert.ok(outside.length >= 10);
  for (const link of outside) assert.ok(existsSync(join(root, link.slice(prefix.length).split("#")[0])), link);
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

test("the README has the four ways to a node id, each with its code", () => {
  const text = readFileSync(join(root, "README.md"), "utf8");
  for (const way of [
    "Snowflake.local()",
    "await lease(store)",
    "await leased(env.FRAZIL, ctx)",
    "new Snowflake({ node })",
  ])
    assert.ok(text.includes(`\`${way}\``), way);
  const code = text.match(/^```js\n.*?^```/gms).join("");
  for (const call of [
    "Snowflake.local()",
    "await lease(",
    "await leased(",
    "new Snowflake({ node: process.env.NODE_ID })",
  ])
    assert.ok(code.includes(call), call);
});
