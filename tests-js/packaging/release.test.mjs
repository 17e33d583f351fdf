// `npm run release` in a copy of this checkout, with a registry on the loopback interface.
//
// The copy has every carrier: where no addon is built on this machine, a file that is none. So `scripts/released-carriers.mjs` is replaced
// in it: what is built is copied, and inspection refuses what begins with "broken".
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { packages } from "../../scripts/packages.mjs";
import { versionOf } from "../../scripts/versions.mjs";
import { editJson } from "./checkout.mjs";
import { startRegistry } from "./registry.mjs";
import { hasAddon, root } from "./tarballs.mjs";

const scratch = mkdtempSync(join(tmpdir(), "frazil-release-"));
const checkout = join(scratch, "checkout");
const out = join(scratch, "out");
const version = versionOf();
const carriers = packages().filter(({ isCarrier }) => isCarrier);
const addonOf = (folder) => join(checkout, "npm", folder, "frazil.node");
/** What the build of the copy makes of `npm`. */
const built = join(scratch, "built");
const record = join(checkout, "docs/proofs/platforms.json");

const git = (...args) =>
  execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.org", ...args], {
    cwd: checkout,
    encoding: "utf8",
  });
const commit = () => git("commit", "-qam", "test");

/** Runs a script in the copy, as npm does. Whatever is not on this machine cannot be reached. */
const run = (script, ...args) =>
  new Promise((resolve) => {
    const env = {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|node_|github_|ci$)/i.test(name))),
      CARGO_TARGET_DIR: join(scratch, "target"),
      NPM_CONFIG_USERCONFIG: join(scratch, "npmrc"),
      NPM_CONFIG_CACHE: join(scratch, "npm-cache"),
      NPM_CONFIG_PROXY: "http://127.0.0.1:9",
      NPM_CONFIG_HTTPS_PROXY: "http://127.0.0.1:9",
      NPM_CONFIG_NOPROXY: "127.0.0.1",
      NPM_CONFIG_FETCH_RETRIES: "0",
    };
    execFile(process.execPath, [script, ...args], { cwd: checkout, env, encoding: "utf8" }, (error, stdout, stderr) =>
      resolve({ status: error ? error.code : 0, output: stdout + stderr }),
    );
  });

const release = (...args) => run("scripts/release.mjs", ...args);

/** Packs the copy without building anything. */
const dryRun = (...args) => release("--dry-run", "--built", "--out", out, ...args);
const report = () => JSON.parse(readFileSync(join(out, "release.json"), "utf8"));

before(async () => {
  for (const file of [
    "scripts",
    "crates",
    "docs",
    "npm",
    "examples",
    "Cargo.toml",
    "Cargo.lock",
    "package.json",
    "package-lock.json",
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    ".gitignore",
  ])
    cpSync(join(root, file), join(checkout, file), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !/node_modules|fuzz\/(corpus|target|artifacts)/.test(path),
    });
  for (const { folder } of carriers)
    if (!existsSync(addonOf(folder))) writeFileSync(addonOf(folder), `no addon, for ${folder}`);
  writeFileSync(
    join(checkout, "scripts/released-carriers.mjs"),
    'import { readFileSync } from "node:fs";\n' +
      'import { cpSync } from "node:fs";\n' +
      `export const buildCarriers = () => cpSync(${JSON.stringify(built)}, "npm", { recursive: true });\n` +
      "export function inspectCarrier({ path }) {\n" +
      '  if (readFileSync(path + "/frazil.node").subarray(0, 6).toString() === "broken") throw new Error("it needs glibc 2.99");\n' +
      "}\n",
  );
  // No address of a repository, whether or not this checkout has one.
  editJson(join(checkout, "package.json"), (content) => {
    delete content.repository;
    delete content.author;
  });
  execFileSync(process.execPath, ["scripts/repository.mjs", "--write"], { cwd: checkout });
  // What belongs to a release: a heading, and a record of a run on each platform.
  writeFileSync(
    join(checkout, "CHANGELOG.md"),
    `# Changelog\n\n## Unreleased\n\n## ${version} - 2026-11-23\n\n* All.\n`,
  );
  cpSync(join(checkout, "npm"), built, { recursive: true });
  git("init", "-q");
  git("add", "-A");
  commit();
  await recordRuns();
});
after(() => rmSync(scratch, { recursive: true }));

