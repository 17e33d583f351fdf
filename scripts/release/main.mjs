// Packs a release, and publishes what was packed. docs/internals/releasing.md has the steps. This gathers facts; `problems.mjs` says which
// of them are reasons not to release.
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { packages, readJson } from "../packages.mjs";
import { ask, root, step } from "../shell.mjs";
import { hiddenFilesIn } from "../test/rows.mjs";
import { unprovenSuites } from "../test/unproven.mjs";
import { contentOf } from "./content.mjs";
import { packCrates } from "./crates.mjs";
import { buildPlatformPackages, inspectPlatformPackage } from "./platform-packages.mjs";
import { problemsOfCheckout, problemsOfPlatformPackage } from "./problems.mjs";
import { NPM, publish } from "./publish.mjs";
import { staleManifests } from "./repository.mjs";
import { problemsOfRecords } from "./runs.mjs";
import { versionOf } from "./versions.mjs";

const HELP = `npm run release -- --dry-run [--out FOLDER] [--built] [--record PATH]… [--without-runs]
npm run release -- --packed FOLDER [--record PATH]… [--registry URL] [--no-provenance]

--dry-run          checks this checkout, builds and packs every package into a folder, and prints and writes a report. Publishes nothing.
                   Exit code 1 if there is a reason not to release; the report says which.
--packed FOLDER    publishes the tarballs that a dry run has packed, as they are. What is published already is skipped, so the
                   same command continues after a failure.

--out FOLDER       where the dry run puts tarballs and report (default: .cache/release)
--built            packs what is built already, whatever it was built from. Without it, everything is built anew
--record PATH      the record of the platforms that the addons ran on (default: docs/proofs/platforms.json). Of a folder, every
                   platforms.json in it; more than one is joined
--without-runs     leaves the check of that record to --packed: for tarballs that are tested after they are packed
--registry URL     the registry (default: ${NPM})
--no-provenance    publishes without a statement of where the tarballs were built. npm makes one only in a workflow of GitHub Actions
--help             prints this`;

const sha = (algorithm, bytes, encoding) => createHash(algorithm).update(bytes).digest(encoding);

/** The output of git, with the reason if it fails. */
function git(...args) {
  const output = ask("git", args);
  if (output === undefined) throw new Error(`git ${args.join(" ")} failed in ${root}`);
  return output;
}

/** The reasons that a check returns or throws. */
async function problemsOf(check) {
  try {
    return (await check()) ?? [];
  } catch (error) {
    return [error.message];
  }
}

/** The facts of this checkout for `problemsOfCheckout`. */
async function factsOfCheckout() {
  const manifests = [];
  return {
    hiddenFiles: hiddenFilesIn(git("ls-files", "-v")),
    status: git("status", "--porcelain", "--untracked-files=all"),
    versionErrors: await problemsOf(() => void versionOf()),
    repositoryErrors: await problemsOf(() => void manifests.push(...staleManifests())),
    staleManifests: manifests.map(({ path }) => path.slice(root.length)),
    unprovenSuites: unprovenSuites(),
    // The version of the packages; where the others differ, `versionErrors` says so.
    version: readJson(`${root}npm/frazil/package.json`).version,
    changelog: readFileSync(`${root}CHANGELOG.md`, "utf8"),
  };
}

/** The facts of a platform package for `problemsOfPlatformPackage`. */
async function factsOfPlatformPackage(platformPackage) {
  const hasAddon = existsSync(join(platformPackage.path, "frazil.node"));
  const inspectionErrors = hasAddon ? await problemsOf(() => inspectPlatformPackage(platformPackage)) : [];
  return { folder: platformPackage.folder, hasAddon, inspectionErrors };
}

/** Packs packages into a folder. Returns what the report says about each. */
function packPackages(chosen, folder) {
  const npm = (...options) => {
    const args = ["pack", "--json", "--ignore-scripts", ...options, ...chosen.map(({ path }) => path)];
    const output = ask("npm", args, { maxBuffer: 2 ** 28 });
    if (output === undefined) throw new Error(`npm ${args.join(" ")} failed`);
    return JSON.parse(output);
  };
  // npm keeps the permissions of files, and those of a checkout depend on the umask.
  for (const [at, { files }] of npm("--dry-run").entries())
    for (const { path } of files) chmodSync(join(chosen[at].path, path), 0o644);
  return npm("--pack-destination", folder).map(({ filename, files, unpackedSize }, at) => {
    const { manifest, folder: platform, isPlatform } = chosen[at];
    const bytes = readFileSync(join(folder, filename));
    const { name, version, os, cpu, libc } = manifest;
    return {
      name,
      version,
      file: filename,
      size: bytes.length,
      unpackedSize,
      files: files.length,
      sha256: sha("sha256", bytes, "hex"),
      integrity: `sha512-${sha("sha512", bytes, "base64")}`,
      // Without the compression, which depends on the version of Node and on the processor.
      tarSha256: sha("sha256", gunzipSync(bytes), "hex"),
      // Without the pages: what a record of a run is compared with.
      content: contentOf(join(folder, filename)),
      ...(isPlatform && {
        platform,
        os,
        cpu,
        libc,
      }),
    };
  });
}

