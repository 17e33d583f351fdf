// `npm run test:platform -- NAME [--packed FOLDER]`: installs the tarballs of frazil and of one platform package in an empty folder, and
// runs the addon there in a runtime of that platform (runtimes.mjs), which it installs where that is not the Node that runs
// this. The tarballs are those of a dry run in FOLDER, or are packed from what is built here. The result is put on record
// (record.mjs).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { contentOf } from "../release/content.mjs";
import { installPackages, setUp } from "../setup.mjs";
import { ask, npm, root, run, step } from "../shell.mjs";
import { PLATFORMS, platformNamed } from "./index.mjs";
import { addonOf, inspectPlatformPackages } from "./inspect.mjs";
import { recordRun } from "./record.mjs";
import { runtimeOf } from "./runtimes.mjs";

/** A check that takes longer counts as hanging. An emulated system is many times slower. */
const HANG_MS = 600_000;

const { positionals, values } = parseArgs({ allowPositionals: true, options: { packed: { type: "string" } } });
if (positionals.length !== 1) throw new Error("usage: npm run test:platform -- NAME [--packed FOLDER]");
const platform = platformNamed(positionals[0]);

// The packed files run as they are: no compiler is needed for it.
await (values.packed === undefined ? setUp() : installPackages(root, "installing npm packages"));
const runtime = await runtimeOf(platform);

