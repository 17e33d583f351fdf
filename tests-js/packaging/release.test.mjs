// `npm run release` in a copy of this checkout, with a registry on the loopback interface: a good release, one with every reason to refuse,
// and publications that fail and continue. `release-problems.test.mjs` has each refusal alone.
//
// The copy has every platform package, with a dummy file for each addon that this machine cannot build. So it replaces
// `scripts/release/platform-packages.mjs`: builds are copied, and inspection refuses files that begin with "broken". It also replaces
// `scripts/test/unproven.mjs`: the copy has no tests, and a file lists those that have not passed.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { editJson } from "./checkout.mjs";
import { startRegistry } from "./registry.mjs";
import {
  addonOf,
  authorize,
  built,
  changed,
  checkout,
  commit,
  dryRun,
  folder,
  git,
  manifest,
  out,
  platformPackages,
  publish,
  record,
  records,
  release,
  report,
  run,
  runsOf,
  scratch,
  version,
} from "./released-checkout.mjs";
import { hasAddon } from "./tarballs.mjs";

test("the dry run packs every package, and reports sizes and hashes as JSON and as a page", async () => {
  const { packages: packed, crates, problems, commit: head, version: reported } = report();
  assert.deepEqual(problems, []);
  assert.equal(reported, version);
  assert.equal(head, git("rev-parse", "HEAD").trim());
  assert.deepEqual(
    packed.map(({ name }) => name),
    [...platformPackages.map(({ manifest }) => manifest.name), "frazil"],
    "the platform packages first",
  );
  assert.deepEqual(
    readdirSync(out).sort(),
    [...packed, ...crates]
      .map(({ file }) => file)
      .concat("release.json", "release.md")
      .sort(),
  );
  const page = readFileSync(join(out, "release.md"), "utf8");
  for (const { file, size, sha256, integrity } of packed) {
    const bytes = readFileSync(join(out, file));
    assert.equal(bytes.length, size);
    assert.equal(createHash("sha256").update(bytes).digest("hex"), sha256);
    assert.equal(`sha512-${createHash("sha512").update(bytes).digest("base64")}`, integrity);
    for (const text of [file, sha256, integrity]) assert.ok(page.includes(text), text);
  }
  assert.deepEqual(
    crates.map(({ name }) => name),
    ["frazil", "frazil-local"],
  );
});

const append = (file, text) => writeFileSync(join(checkout, file), readFileSync(join(checkout, file), "utf8") + text);

// A dist that throws was packed, and published: git ignores what is built.
test("a second dry run gives the same bytes: nothing that was changed after the build, or that nothing makes any more", async (t) => {
  const left = join(checkout, "npm/frazil/dist/left.js");
  changed(t, () => {
    append("npm/frazil/dist/node.cjs", "throw new Error();\n");
    writeFileSync(left, "");
  });
  t.after(() => cpSync(built, join(checkout, "npm"), { recursive: true }));
  const before = report();
  const again = await release("--dry-run", "--out", out, "--record", records);
  assert.equal(again.status, 0, again.output);
  assert.deepEqual(report(), before);
  assert.ok(!existsSync(left));
});