/** Packs the crates into a folder. Returns what the report says about each. */
function packCratesInto(folder) {
  return packCrates({ allowDirty: true }).map(({ name, archive }) => {
    const bytes = readFileSync(archive);
    const file = archive.split("/").at(-1);
    writeFileSync(join(folder, file), bytes);
    return { name, file, size: bytes.length, sha256: sha("sha256", bytes, "hex") };
  });
}

const table = (rows) => rows.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
const kB = (bytes) => `${(bytes / 1024).toFixed(1)} kB`;

/** The report as a page. */
function page({ version, commit, tools, problems, packages, crates }) {
  const list = problems.map((problem) => `* ${problem.replaceAll("\n", "\n  ")}\n`).join("");
  return (
    `# Release ${version}\n\nCommit ${commit}, packed with ${tools.join(", ")}.\n\n` +
    `${problems.length === 0 ? "No reason not to release was found.\n" : `**Not to be released:**\n\n${list}`}\n` +
    table([
      ["package", "tarball", "unpacked", "files", "sha256", "integrity"],
      ["---", "---:", "---:", "---:", "---", "---"],
      ...packages.map(({ file, size, unpackedSize, files, sha256, integrity }) => [
        `\`${file}\``,
        kB(size),
        kB(unpackedSize),
        files,
        `\`${sha256}\``,
        `\`${integrity}\``,
      ]),
      ...crates.map(({ file, size, sha256 }) => [`\`${file}\``, kB(size), "", "", `\`${sha256}\``, ""]),
    ])
  );
}

async function dryRun({ out, built, record, withRuns }) {
  const problems = problemsOfCheckout(await factsOfCheckout());
  if (!built) {
    // Ignored files there were built from unknown sources, or left by something else.
    git("clean", "-fdXq", "npm");
    buildPlatformPackages();
  }
  const all = packages();
  const chosen = [];
  await step("inspecting the platform packages", async () => {
    for (const each of all) {
      const facts = each.isPlatform ? await factsOfPlatformPackage(each) : undefined;
      if (facts !== undefined) problems.push(...problemsOfPlatformPackage(facts));
      if (facts?.hasAddon !== false) chosen.push(each);
    }
  });
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const packed = await step("packing", () => packPackages(chosen, out));
  const packedCrates = await step("packing the crates", () => packCratesInto(out));
  if (withRuns) problems.push(...(await problemsOf(() => problemsOfRecords(packed, record))));
  const tools = [`Node ${process.versions.node}`, `npm ${ask("npm", ["--version"])}`, ask("rustc", ["--version"])];
  const { version } = readJson(`${root}npm/frazil/package.json`);
  const report = { version, commit: git("rev-parse", "HEAD"), tools, problems, packages: packed, crates: packedCrates };
  writeFileSync(join(out, "release.json"), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(out, "release.md"), page(report));
  process.stdout.write(`\n${page(report)}\nTarballs and report: ${out}\n`);
  if (problems.length > 0) process.exitCode = 1;
}

async function main() {
  const { values } = parseArgs({
    options: {
      "dry-run": { type: "boolean", default: false },
      packed: { type: "string" },
      out: { type: "string" },
      record: { type: "string", multiple: true },
      built: { type: "boolean", default: false },
      "without-runs": { type: "boolean", default: false },
      registry: { type: "string" },
      "no-provenance": { type: "boolean", default: false },
      help: { type: "boolean" },
    },
  });
  if (values.help) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  if (values["dry-run"] === (values.packed !== undefined))
    throw new Error("one of --dry-run and --packed FOLDER is required: npm run release -- --help");
  const only = values["dry-run"] ? ["registry", "no-provenance"] : ["out", "built", "without-runs"];
  for (const name of only)
    if (values[name] !== undefined && values[name] !== false)
      throw new Error(
        `--${name} is not for ${values["dry-run"] ? "--dry-run" : "--packed"}: npm run release -- --help`,
      );
  const record = (values.record ?? [`${root}docs/proofs/platforms.json`]).map((file) => resolve(file));
  if (values["dry-run"]) {
    const out = resolve(values.out ?? `${root}.cache/release`);
    await dryRun({ out, built: values.built, record, withRuns: !values["without-runs"] });
  } else {
    const folder = resolve(values.packed);
    await publish({
      folder,
      head: git("rev-parse", "HEAD"),
      problemsOfRuns: (packed) => problemsOfRecords(packed, record),
      registry: values.registry ?? NPM,
      provenance: !values["no-provenance"],
    });
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