/** Puts on record that every platform has run what the copy packs, and packs it again. */
async function recordRuns() {
  const first = await dryRun("--without-runs");
  assert.equal(first.status, 0, first.output);
  writeFileSync(record, JSON.stringify(Object.assign({}, ...runsOf(report()))));
  commit();
  const { status, output } = await dryRun();
  assert.equal(status, 0, output);
}

/** For each platform of a report, a record of a run of what was packed. */
function runsOf({ packages: packed }) {
  const { content: ofFrazil } = packed.find(({ name }) => name === "frazil");
  return packed
    .filter(({ platform }) => platform !== undefined)
    .map(({ platform, name, version, content }) => ({
      [platform]: { version, contents: { frazil: ofFrazil, [name]: content }, standIn: null, failed: [] },
    }));
}

/** Changes the copy for a test. Afterwards it is as it was, and packed as it was. */
function changed(t, change) {
  const packed = join(scratch, "packed-before");
  cpSync(out, packed, { recursive: true });
  const addons = carriers.map(({ folder }) => [addonOf(folder), readFileSync(addonOf(folder))]);
  const head = git("rev-parse", "HEAD").trim();
  t.after(() => {
    git("reset", "-q", "--hard", head);
    git("clean", "-fdq");
    for (const [path, bytes] of addons) writeFileSync(path, bytes);
    rmSync(out, { recursive: true });
    cpSync(packed, out, { recursive: true });
    rmSync(packed, { recursive: true });
  });
  change();
}