test("the dry run finds every reason not to release, and the publication refuses what it packed", async (t) => {
  const [missing, broken, newer, stale, failed, emulated, unknown, rebuilt] = platformPackages.map(
    ({ folder }) => folder,
  );
  assert.ok(rebuilt, "a platform package for each reason");
  const runs = Object.assign({}, ...runsOf(report()));
  const manifestOf = (folder) => join(checkout, "npm", folder, "package.json");
  changed(t, () => {
    rmSync(addonOf(missing));
    writeFileSync(addonOf(broken), "broken");
    editJson(manifestOf(newer), (content) => {
      content.version = "9.9.9";
    });
    editJson(manifestOf(stale), (content) => {
      content.homepage = "https://example.org";
    });
    runs[failed].failed = ["vectors"];
    runs[emulated].standIn = "qemu-user 7.2";
    delete runs[unknown];
    writeFileSync(addonOf(rebuilt), "another build");
    // With --built, this is packed.
    append("npm/frazil/dist/node.cjs", "throw new Error();\n");
    writeFileSync(record, JSON.stringify(runs));
    writeFileSync(join(checkout, "unproven.json"), '["nemesis-etcd-long"]');
    writeFileSync(join(checkout, "CHANGELOG.md"), `# Changelog\n\n## Unreleased\n\n## ${version}1 - 2026-11-23\n`);
    commit();
    append("README.md", "changed\n");
    writeFileSync(join(checkout, "new.txt"), "");
    append("LICENSE-MIT", "changed\n");
    git("update-index", "--assume-unchanged", "LICENSE-MIT");
  });
  const refused = await dryRun();
  git("update-index", "--no-assume-unchanged", "LICENSE-MIT");
  assert.equal(refused.status, 1, refused.output);
  const notRun = (folder, found, its = version) =>
    `${folder} ${its} has not run as it is packed: the record (${record}) has ${found} (npm run test:platform -- ${folder} --packed FOLDER on that system, and --record PATH of what it writes)`;
  const other = "a run, with another content of frazil";
  const { problems, packages: packed } = report();
  assert.deepEqual(problems, [
    "git is told to overlook changes of: LICENSE-MIT (git update-index --no-assume-unchanged --no-skip-worktree)",
    "the checkout has changes that are not committed:\nM README.md\n?? new.txt",
    `the version is ${version} in Cargo.toml, but not everywhere:\n  npm/${newer}/package.json: version is 9.9.9`,
    `npm/${stale}/package.json does not follow the repository: npm run repository -- --write`,
    "docs/proofs/passed.json has no pass of this checkout of: nemesis-etcd-long (npm run test:all, npm run test:long)",
    `CHANGELOG.md has no heading of ${version}: must have "## ${version} - YYYY-MM-DD"`,
    `npm/${missing} has no frazil.node: npm run build:platforms builds every platform package`,
    `npm/${broken} fails inspection: it needs glibc 2.99`,
    notRun(broken, `${other}, with another content of frazil-${broken}`),
    notRun(
      newer,
      `a run of ${version}, with another content of frazil, with another content of frazil-${newer}`,
      "9.9.9",
    ),
    notRun(stale, `${other}, with another content of frazil-${stale}`),
    notRun(failed, `${other}, where vectors failed`),
    notRun(emulated, `${other}, where qemu-user 7.2 stood in for the system`),
    notRun(unknown, "no run of it"),
    notRun(rebuilt, `${other}, with another content of frazil-${rebuilt}`),
  ]);
  // The page and the standard output have them as well.
  const page = readFileSync(join(out, "release.md"), "utf8");
  for (const text of [page, refused.output])
    for (const problem of problems) assert.ok(text.includes(`* ${problem.replaceAll("\n", "\n  ")}\n`), problem);
  assert.deepEqual(
    packed.map(({ name }) => name),
    [...platformPackages.slice(1).map(({ manifest }) => manifest.name), "frazil"],
  );
  const registry = await startRegistry(t);
  assert.deepEqual(await publish(registry), {
    status: 1,
    output: `the dry run found reasons not to release:\n${problems.join("\n")}\n`,
  });
  assert.deepEqual(registry.requests, []);
});

const inOrder = [...platformPackages.map(({ manifest }) => manifest.name), "frazil"].map(
  (name) => `${name}@${version}`,
);

// One story, since every publication asks npm about every package.
test("exactly the packed tarballs are published with the records of their runs, the platform packages first; after a failure the same command continues", async (t) => {
  const registry = await startRegistry(t);
  const without = await publish(registry);
  assert.equal(without.status, 1);
  assert.match(without.output, /^not every platform has run:\n/);
  for (const { folder } of platformPackages)
    assert.ok(without.output.includes(`${folder} ${version} has not run as it is packed`));
  assert.deepEqual(registry.requests, []);

  // Each platform package can be seen only when it is asked for again, the first and the last even later, and frazil is not taken.
  const lateBy = (name) => ([inOrder[0], inOrder.at(-2)].includes(`${name}@${version}`) ? 2 : 1);
  registry.lateBy = lateBy;
  registry.refuse = (name) => name === "frazil";
  const files = platformPackages.flatMap(({ folder }) => ["--record", join(records, folder, "platforms.json")]);
  const first = await publish(registry, ...files);
  assert.equal(first.status, 1);
  assert.match(first.output, new RegExp(`frazil ${version} was not published; the same command continues here:`));
  assert.deepEqual(registry.published, inOrder.slice(0, -1));
  const last = registry.requests.indexOf("PUT frazil");
  for (const { manifest } of platformPackages) {
    const asked = registry.requests.slice(registry.requests.indexOf(`PUT ${manifest.name}`), last);
    assert.equal(asked.filter((request) => request === `GET ${manifest.name}`).length, lateBy(manifest.name) + 1);
  }

  // The folder of all records, as a workflow downloads them, with records of something else.
  registry.refuse = () => false;
  registry.lateBy = () => 0;
  const second = await publish(registry, "--record", records);
  assert.equal(second.status, 0, second.output);
  for (const { manifest } of platformPackages)
    assert.ok(second.output.includes(`${manifest.name} ${version}: published before\n`), second.output);
  assert.ok(second.output.includes(`frazil ${version}: published\n`), second.output);
  assert.deepEqual(registry.published, inOrder);
  assert.deepEqual(new Set(registry.tags), new Set(["next"]));

  const third = await publish(registry, "--record", records);
  assert.equal(third.status, 0, third.output);
  assert.deepEqual(registry.published, inOrder);
  for (const { name, file } of report().packages)
    assert.ok(registry.tarball(name, version).equals(readFileSync(join(out, file))), file);

  const folder = mkdtempSync(join(scratch, "install-"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const env = { ...process.env, NPM_CONFIG_CACHE: join(scratch, "npm-cache") };
  const args = ["install", "frazil@next", "--registry", registry.url, "--no-audit"];
  // The registry is in this process, which therefore must not wait.
  await new Promise((resolve, reject) =>
    execFile("npm", args, { cwd: folder, env }, (error) => (error ? reject(error) : resolve())),
  );
  const program =
    'import { Snowflake } from "frazil"; const ids = new Snowflake({ node: 7 }); console.log(ids.next(), ids.backend)';
  const [id, backend] = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: folder,
    encoding: "utf8",
  })
    .trim()
    .split(" ");
  assert.match(id, /^\d{17,19}n$/);
  if (hasAddon) assert.equal(backend, "native");
});

