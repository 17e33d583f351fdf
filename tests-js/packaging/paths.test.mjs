// The build output contains no path of the build machine. tests-js/scripts/reproducible.test.mjs compares two builds.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { foldersIn } from "../../scripts/build/reproducible.mjs";
import { emptyFolder, hasAddon, pack, root, run } from "./tarballs.mjs";

test("the tarballs contain no folder of this machine", () => {
  for (const { name, tarball } of pack()) {
    const folder = emptyFolder(`paths-${name}`);
    run(folder, "tar", ["-xzf", tarball]);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    assert.ok(files.length > 4);
    for (const file of files)
      assert.deepEqual(foldersIn(readFileSync(join(file.parentPath ?? file.path, file.name))), [], file.name);
  }
});

test("the addon names the sources that panics name, and this test would see them under their folder", {
  skip: !hasAddon && "needs the native addon",
}, () => {
  const addon = readFileSync(join(root, "npm/linux-x64-gnu/frazil.node"));
  assert.ok(addon.includes("/cargo/registry/src/"), "the addon names no source of a crate");
  const cargoHome = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  assert.deepEqual(foldersIn(Buffer.from(`${cargoHome}/registry/src/napi.rs`)), [cargoHome]);
});