test("the dry run packs every package, and reports sizes and hashes as JSON and as a page", async () => {
  const { packages: packed, crates, problems, commit: head, version: reported } = report();
  assert.deepEqual(problems, []);
  assert.equal(reported, version);
  assert.equal(head, git("rev-parse", "HEAD").trim());
  assert.deepEqual(
    packed.map(({ name }) => name),
    [...carriers.map(({ manifest }) => manifest.name), "frazil"],
    "the carriers first",
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

test("a second dry run gives the same bytes", async () => {
  const first = report();
  const { status, output } = await dryRun();
  assert.equal(status, 0, output);
  assert.deepEqual(report(), first);
});

const [{ folder, manifest }] = carriers;
const append = (file, text) => writeFileSync(join(checkout, file), readFileSync(join(checkout, file), "utf8") + text);

for (const [name, change, reason, ...args] of [
  ["a checkout with changes", () => append("README.md", "changed\n"), /changes that are not committed:\n.*README\.md/],
  [
    "a file that is not committed",
    () => writeFileSync(join(checkout, "new.txt"), ""),
    /changes that are not committed:\n *\?\? new\.txt/,
  ],
  [
    "a version without a heading in CHANGELOG.md",
    () => {
      writeFileSync(
        join(checkout, "CHANGELOG.md"),
        `# Changelog\n\n## Unreleased\n\n## ${version}1 - 2026-11-23\n\n## ${version}\n`,
      );
      commit();
    },
    /CHANGELOG\.md has no heading of .*: must have "## /,
  ],
  [
    "versions that differ",
    () => {
      editJson(join(checkout, "npm", folder, "package.json"), (content) => {
        content.version = "9.9.9";
      });
      commit();
    },
    /not everywhere:\n.*version is 9\.9\.9/,
    "--without-runs",
  ],
  [
    "a manifest that does not follow the repository",
    () => {
      editJson(join(checkout, "npm", folder, "package.json"), (content) => {
        content.homepage = "https://example.org";
      });
      commit();
    },
    /package\.json does not follow the repository/,
    "--without-runs",
  ],
  [
    "a carrier without an addon",
    () => rmSync(addonOf(folder)),
    new RegExp(`npm/${folder} has no frazil.node: npm run build:platforms`),
  ],
  [
    "a carrier that fails inspection",
    () => writeFileSync(addonOf(folder), "broken"),
    new RegExp(`npm/${folder} fails inspection: it needs glibc 2.99`),
    "--without-runs",
  ],
  [
    "an addon that has not run",
    () => writeFileSync(addonOf(folder), "another build"),
    new RegExp(
      `${folder} ${version} has not run as it is packed: .* has a run, with another content of frazil-${folder}`,
    ),
  ],
  [
    "a checkout without a record of runs",
    () => {
      rmSync(record);
      commit();
    },
    /there is no record of runs at .*docs\/proofs\/platforms\.json/,
  ],
  [
    "a platform on which a test failed",
    () => {
      editJson(record, (content) => {
        content[folder].failed = ["vectors"];
      });
      commit();
    },
    new RegExp(`${folder} ${version} has not run as it is packed: .* has a run, where vectors failed`),
  ],
  [
    "a platform that was only emulated",
    () => {
      editJson(record, (content) => {
        content[folder].standIn = "qemu-user 7.2";
      });
      commit();
    },
    new RegExp(`${folder} ${version} has not run as .* has a run, where qemu-user 7.2 stood in for the system`),
  ],
  [
    "a platform without a record",
    () => {
      editJson(record, (content) => delete content[folder]);
      commit();
    },
    new RegExp(`${folder} ${version} has not run as it is packed: .* has no run of it`),
  ],
]) {
  test(`the dry run refuses ${name}, and so does the publication`, async (t) => {
    changed(t, change);
    const { status, output } = await dryRun(...args);
    assert.equal(status, 1, output);
    assert.match(output, reason);
    const { problems } = report();
    assert.equal(problems.length, 1, problems.join("\n"));
    assert.match(problems[0], reason);
    const registry = await startRegistry(t);
    const publication = await release("--packed", out, "--registry", registry.url, "--no-provenance");
    assert.equal(publication.status, 1);
    assert.match(publication.output, reason);
    assert.deepEqual(registry.requests, []);
  });
}

/** Publishes what was packed to a registry. */
const publish = (registry, ...args) => {
  const { host } = new URL(registry.url);
  writeFileSync(join(scratch, "npmrc"), `//${host}/:_authToken=test\n`);
  return release("--packed", out, "--registry", registry.url, "--no-provenance", ...args);
};
const inOrder = [...carriers.map(({ manifest }) => manifest.name), "frazil"].map((name) => `${name}@${version}`);

// A dist that throws was packed, and published: git ignores what is built.
test("without --built nothing is packed that was changed after the build, or that nothing makes any more", async (t) => {
  const [dist, left] = ["dist/node.cjs", "dist/left.js"].map((name) => join(checkout, "npm/frazil", name));
  changed(t, () => {
    append("npm/frazil/dist/node.cjs", "throw new Error();\n");
    writeFileSync(left, "");
  });
  t.after(() => cpSync(built, join(checkout, "npm"), { recursive: true }));
  const before = report();
  const again = await release("--dry-run", "--out", out);
  assert.equal(again.status, 0, again.output);
  assert.deepEqual(report(), before);
  assert.ok(!existsSync(left));
  // The twin, and what a run on record is compared with.
  append("npm/frazil/dist/node.cjs", "throw new Error();\n");
  const stale = await dryRun();
  assert.equal(stale.status, 1, stale.output);
  assert.match(stale.output, /has not run as it is packed: .* has a run, with another content of frazil \(/m);
  cpSync(join(built, "frazil/dist/node.cjs"), dist);
});

test("changes that git is told to overlook are refused", async (t) => {
  changed(t, () => {
    append("README.md", "changed\n");
    git("update-index", "--assume-unchanged", "README.md");
  });
  const refused = await dryRun();
  git("update-index", "--no-assume-unchanged", "README.md");
  assert.equal(refused.status, 1);
  assert.match(refused.output, /git is told to overlook changes of: README\.md/);
});

test("exactly the packed tarballs are published, the carriers first, and they can be installed", async (t) => {
  const registry = await startRegistry(t);
  const { status, output } = await publish(registry);
  assert.equal(status, 0, output);
  assert.deepEqual(registry.published, inOrder);
  assert.deepEqual(new Set(registry.tags), new Set(["latest"]));
  for (const { name, file } of report().packages)
    assert.ok(registry.tarball(name, version).equals(readFileSync(join(out, file))), file);
  const folder = mkdtempSync(join(scratch, "install-"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const env = { ...process.env, NPM_CONFIG_CACHE: join(scratch, "npm-cache") };
  // The registry is in this process, which therefore must not wait.
  await new Promise((resolve, reject) =>
    execFile("npm", ["install", "frazil", "--registry", registry.url, "--no-audit"], { cwd: folder, env }, (error) =>
      error ? reject(error) : resolve(),
    ),
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

test("after a failure the same command continues, and a third time it publishes nothing", async (t) => {
  const registry = await startRegistry(t);
  registry.refuse = (name) => name === "frazil";
  const first = await publish(registry);
  assert.equal(first.status, 1);
  assert.match(first.output, new RegExp(`frazil ${version} was not published; the same command continues here:`));
  assert.deepEqual(registry.published, inOrder.slice(0, -1));
  registry.refuse = () => false;
  const second = await publish(registry);
  assert.equal(second.status, 0, second.output);
  assert.ok(second.output.includes(`${manifest.name} ${version}: published before`), second.output);
  assert.deepEqual(registry.published, inOrder);
  const third = await publish(registry);
  assert.equal(third.status, 0, third.output);
  assert.deepEqual(registry.published, inOrder);
});

test("frazil is published when every carrier can be installed, and not before", async (t) => {
  const registry = await startRegistry(t);
  registry.lateBy = 2;
  const { status, output } = await publish(registry);
  assert.equal(status, 0, output);
  assert.deepEqual(registry.published, inOrder);
  const last = registry.requests.indexOf("PUT frazil");
  for (const { manifest } of carriers) {
    const asked = registry.requests.slice(registry.requests.indexOf(`PUT ${manifest.name}`), last);
    assert.equal(asked.filter((request) => request === `GET ${manifest.name}`).length, 3, manifest.name);
  }
});

test("if a version is published with another content, nothing is published", async (t) => {
  const registry = await startRegistry(t);
  registry.refuse = (name) => name === "frazil";
  await publish(registry);
  registry.refuse = () => false;
  const published = [...registry.published];
  changed(t, () => {
    append(`npm/${folder}/README.md`, "changed\n");
    commit();
  });
  assert.equal((await dryRun()).status, 0, "a page is nothing that runs");
  const { status, output } = await publish(registry);
  assert.equal(status, 1);
  assert.match(
    output,
    new RegExp(
      `${manifest.name} ${version} is published with the integrity sha512-.*, and is sha512-.* here: must be another version`,
    ),
  );
  assert.deepEqual(registry.published, published);
});

test("a registry that does not answer is an error, and not a package that is missing", async (t) => {
  const registry = await startRegistry(t);
  const url = registry.url.replace("127.0.0.1", "127.0.0.2");
  const { status, output } = await release("--packed", out, "--registry", url, "--no-provenance");
  assert.equal(status, 1);
  assert.match(output, /does not say whether .* is published/);
  assert.deepEqual(registry.requests, []);
});

test("a version before the release is published under the tag next", async (t) => {
  changed(t, () => {
    execFileSync(process.execPath, ["scripts/versions.mjs", "7.0.0-beta.1"], { cwd: checkout });
    writeFileSync(join(checkout, "CHANGELOG.md"), "# Changelog\n\n## 7.0.0-beta.1 - 2026-11-23\n");
    commit();
  });
  await recordRuns();
  const registry = await startRegistry(t);
  const publication = await publish(registry);
  assert.equal(publication.status, 0, publication.output);
  assert.deepEqual(new Set(registry.tags), new Set(["next"]));
});

for (const [name, change, reason] of [
  [
    "a tarball that was changed",
    () => append(`../out/frazil-${version}.tgz`, "x"),
    /frazil-.*\.tgz has the integrity sha512-.*: the report has sha512-/,
  ],
  [
    "a tarball that is missing",
    () => rmSync(join(out, `${manifest.name}-${version}.tgz`)),
    /\.tgz is missing, which the report has/,
  ],
  [
    "a tarball that is not in the report",
    () => writeFileSync(join(out, "other-1.0.0.tgz"), ""),
    /other-1\.0\.0\.tgz in .* is not in the report/,
  ],
  [
    "a report without a carrier",
    () => {
      editJson(join(out, "release.json"), (content) => {
        content.packages = content.packages.filter(({ name }) => name !== manifest.name);
      });
      rmSync(join(out, `${manifest.name}-${version}.tgz`));
    },
    new RegExp(`frazil depends on ${manifest.name} ${version}, which .* does not have`),
  ],
  [
    "a report that leaves out a platform, so that no run would be asked for",
    () =>
      editJson(join(out, "release.json"), (content) => {
        delete content.packages.find(({ name }) => name === manifest.name).platform;
      }),
    new RegExp(`${manifest.name} is of the platform ${folder}: the report has none`),
  ],
  [
    "a carrier that says it is of another platform, which has run",
    () =>
      editJson(join(out, "release.json"), (content) => {
        content.packages.find(({ name }) => name === manifest.name).platform = "linux-x64-gnu";
      }),
    new RegExp(`${manifest.name} is of the platform ${folder}: the report has linux-x64-gnu`),
  ],
  [
    "a report and a record of a content that the tarball does not have",
    () => {
      const other = "0".repeat(64);
      editJson(join(out, "release.json"), (content) => {
        content.packages.find(({ name }) => name === manifest.name).content = other;
      });
      editJson(record, (content) => {
        content[folder].contents[manifest.name] = other;
      });
    },
    new RegExp(`${manifest.name}-.*\\.tgz has the content [0-9a-f]{64}: the report has 0{64}`),
  ],
  [
    "tarballs of another commit",
    () => {
      append("README.md", "changed\n");
      commit();
    },
    /out was packed from [0-9a-f]{40}: this checkout is [0-9a-f]{40}\. Pack again/,
  ],
  ["no report", () => rmSync(join(out, "release.json")), /has no release\.json: npm run release -- --dry-run/],
]) {
  test(`the publication refuses ${name}`, async (t) => {
    changed(t, change);
    const registry = await startRegistry(t);
    const { status, output } = await publish(registry);
    assert.equal(status, 1);
    assert.match(output, reason);
    assert.deepEqual(registry.requests, []);
  });
}

test("records are joined, and tarballs that were packed without one are published only with it", async (t) => {
  changed(t, () => {
    writeFileSync(record, "{}");
    commit();
  });
  const { status, output } = await dryRun("--without-runs");
  assert.equal(status, 0, output);
  const registry = await startRegistry(t);
  const without = await publish(registry);
  assert.equal(without.status, 1);
  assert.match(without.output, /not every platform has run/);
  assert.deepEqual(registry.requests, []);
  const records = runsOf(report()).flatMap((run) => {
    const folder = join(scratch, "records", Object.keys(run)[0]);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "platforms.json"), JSON.stringify(run));
    return ["--record", join(folder, "platforms.json")];
  });
  const joined = await publish(registry, ...records);
  assert.equal(joined.status, 0, joined.output);
  assert.deepEqual(registry.published, inOrder);
  // The folder of all of them, as a workflow downloads them, with records of something else.
  writeFileSync(join(scratch, "records", "local-platforms.json"), '{ "runs": {} }');
  const again = await startRegistry(t);
  const folder = await publish(again, "--record", join(scratch, "records"));
  assert.equal(folder.status, 0, folder.output);
  assert.deepEqual(again.published, inOrder);
});

test("provenance needs the address of the repository, and a workflow", async (t) => {
  const registry = await startRegistry(t);
  const without = await release("--packed", out, "--registry", registry.url);
  assert.equal(without.status, 1);
  assert.match(without.output, /repository in package\.json is not set/);
  changed(t, () => {
    editJson(join(checkout, "package.json"), (content) => {
      Object.assign(content, { repository: "https://github.com/example/frazil", author: "somebody" });
    });
  });
  const { host } = new URL(registry.url);
  writeFileSync(join(scratch, "npmrc"), `//${host}/:_authToken=test\n`);
  const outside = await release("--packed", out, "--registry", registry.url);
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
  const publishing = () => run("scripts/publish-crates.mjs", "--dry-run", "--index", url);
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
  const { status, output } = await run("scripts/reserve.mjs", folder);
  assert.equal(status, 0, output);
  for (const { manifest } of [...carriers, { manifest: { name: "frazil" } }]) {
    const [packed] = JSON.parse(
      execFileSync("npm", ["pack", "--json", "--dry-run"], {
        cwd: join(folder, "npm", manifest.name),
        encoding: "utf8",
      }),
    );
    assert.equal(packed.id, `${manifest.name}@0.0.0`);
    assert.ok(output.includes(`npm deprecate ${packed.id} `));
  }
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
