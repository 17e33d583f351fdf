// The address of the repository is one setting, and every manifest follows it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { crates, packages } from "../../scripts/packages.mjs";
import { manifestsOf, repositorySetting, staleManifests, writeRepository } from "../../scripts/release/repository.mjs";
import { copyManifests, editJson } from "./checkout.mjs";

const FIELDS = ["repository", "homepage", "bugs", "author"];
const repository = "https://github.com/example/frazil";
const author = "The Frazil contributors";

/** Sets the repository of a checkout, or removes it. */
const set = (checkout, setting) =>
  editJson(join(checkout, "package.json"), (content) => {
    for (const key of ["repository", "author"]) delete content[key];
    Object.assign(content, setting);
  });

test("the manifests of this checkout follow its setting", () => {
  assert.deepEqual(
    staleManifests().map(({ path }) => path),
    [],
    "npm run repository -- --write",
  );
});

test("without a repository no manifest has a field that would be invented", (t) => {
  const checkout = copyManifests(t);
  set(checkout, {});
  writeRepository(checkout);
  for (const { folder, manifest } of packages(checkout))
    for (const field of FIELDS) assert.ok(!(field in manifest), `npm/${folder} has ${field}`);
  for (const { path, text } of manifestsOf(checkout))
    assert.doesNotMatch(text, /^(repository|homepage|authors)/m, path);
});

test("a repository is written into every package and every published crate, and can be removed again", (t) => {
  const checkout = copyManifests(t);
  set(checkout, {});
  writeRepository(checkout);
  const before = manifestsOf(checkout).map(({ text }) => text);
  set(checkout, { repository, author });
  assert.equal(staleManifests(checkout).length, before.length);
  writeRepository(checkout);
  assert.equal(staleManifests(checkout).length, 0);
  for (const { folder, manifest } of packages(checkout)) {
    assert.deepEqual(manifest.repository, { type: "git", url: `git+${repository}.git`, directory: `npm/${folder}` });
    assert.equal(manifest.homepage, `${repository}#readme`);
    assert.deepEqual(manifest.bugs, { url: `${repository}/issues` });
    assert.equal(manifest.author, author);
  }
  const published = crates(checkout).filter(({ isPublished }) => isPublished);
  assert.deepEqual(
    published.map(({ name }) => name),
    ["frazil", "frazil-local"],
  );
  for (const { text, name } of published) assert.match(text, /^repository\.workspace = true$/m, name);
  assert.match(
    readFileSync(join(checkout, "Cargo.toml"), "utf8"),
    /^repository = "https:\/\/github\.com\/example\/frazil"$/m,
  );
  // A second time changes nothing, another address replaces the first, and without a setting all is as it was.
  set(checkout, { repository: "https://github.com/example/other", author });
  writeRepository(checkout);
  for (const { path, text } of manifestsOf(checkout)) assert.ok(!text.includes(repository), path);
  set(checkout, {});
  writeRepository(checkout);
  assert.deepEqual(
    manifestsOf(checkout).map(({ text }) => text),
    before,
  );
});

test("npm and cargo read the fields", (t) => {
  const checkout = copyManifests(t);
  set(checkout, { repository, author });
  writeRepository(checkout);
  const npm = JSON.parse(
    execFileSync("npm", ["pkg", "get", "repository.url"], { cwd: join(checkout, "npm/frazil"), encoding: "utf8" }),
  );
  assert.equal(Object.hasOwn(npm, "frazil") ? npm.frazil : npm, `git+${repository}.git`);
  const [{ text }] = crates(checkout).filter(({ name }) => name === "frazil");
  const package_ = text.slice(text.indexOf("[package]"), text.indexOf("[features]"));
  assert.match(package_, /^repository\.workspace = true$/m, "in the table [package]");
});

for (const [name, setting, message] of [
  [
    "another host",
    { repository: "https://example.org/a/b", author },
    /^repository in package.json is "https:\/\/example.org\/a\/b": must be/,
  ],
  [".git at the end", { repository: `${repository}.git`, author }, /must be https:\/\/github.com\/OWNER\/NAME/],
  ["a slash at the end", { repository: `${repository}/`, author }, /must be https:\/\/github.com\/OWNER\/NAME/],
  ["an object", { repository: { url: repository }, author }, /^repository in package.json is \{/],
  ["no author", { repository }, /^author in package.json is undefined: must be a name/],
  ["an empty author", { repository, author: " " }, /^author in package.json is " ": must be a name/],
  ["only an author", { author }, /^author in package.json is "The Frazil contributors": must be left out/],
]) {
  test(`a setting with ${name} is refused`, (t) => {
    const checkout = copyManifests(t);
    set(checkout, setting);
    assert.throws(() => repositorySetting(checkout), { message });
  });
}