const folder = mkdtempSync(join(tmpdir(), "frazil-platform-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** The tarballs of frazil and of the platform package, by the names of the packages. */
function tarballs() {
  if (values.packed !== undefined) {
    const { packages } = JSON.parse(readFileSync(join(values.packed, "release.json"), "utf8"));
    return Object.fromEntries(
      ["frazil", platform.package].map((name) => {
        const packed = packages.find((each) => each.name === name);
        assert.ok(packed, `${values.packed} has no ${name}`);
        return [name, resolve(values.packed, packed.file)];
      }),
    );
  }
  const packages = ["frazil", platform.name].map((name) => join(root, "npm", name));
  const options = { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  const pack = [...npm.slice(1), "pack", "--json", "--pack-destination", folder, ...packages];
  const { status, stdout } = spawnSync(npm[0], pack, options);
  assert.equal(status, 0, "npm pack failed");
  return Object.fromEntries(JSON.parse(stdout).map(({ name, filename }) => [name, join(folder, filename)]));
}

/** Installs tarballs without a registry, as npm would on that platform. */
function install({ frazil, [platform.package]: platformPackage }) {
  const manifest = { private: true, type: "module", dependencies: { frazil: `file:${frazil}` } };
  manifest.optionalDependencies = { [platform.package]: `file:${platformPackage}` };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const { os, cpu, libc } = platform;
  const system = [`--os=${os}`, `--cpu=${cpu}`, ...(libc ? [`--libc=${libc}`] : [])];
  const quietly = ["--offline", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"];
  run("npm", ["install", ...quietly, ...system], { cwd: folder });
  const installed = PLATFORMS.filter((each) => existsSync(join(folder, "node_modules", each.package)));
  assert.deepEqual(
    installed.map(({ name }) => name),
    [platform.name],
    "exactly the platform package of the platform is installed",
  );
}

/** Puts what was packed where the tests of `local()` from JavaScript find frazil. */
function unpack(packed) {
  for (const [name, folder] of [
    ["frazil", "frazil"],
    [platform.package, platform.name],
  ]) {
    const input = readFileSync(packed[name]);
    const unpacked = ask("tar", ["-xzf", "-", "--strip-components=1"], { cwd: join(root, "npm", folder), input });
    assert.notEqual(unpacked, undefined, `${packed[name]} could not be unpacked`);
  }
}

/** Runs a check in the runtime of the platform, and returns its answer. */
function check(name, argument) {
  const file = join(folder, `${name}.json`);
  const log = join(folder, `${name}.log`);
  const output = openSync(log, "w");
  const [program, ...before] = runtime.command;
  const { FRAZIL_BACKEND: _, NODE_OPTIONS: __, ...inherited } = process.env;
  const env = { ...inherited, ...runtime.env };
  const options = { cwd: folder, env, stdio: ["ignore", output, output], timeout: HANG_MS };
  const { status, signal } = spawnSync(program, [...before, "main.mjs", name, file, argument], options);
  if (!existsSync(file)) throw new Error(`${name} ended with ${signal ?? status}:\n${readFileSync(log, "utf8")}`);
  const { result, error, version, bun } = JSON.parse(readFileSync(file, "utf8"));
  if (error !== undefined) throw new Error(`${name}: ${error}`);
  return { result, runtime: bun ? `Bun ${bun}` : `Node ${version.slice(1)}` };
}

const packed = tarballs();
// A dry run has inspected what it packed.
if (values.packed === undefined) await step("inspecting the addon", () => inspectPlatformPackages([platform]));
else unpack(packed);
await step("installing the tarballs", () => install(packed));
// A package of npm, which `setUp` installs.
const { build: bundle } = await import("esbuild");
await bundle({
  entryPoints: [`${root}tests-js/runtimes/platforms/main.mjs`],
  outfile: join(folder, "main.mjs"),
  bundle: true,
  format: "esm",
  platform: "node",
  external: ["frazil", "frazil/*"],
});

const sha256 = createHash("sha256")
  .update(readFileSync(addonOf(platform)))
  .digest("hex");
// State files are proven by other tests (`npm run test:local-platform`): only then may one be opened without an option.
const { runs: stateFiles } = JSON.parse(readFileSync(`${root}docs/proofs/local-platforms.json`, "utf8"));
const isProven = stateFiles[platform.name]?.emulator === null;

const passed = {};
/** Which the checks say themselves. */
let ranIn;
const CHECKS = {
  vectors(result) {
    assert.equal(result.minting.backend, "native");
    const cases = Object.values(result.vectors).reduce((sum, count) => sum + count, 0);
    assert.ok(cases > 1000, `${cases} cases`);
    return `${cases} cases of the vectors; minting in every way, also from a state file`;
  },
  local(answer) {
    assert.equal(answer, isProven ? "opened" : "UNPROVEN_PLATFORM");
    return isProven ? "`local()` needs no option" : "`local()` is `UNPROVEN_PLATFORM` without the option";
  },
  threads({ shared, unshared }) {
    assert.deepEqual(shared, { issued: 80_000, repeats: 0 });
    assert.deepEqual(unshared, { issued: 2000, repeats: 1000 }, "the checker must catch generators that share nothing");
    return "80,000 IDs of four threads with one node id, no repeat";
  },
  survival({ shared, unshared }) {
    assert.deepEqual(shared, { issued: 500, repeats: 0 });
    assert.deepEqual(unshared, { issued: 500, repeats: 400 }, "the checker must catch states that end with a thread");
    return "500 IDs of five threads in turn at one clock time, no repeat";
  },
  copies({ second, same }) {
    assert.deepEqual({ second, same }, { second: "STATE_CONFLICT", same: 1 });
    return "a second copy of the addon refused";
  },
};
const ARGUMENTS = { vectors: join(folder, "state"), local: join(folder, "unaccepted"), copies: platform.package };
const failures = [];
for (const [name, judge] of Object.entries(CHECKS)) {
  await step(`${platform.name}: ${name}`, () => {
    const answer = check(name, ARGUMENTS[name] ?? "");
    ranIn = answer.runtime;
    passed[name] = judge(answer.result);
  }).catch((error) => failures.push(`${name}: ${error.message}`));
}

// What the tests of `local()` ask of the package on every system. They start their own processes, by the Node that runs this.
if (runtime.standIn === null) {
  await step(`${platform.name}: state files, from JavaScript`, () => {
    const env = { ...process.env, FRAZIL_BACKEND: "native" };
    run(
      process.execPath,
      ["--test", `--test-reporter=${root}scripts/test/reporter.mjs`, "tests-js/local/portable.test.mjs"],
      {
        cwd: root,
        env,
      },
    );
    passed.portable = "the tests of `local()` from JavaScript";
  }).catch((error) => failures.push(`portable: ${error.message}`));
}

/** A command as it goes on record: without the folders of this machine. */
function shown(parts) {
  const { execPath } = process;
  return parts.map((part) => part.replaceAll(root, "").replaceAll(execPath, "node")).join(" ");
}

// Failures are on record too: a reader must not take a platform for proven because an older record says so.
recordRun(platform.name, {
  date: new Date().toISOString().slice(0, 10),
  version: JSON.parse(readFileSync(`${root}npm/frazil/package.json`, "utf8")).version,
  runtime: ranIn ?? "none: no check ended",
  standIn: runtime.standIn,
  command: shown([
    ...Object.entries(runtime.env).map(([name, value]) => `${name}=${value}`),
    ...runtime.command,
    "main.mjs CHECK FILE",
  ]),
  sha256,
  contents: Object.fromEntries(Object.entries(packed).map(([name, tarball]) => [name, contentOf(tarball)])),
  passed,
  failed: failures.map((failure) => failure.split("\n")[0]),
});
if (failures.length > 0) throw new Error(`${platform.name} failed:\n${failures.join("\n")}`);
