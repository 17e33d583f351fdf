// One command sets the version, and it is the same everywhere.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packages } from "../../scripts/packages.mjs";
import { versionOf, versionsOf, writeVersion } from "../../scripts/release/versions.mjs";
import { root } from "../../scripts/shell.mjs";
import { copyManifests, editJson } from "./checkout.mjs";

test("packages, optional dependencies, crates and lock files of this checkout have one version", () => {
  assert.match(versionOf(), /^\d+\.\d+\.\d+/);
});

test("frazil depends on every platform package, and on nothing else", () => {
  const [frazil] = packages().filter(({ isPlatform }) => !isPlatform);
  const platformPackages = packages().filter(({ isPlatform }) => isPlatform);
  assert.deepEqual(
    Object.keys(frazil.manifest.optionalDependencies).sort(),
    platformPackages.map(({ manifest }) => manifest.name).sort(),
  );
  for (const { folder, manifest } of platformPackages) assert.equal(manifest.name, `frazil-${folder}`);
});

test("no tracked manifest or lock file has the version in a place that the command does not know", (t) => {
  const checkout = copyManifests(t);
  const version = versionOf();
  writeVersion("7.8.9", checkout);
  const named = /^(frazil.*|url-shortener|xtask)$/;
  // What is left of the old version belongs to packages of others.
  const lock = JSON.parse(readFileSync(join(checkout, "package-lock.json"), "utf8"));
  for (const [path, { version: found }] of Object.entries(lock.packages))
    if (path.startsWith("npm/")) assert.equal(found, "7.8.9", path);
  for (const file of ["Cargo.lock", "crates/core/fuzz/Cargo.lock", "crates/core/bench/Cargo.lock"])
    for (const [, name, found, source] of readFileSync(join(checkout, file), "utf8").matchAll(
      /^name = "(.*)"\nversion = "(.*)"\n(source)?/gm,
    ))
      if (source === undefined && named.test(name) && !/^frazil-(fuzz|bench)$/.test(name))
        assert.equal(found, "7.8.9", `${file}: ${name}`);
  for (const file of [
    "Cargo.toml",
    "examples/url-shortener/package.json",
    "examples/typed-api/package.json",
    ...packages(checkout).map(({ folder }) => `npm/${folder}/package.json`),
  ])
    assert.ok(!readFileSync(join(checkout, file), "utf8").includes(`"${version}"`), file);
});

test("a version that is set is read back everywhere, and cargo and npm accept the lock files", (t) => {
  const checkout = copyManifests(t);
  const places = versionsOf(checkout).length;
  for (const version of ["1.2.3", "2.0.0-beta.1"]) {
    writeVersion(version, checkout);
    assert.equal(versionOf(checkout), version);
    assert.equal(versionsOf(checkout).length, places);
  }
  const lock = JSON.parse(readFileSync(join(checkout, "package-lock.json"), "utf8"));
  for (const [name, wanted] of Object.entries(lock.packages["npm/frazil"].optionalDependencies))
    assert.equal(wanted, "2.0.0-beta.1", name);
  // `npm ci` refuses a lock file that does not agree with the manifests.
  execFileSync("npm", ["ci", "--dry-run", "--offline", "--ignore-scripts", "--no-audit"], {
    cwd: checkout,
    stdio: "pipe",
  });
});

test("setting the version that is there changes no file", (t) => {
  const checkout = copyManifests(t);
  writeVersion(versionOf(checkout), checkout);
  for (const file of new Set(versionsOf(checkout).map(({ file }) => file)))
    assert.equal(readFileSync(join(checkout, file), "utf8"), readFileSync(join(root, file), "utf8"), file);
});

test("a place with another version is named", (t) => {
  const checkout = copyManifests(t);
  const version = versionOf(checkout);
  const [{ folder, manifest }] = packages(checkout);
  editJson(join(checkout, "npm", folder, "package.json"), (content) => {
    content.version = "9.9.9";
  });
  const lock = join(checkout, "Cargo.lock");
  writeFileSync(lock, readFileSync(lock, "utf8").replace(/(name = "frazil-wasm"\nversion = )".*"/, '$1"8.8.8"'));
  editJson(join(checkout, "npm/frazil/package.json"), (content) => {
    content.optionalDependencies[manifest.name] = `^${version}`;
  });
  assert.throws(
    () => versionOf(checkout),
    (error) => {
      assert.match(error.message, /Cargo\.lock: frazil-wasm is 8\.8\.8/);
      assert.ok(error.message.includes(`npm/${folder}/package.json: version is 9.9.9`), error.message);
      assert.ok(error.message.includes(`optionalDependencies: ${manifest.name} is ^${version}`), error.message);
      return true;
    },
  );
});

test("a platform package that frazil does not depend on is named", (t) => {
  const checkout = copyManifests(t);
  const [{ manifest }] = packages(checkout);
  editJson(join(checkout, "npm/frazil/package.json"), (content) => {
    delete content.optionalDependencies[manifest.name];
  });
  assert.throws(() => versionOf(checkout), {
    message: `npm/frazil/package.json: optionalDependencies: ${manifest.name} has 0 versions: must have one`,
  });
});

for (const version of ["1.2", "v1.2.3", "01.2.3", "1.2.3+build", "1.2.3-", "latest", ""]) {
  test(`the version ${JSON.stringify(version)} is refused, and nothing is written`, (t) => {
    const checkout = copyManifests(t);
    assert.throws(() => writeVersion(version, checkout), {
      message: `the version is ${JSON.stringify(version)}: must be like 1.2.3 or 1.2.3-beta.1`,
    });
    assert.equal(versionOf(checkout), versionOf());
  });
}

test("a tag of another version is refused", () => {
  const ask = (tag) =>
    spawnSync(process.execPath, [join(root, "scripts/release/versions.mjs"), "--tag", tag], { encoding: "utf8" });
  assert.equal(ask(`v${versionOf()}`).status, 0);
  for (const tag of [versionOf(), "v9.9.9"]) {
    const { status, stderr } = ask(tag);
    assert.equal(status, 1);
    assert.match(stderr, /the tag is .*: must be v/);
  }
});
