// The package of every platform package in `npm/*`, as npm would publish it. If this machine cannot build an addon, a file replaces it:
// here only its existence counts. `xtask inspect` checks the content.
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { packages } from "../../scripts/packages.mjs";
import { emptyFolder, root, run } from "./tarballs.mjs";

const FILES = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "THIRD-PARTY.md", "frazil.node", "package.json"];

const platformPackages = packages().filter(({ isPlatform }) => isPlatform);

test("there are platform packages", () => assert.ok(platformPackages.length >= 1));

let packed;

/** Copies every platform package and packs the copies, once. Returns for each folder of `npm/` npm's report and the path of the tarball. */
function packPlatformPackages() {
  if (packed !== undefined) return packed;
  const scratch = emptyFolder("platform packages");
  const copies = platformPackages.map(({ folder, path }) => {
    const copy = join(scratch, folder);
    cpSync(path, copy, { recursive: true });
    if (!existsSync(join(copy, "frazil.node"))) writeFileSync(join(copy, "frazil.node"), "");
    return copy;
  });
  const reports = JSON.parse(run(scratch, "npm", ["pack", "--json", ...copies]).stdout);
  packed = new Map(
    platformPackages.map(({ folder }, at) => [
      folder,
      { ...reports[at], tarball: join(scratch, reports[at].filename) },
    ]),
  );
  return packed;
}

for (const { folder, manifest } of platformPackages) {
  test(`${manifest.name} has exactly the files of a platform package, and no problem for publint and attw`, async () => {
    const { name, files, tarball: path } = packPlatformPackages().get(folder);
    assert.equal(name, manifest.name);
    assert.deepEqual(files.map(({ path }) => path).sort(), FILES);
    const bytes = readFileSync(path);
    const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
    const attw = run(root, join(root, "node_modules/.bin/attw"), [path, "--no-definitely-typed", "--format", "json"]);
    assert.equal(JSON.parse(attw.stdout).analysis.types, false, "there is nothing to import, so there are no types");
  });

  test(`${manifest.name} is installed where its name says, and nowhere else`, () => {
    const [os, cpu, libc] = folder.split("-");
    assert.deepEqual(manifest.os, [os]);
    assert.deepEqual(manifest.cpu, [cpu]);
    assert.deepEqual(manifest.libc, libc && [{ gnu: "glibc", musl: "musl" }[libc]]);
    assert.equal(manifest.main, "frazil.node");
    assert.equal(manifest.scripts, undefined);
    assert.equal(manifest.dependencies, undefined);
    const frazil = JSON.parse(readFileSync(join(root, "npm/frazil/package.json"), "utf8"));
    assert.equal(manifest.license, frazil.license);
    // npm would leave the package out, without a word, under an older Node than the one that runs the program.
    assert.equal(manifest.engines, undefined);
  });
}
