// Every place that names the platforms of the native addon says the same as `scripts/platforms/index.mjs`.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PLATFORMS, platformNamed } from "../../scripts/platforms/index.mjs";
import { platformPackageFiles } from "../../scripts/platforms/manifests.mjs";
import { pageOf, readRecord, refuseToReplace } from "../../scripts/platforms/record.mjs";
import { root } from "./tarballs.mjs";

const read = (path) => readFileSync(join(root, path), "utf8");

test("the manifests and READMEs of the platform packages are those that the list of platforms gives", () => {
  for (const [path, text] of platformPackageFiles()) {
    assert.equal(read(path), text, `${path} is stale; to write it again: node scripts/platforms/manifests.mjs`);
  }
});

test("npm/ contains the package, a folder for each platform, and nothing else", () => {
  const folders = readdirSync(join(root, "npm")).sort();
  assert.deepEqual(folders, ["frazil", ...PLATFORMS.map(({ name }) => name)].sort());
});

test("the lock file has each platform package with its system, as an optional package, and no other", () => {
  const { packages } = JSON.parse(read("package-lock.json"));
  const { version } = JSON.parse(read("npm/frazil/package.json"));
  const platformPackages = Object.entries(packages).filter(
    ([path, { link }]) => /(^|\/)npm\/(?!frazil$)/.test(path) && !link,
  );
  assert.deepEqual(platformPackages.map(([path]) => path).sort(), PLATFORMS.map(({ name }) => `npm/${name}`).sort());
  for (const { name, package: platformPackage, os, cpu, libc } of PLATFORMS) {
    const entry = packages[`npm/${name}`];
    const expected = { name: platformPackage, version, os: [os], cpu: [cpu], libc: libc && [libc], optional: true };
    for (const [field, value] of Object.entries(expected)) assert.deepEqual(entry[field], value, `${field} of ${name}`);
    assert.deepEqual(packages[`node_modules/${platformPackage}`], { resolved: `npm/${name}`, link: true });
  }
  assert.deepEqual(
    packages["npm/frazil"].optionalDependencies,
    Object.fromEntries(PLATFORMS.map((each) => [each.package, version]).sort()),
  );
});

test("the systems of which the package looks for an addon are those of the list", () => {
  const [, systems] = /const SYSTEMS = \/(.*)\/;/.exec(read("npm/frazil/src/core/binding/node.ts"));
  const of = ({ os, cpu }) => `${os}-${cpu}`;
  const named = ["linux", "darwin", "win32", "freebsd", "android"].flatMap((os) =>
    ["x64", "arm64", "arm", "ia32", "riscv64", "s390x"].map((cpu) => of({ os, cpu })),
  );
  const looked = named.filter((system) => new RegExp(systems).test(system));
  assert.deepEqual(looked.sort(), [...new Set(PLATFORMS.map(of))].sort());
});

test("an unknown platform is refused, with the names that exist", () => {
  assert.throws(() => platformNamed("linux-x64"), /unknown platform "linux-x64": must be one of linux-x64-gnu, /);
});

test("the platforms on which state files are proven are those of the record", () => {
  const source = read("crates/local/src/platforms.rs");
  const listOf = (name) => {
    const [, list] = new RegExp(`const ${name}: .*? = &\\[(.*?)\\];`, "s").exec(source);
    return Array.from(list.matchAll(/"(.*?)"/g), ([, text]) => text);
  };
  const runs = Object.entries(JSON.parse(read("docs/proofs/local-platforms.json")).runs);
  assert.deepEqual(
    listOf("PROVEN"),
    runs.filter(([, { emulator }]) => emulator === null).map(([name]) => name),
  );
  assert.deepEqual(
    listOf("EMULATED"),
    runs.filter(([, { emulator }]) => emulator !== null).flatMap(([name, { emulator }]) => [name, emulator]),
  );
});

test("the page of the runs follows from their record", () => {
  assert.equal(read("docs/proofs/platforms.md"), pageOf(readRecord()), "npm run test:platform writes both");
});

test("docs/reference/platforms.md says of each platform package whether it was run, and on the system itself", () => {
  const record = readRecord();
  const rows = [...read("docs/reference/platforms.md").matchAll(/^\| (`frazil-.*?) \|.*\| (.*?) \|$/gm)];
  const said = rows.flatMap(([, names, run]) =>
    Array.from(names.matchAll(/`frazil-(.*?)`/g), ([, name]) => [name, run]),
  );
  assert.deepEqual(said.map(([name]) => name).sort(), PLATFORMS.map(({ name }) => name).sort());
  for (const [name, run] of said) {
    const standIn = record[name]?.standIn;
    const wanted =
      record[name] === undefined
        ? /^built and inspected$/
        : standIn === null
          ? /^all tests, on/
          : /^(emulated|in Bun on Debian)/;
    assert.match(run, wanted, name);
  }
});

test("a run where something stands in for the system does not replace one on the system itself", () => {
  assert.throws(() => refuseToReplace("linux-arm64-gnu", null, "qemu-user 7.2"), /a record of a real system/);
  for (const [recorded, standIn] of [
    [null, null],
    ["qemu-user 7.2", "qemu-user 7.2"],
    [undefined, "qemu-user 7.2"],
    ["wine 8.0", null],
  ])
    refuseToReplace("linux-arm64-gnu", recorded, standIn);
});
