// A copy of the manifests and lock files of this checkout, for tests that change them.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crates, packages } from "../../scripts/packages.mjs";
import { root } from "../../scripts/shell.mjs";

const FILES = [
  "package.json",
  "package-lock.json",
  "Cargo.toml",
  "Cargo.lock",
  "crates/core/fuzz/Cargo.lock",
  "crates/core/bench/Cargo.lock",
  "examples/url-shortener/package.json",
  "examples/typed-api/package.json",
];

/** The folder of a new copy. It is deleted after the test. */
export function copyManifests(t) {
  const copy = mkdtempSync(join(tmpdir(), "frazil-manifests-"));
  t.after(() => rmSync(copy, { recursive: true }));
  const manifests = [
    ...packages().map(({ folder }) => `npm/${folder}/package.json`),
    ...crates().map(({ path }) => path.slice(root.length)),
  ];
  for (const file of [...FILES, ...manifests]) cpSync(join(root, file), join(copy, file));
  return copy;
}

/** Changes a JSON file by a function that is given its content. */
export function editJson(path, edit) {
  const content = JSON.parse(readFileSync(path, "utf8"));
  edit(content);
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}