test("if a version is published with another content, nothing is published", async (t) => {
  const registry = await startRegistry(t);
  registry.add(manifest.name, version, Buffer.from("another tarball"));
  const { status, output } = await publish(registry, "--record", records);
  assert.equal(status, 1);
  assert.match(
    output,
    new RegExp(
      `^${manifest.name} ${version} is published with the integrity sha512-.*, and is sha512-.* here: must be another version\n$`,
    ),
  );
  assert.deepEqual(registry.published, []);
});

test("a registry that does not answer is an error, and not a package that is missing", async (t) => {
  const registry = await startRegistry(t);
  const url = registry.url.replace("127.0.0.1", "127.0.0.2");
  const { status, output } = await publish({ url }, "--record", records);
  assert.equal(status, 1);
  assert.match(output, /does not say whether .* is published/);
  assert.deepEqual(registry.requests, []);
});

// What these read is given to the functions: a tarball's bytes, and what it contains.
for (const [name, change, reason] of [
  [
    "a tarball that was changed",
    () => append(`../out/frazil-${version}.tgz`, "x"),
    /^.*frazil-.*\.tgz has the integrity sha512-.*: the report has sha512-.*\n$/,
  ],
  [
    "a tarball that is missing, another in its place, and another commit",
    () => {
      rmSync(join(out, `${manifest.name}-${version}.tgz`));
      writeFileSync(join(out, "other-1.0.0.tgz"), "");
      append("README.md", "changed\n");
      commit();
    },
    /^.*out was packed from [0-9a-f]{40}: this checkout is [0-9a-f]{40}\. Pack again.*\nother-1\.0\.0\.tgz in .* is not in the report\n.*\.tgz is missing, which the report has\n$/,
  ],
  [
    "a report and a record of a content and a version that the tarball does not have, and of another platform",
    () => {
      editJson(join(out, "release.json"), (content) => {
        const [platformPackage, second] = content.packages;
        Object.assign(platformPackage, { content: "0".repeat(64), version: "9.9.9" });
        second.platform = platformPackage.platform;
      });
    },
    new RegExp(
      `^.*${manifest.name}-.*\\.tgz contains ${manifest.name} ${version}: the report has ${manifest.name} 9\\.9\\.9\n` +
        `.*${manifest.name}-.*\\.tgz has the content [0-9a-f]{64}: the report has 0{64}\n` +
        `${platformPackages[1].manifest.name} is of the platform ${platformPackages[1].folder}: the report has ${folder}\n` +
        `frazil depends on ${manifest.name} ${version}, which .* does not have\n$`,
    ),
  ],
  [
    "no report",
    () => rmSync(join(out, "release.json")),
    /^.* has no release\.json: npm run release -- --dry-run --out .*\n$/,
  ],
  [
    "a record that is missing",
    () => {
      rmSync(join(records, folder, "platforms.json"));
    },
    new RegExp(`${folder} ${version} has not run as it is packed: .* has no run of it`),
  ],
]) {
  test(`the publication refuses ${name}`, async (t) => {
    const kept = join(scratch, "records-before");
    cpSync(records, kept, { recursive: true });
    t.after(() => {
      rmSync(records, { recursive: true });
      renameSync(kept, records);
    });
    changed(t, change);
    const registry = await startRegistry(t);
    const { status, output } = await publish(registry, "--record", records);
    assert.equal(status, 1);
    assert.match(output, reason);
    assert.deepEqual(registry.requests, []);
  });
}

