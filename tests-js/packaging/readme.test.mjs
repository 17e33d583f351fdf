// The pages in the tarballs: no link in them is dead, whether or not there is a repository.
import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packedReadme } from "../../scripts/build/readme.mjs";
import { deadLinks, linksOf } from "../pages/links.mjs";
import { copyManifests, editJson } from "./checkout.mjs";
import { emptyFolder, pack, root, run } from "./tarballs.mjs";

const repository = "https://github.com/example/frazil";
const own = readFileSync(join(root, "README.md"), "utf8");

test("no link in a page of a tarball is dead, and that of frazil has the README of this checkout", () => {
  for (const { name, tarball } of pack()) {
    const folder = emptyFolder(`pages-${name}`);
    run(folder, "tar", ["-xzf", tarball]);
    const packed = join(folder, "package");
    const files = readdirSync(packed, { recursive: true }).filter((file) => file.endsWith(".md"));
    assert.deepEqual(files.sort(), ["README.md", "THIRD-PARTY.md"], name);
    const pages = new Map(files.map((file) => [file, readFileSync(join(packed, file), "utf8")]));
    assert.deepEqual(
      deadLinks(pages, (file) => existsSync(join(packed, file))),
      [],
      name,
    );
    if (name === "frazil") assert.equal(pages.get("README.md"), packedReadme());
  }
});

/** The README as it would be in the package of a checkout with that setting. */
function readmeWith(t, setting) {
  const checkout = copyManifests(t);
  cpSync(join(root, "README.md"), join(checkout, "README.md"));
  editJson(join(checkout, "package.json"), (content) => {
    for (const key of ["repository", "author"]) delete content[key];
    Object.assign(content, setting);
  });
  return packedReadme(checkout);
}

test("without a repository the README has no link to a file", (t) => {
  const text = readmeWith(t, {});
  assert.deepEqual(
    linksOf(text).filter((link) => !/^(https?:|#)/.test(link)),
    [],
  );
  // What the package does not contain is named, and no link. A parenthesis that would only name it is left out.
  assert.match(own, /and must catch it\s\(\[attacks\]/);
  assert.match(text, /and must catch it\.\n/);
  assert.match(text, /(?<!\[)\bChoosing compares sizes/);
});

test("with a repository every link of the README leads there, and to a file", (t) => {
  const text = readmeWith(t, { repository, author: "somebody" });
  const prefix = `${repository}/blob/main/`;
  const relative = linksOf(own).filter((link) => !/^(https?:|#)/.test(link));
  assert.ok(relative.length >= 30, `${relative.length}`);
  const links = linksOf(text).filter((link) => !linksOf(own).includes(link));
  assert.deepEqual(
    links,
    relative.map((link) => `${prefix}${link}`),
  );
  for (const link of relative) assert.ok(existsSync(join(root, link.split("#")[0])), link);
});
