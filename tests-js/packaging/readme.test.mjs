// The pages in the tarballs: no link in them is dead, whether or not there is a repository.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** That README as it would be in the package of a checkout with that setting. */
function readmeWith(t, setting, readme = own) {
  const checkout = copyManifests(t);
  writeFileSync(join(checkout, "README.md"), readme);
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
});

test("what the package does not contain is named; a parenthesis that would only name it is left out", (t) => {
  const readme =
    "[Choosing](docs/choosing.md) compares them\n([attacks](docs/proofs/attacks.md)), see [site](https://a.example).\n";
  assert.equal(readmeWith(t, {}, readme), "Choosing compares them, see [site](https://a.example).\n");
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