test("provenance needs the address of the repository, and a workflow", async (t) => {
  const registry = await startRegistry(t);
  const provenance = () => release("--packed", out, "--registry", registry.url, "--record", records);
  const without = await provenance();
  assert.equal(without.status, 1);
  assert.match(without.output, /^repository in package\.json is not set/);
  assert.deepEqual(registry.requests, []);
  changed(t, () => {
    editJson(join(checkout, "package.json"), (content) => {
      Object.assign(content, { repository: "https://github.com/example/frazil", author: "somebody" });
    });
  });
  authorize(registry);
  const outside = await provenance();
  assert.equal(outside.status, 1);
  assert.match(outside.output, /provenance/);
  assert.deepEqual(registry.published, []);
});

test("the crates: what is published is left out, and another content is refused", async (t) => {
  const cksums = Object.fromEntries(report().crates.map(({ name, sha256 }) => [name, sha256]));
  const index = {};
  const server = createServer(({ url }, response) => {
    const lines = index[url.split("/").at(-1)];
    response.writeHead(lines === undefined ? 404 : 200);
    response.end(lines?.map((line) => `${JSON.stringify(line)}\n`).join(""));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}`;
  const publishing = () => run("scripts/release/publish-crates.mjs", "--dry-run", "--index", url);
  const entry = (name, vers, cksum) => ({ name, vers, cksum, deps: [], features: {}, yanked: false });
  assert.deepEqual(await publishing(), {
    status: 0,
    output: `frazil ${version}: to be published\nfrazil-local ${version}: to be published\n`,
  });
  index.frazil = [entry("frazil", "0.0.0", "0".repeat(64)), entry("frazil", version, cksums.frazil)];
  assert.deepEqual(await publishing(), {
    status: 0,
    output: `frazil ${version}: published before\nfrazil-local ${version}: to be published\n`,
  });
  index["frazil-local"] = [entry("frazil-local", version, "0".repeat(64))];
  const other = await publishing();
  assert.equal(other.status, 1);
  assert.match(
    other.output,
    /frazil-local .* is published with the sha256 0{64}, and is [0-9a-f]{64} here: must be another/,
  );
  server.close();
  server.closeAllConnections();
  assert.equal((await publishing()).status, 1, "an index that cannot be reached is no missing crate");
});

test("the names are held by packages that can be published", async () => {
  const folder = join(scratch, "reserved");
  const { status, output } = await run("scripts/release/reserve.mjs", folder);
  assert.equal(status, 0, output);
  const names = [...platformPackages.map(({ manifest }) => manifest.name), "frazil"];
  const folders = names.map((name) => join(folder, "npm", name));
  const packed = execFileSync("npm", ["pack", "--json", "--dry-run", ...folders], { cwd: folder, encoding: "utf8" });
  assert.deepEqual(
    JSON.parse(packed).map(({ id }) => id),
    names.map((name) => `${name}@0.0.0`),
  );
  for (const name of names) assert.ok(output.includes(`npm deprecate ${name}@0.0.0 `));
  for (const name of ["frazil", "frazil-local"]) {
    const manifest = join(folder, "crates", name, "Cargo.toml");
    execFileSync("cargo", ["package", "--quiet", "--offline", "--manifest-path", manifest], { stdio: "pipe" });
    assert.ok(output.includes(`cargo yank ${name}@0.0.0`));
  }
});

test("--help prints every option, and options that do not fit are refused", async () => {
  const { status, output } = await release("--help");
  assert.equal(status, 0);
  for (const option of ["dry-run", "packed", "out", "built", "record", "without-runs", "registry", "no-provenance"])
    assert.ok(output.includes(`--${option}`), option);
  for (const [args, reason] of [
    [[], /one of --dry-run and --packed FOLDER is required/],
    [["--dry-run", "--packed", out], /one of --dry-run and --packed FOLDER is required/],
    [["--dry-run", "--registry", "http://127.0.0.1:9/"], /--registry is not for --dry-run/],
    [["--packed", out, "--without-runs"], /--without-runs is not for --packed/],
    [["--publish"], /Unknown option '--publish'/],
  ]) {
    const refused = await release(...args);
    assert.equal(refused.status, 1, args.join(" "));
    assert.match(refused.output, reason);
  }
});
