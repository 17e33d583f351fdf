// A copy of this checkout that is released, with its own commit and records of runs. It ends with the file of tests.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { packages } from "../../scripts/packages.mjs";
import { editJson } from "./checkout.mjs";
import { root } from "./tarballs.mjs";

export const scratch = mkdtempSync(join(tmpdir(), "frazil-release-"));
export const checkout = join(scratch, "checkout");
export const out = join(scratch, "out");

/** A version before the release: it is published under the tag `next`, which npm does not give to one by itself. */
export const version = "7.0.0-beta.1";

export const platformPackages = packages().filter(({ isPlatform }) => isPlatform);
export const addonOf = (folder) => join(checkout, "npm", folder, "frazil.node");

/** What the build of the copy makes of `npm`. */
export const built = join(scratch, "built");

/** The record of the checkout, where no platform has run. */
export const record = join(checkout, "docs/proofs/platforms.json");

/** A folder with a record for each platform, where each has run what was packed. */
export const records = join(scratch, "records");

export const git = (...args) =>
  execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.org", ...args], {
    cwd: checkout,
    encoding: "utf8",
  });

export const commit = () => git("commit", "-qam", "test");

/** Runs a script in the copy, as npm does. Whatever is not on this machine cannot be reached. */
export const run = (script, ...args) =>
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

export const release = (...args) => run("scripts/release/main.mjs", ...args);

/** Packs the copy without building anything. */
export const dryRun = (...args) => release("--dry-run", "--built", "--out", out, ...args);

export const report = () => JSON.parse(readFileSync(join(out, "release.json"), "utf8"));

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
  for (const { folder } of platformPackages)
    if (!existsSync(addonOf(folder))) writeFileSync(addonOf(folder), `no addon, for ${folder}`);
  writeFileSync(
    join(checkout, "scripts/release/platform-packages.mjs"),
    'import { readFileSync } from "node:fs";\n' +
      'import { cpSync } from "node:fs";\n' +
      `export const buildPlatformPackages = () => cpSync(${JSON.stringify(built)}, "npm", { recursive: true });\n` +
      "export function inspectPlatformPackage({ path }) {\n" +
      '  if (readFileSync(path + "/frazil.node").subarray(0, 6).toString() === "broken") throw new Error("it needs glibc 2.99");\n' +
      "}\n",
  );
  writeFileSync(join(checkout, "unproven.json"), "[]");
  writeFileSync(
    join(checkout, "scripts/test/unproven.mjs"),
    'import { readFileSync } from "node:fs";\n' +
      'export const unprovenSuites = () => JSON.parse(readFileSync("unproven.json", "utf8"));\n',
  );
  // No address of a repository, whether or not this checkout has one.
  editJson(join(checkout, "package.json"), (content) => {
    delete content.repository;
    delete content.author;
  });
  execFileSync(process.execPath, ["scripts/release/repository.mjs", "--write"], { cwd: checkout });
  execFileSync(process.execPath, ["scripts/release/versions.mjs", version], { cwd: checkout });
  // What belongs to a release: a heading. The runs are put on record after packing, as a workflow does it.
  writeFileSync(
    join(checkout, "CHANGELOG.md"),
    `# Changelog\n\n## Unreleased\n\n## ${version} - 2026-11-23\n\n* All.\n`,
  );
  writeFileSync(record, "{}");
  cpSync(join(checkout, "npm"), built, { recursive: true });
  git("init", "-q");
  git("add", "-A");
  commit();
  const { status, output } = await dryRun("--without-runs");
  assert.equal(status, 0, output);
  for (const run of runsOf(report())) {
    const folder = join(records, Object.keys(run)[0]);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "platforms.json"), JSON.stringify(run));
  }
  writeFileSync(join(records, "local-platforms.json"), '{ "runs": {} }');
});

after(() => rmSync(scratch, { recursive: true }));

/** For each platform of a report, a record of a run of what was packed. */
export function runsOf({ packages: packed }) {
  const { content: ofFrazil } = packed.find(({ name }) => name === "frazil");
  return packed
    .filter(({ platform }) => platform !== undefined)
    .map(({ platform, name, version, content }) => ({
      [platform]: { version, contents: { frazil: ofFrazil, [name]: content }, standIn: null, failed: [] },
    }));
}

export const authorize = ({ url }) =>
  writeFileSync(join(scratch, "npmrc"), `//${new URL(url).host}/:_authToken=test\n`);

/** Publishes what was packed to a registry. */
export function publish(registry, ...args) {
  authorize(registry);
  return release("--packed", out, "--registry", registry.url, "--no-provenance", ...args);
}

/** Changes the copy for a test. Afterwards it is as it was, and packed as it was. */
export function changed(t, change) {
  const packed = join(scratch, "packed-before");
  cpSync(out, packed, { recursive: true });
  const addons = platformPackages.map(({ folder }) => [addonOf(folder), readFileSync(addonOf(folder))]);
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

export const [{ folder, manifest }] = platformPackages;
