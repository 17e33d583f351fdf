// Packs a release, and publishes what was packed. docs/releasing.md has the steps.
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { packCrates } from "./crates.mjs";
import { contentOf } from "./package-content.mjs";
import { packages, readJson } from "./packages.mjs";
import { NPM, publish } from "./publish.mjs";
import { buildCarriers, inspectCarrier } from "./released-carriers.mjs";
import { staleManifests } from "./repository.mjs";
import { ask, root, step } from "./shell.mjs";
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

/** Reasons why this checkout cannot be released, besides those of the carriers. */
async function problemsOfCheckout() {
  const changed = git("status", "--porcelain", "--untracked-files=all");
  const problems = [];
  const hidden = git("ls-files", "-v").match(/^([a-z]|S) .*$/gm) ?? [];
  if (hidden.length > 0)
    problems.push(
      `git is told to overlook changes of: ${hidden.map((line) => line.slice(2)).join(", ")} (git update-index --no-assume-unchanged --no-skip-worktree)`,
    );
  if (changed !== "") problems.push(`the checkout has changes that are not committed:\n${changed}`);
  problems.push(...(await problemsOf(() => void versionOf())));
  const stale = await problemsOf(() =>
    staleManifests().map(
      ({ path }) => `${path.slice(root.length)} does not follow the repository: npm run repository -- --write`,
    ),
  );
  problems.push(...stale);
  // The version of the crates; where the others differ, the check above says so.
  const { version } = readJson(`${root}npm/frazil/package.json`);
  const headings = [...readFileSync(`${root}CHANGELOG.md`, "utf8").matchAll(/^## (.*)$/gm)].map(
    ([, heading]) => heading,
  );
  const dated = new RegExp(`^\\[?${version.replaceAll(".", "\\.")}\\]? - \\d{4}-\\d\\d-\\d\\d$`);
  if (!headings.some((heading) => dated.test(heading)))
    problems.push(`CHANGELOG.md has no heading of ${version}: must have "## ${version} - YYYY-MM-DD"`);
  return problems;
}

/** Reasons why a carrier cannot be released. */
async function problemsOfCarrier(carrier) {
  const { folder, path } = carrier;
  if (!existsSync(join(path, "frazil.node")))
    return [`npm/${folder} has no frazil.node: npm run build:platforms builds every carrier`];
  return (await problemsOf(() => inspectCarrier(carrier))).map((reason) => `npm/${folder} fails inspection: ${reason}`);
}

/** The files of a record: itself, or those named platforms.json in a folder, where a workflow has put other records beside them. */
function recordsIn(path) {
  if (!existsSync(path)) throw new Error(`there is no record of runs at ${path}`);
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true })
    .filter((name) => basename(name) === "platforms.json")
    .map((name) => join(path, name));
}

/**
 * Reasons why the record of runs does not cover packed carriers. By the name of each platform it has
 * `{ version, contents, standIn, failed }`: the contents of frazil and of the carrier (package-content.mjs), so what ran is what is
 * published, `standIn` is `null` for a run on the system itself, and `failed` names the tests that failed.
 */
export function problemsOfRuns(packed, files) {
  const runs = files.flatMap(recordsIn).flatMap((file) => {
    const record = readJson(file);
    for (const [name, run] of Object.entries(record))
      if (typeof run?.contents !== "object" || run.standIn === undefined || !Array.isArray(run.failed))
        throw new Error(`${file}: ${name} is no record of a run: must have { version, contents, standIn, failed }`);
    return Object.entries(record).map(([platform, run]) => ({ platform, ...run }));
  });
  /** Why a run does not count for a release, whatever ran. */
  const flaw = ({ standIn, failed }) => {
    if (failed.length > 0) return `, where ${failed.join(", ")} failed`;
    return standIn === null ? "" : `, where ${standIn} stood in for the system`;
  };
  const frazil = packed.find(({ name }) => name === "frazil");
  return packed
    .filter((each) => each !== frazil)
    .flatMap((carrier) => {
      const { platform, version } = carrier;
      const its = runs.filter((run) => run.platform === platform);
      const others = its.map((run) => {
        const other = [frazil, carrier].filter(({ name, content }) => run.contents[name] !== content);
        const contents = other.map(({ name }) => `, with another content of ${name}`).join("");
        return `${run.version === version ? "" : ` of ${run.version}`}${contents}${flaw(run)}`;
      });
      if (others.includes("")) return [];
      const found = others.length === 0 ? "no run of it" : others.map((reason) => `a run${reason}`).join("; ");
      return [
        `${platform} ${version} has not run as it is packed: the record (${files.join(", ")}) has ${found} (npm run test:platform -- ${platform} --packed FOLDER on that system, and --record PATH of what it writes)`,
      ];
    });
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
    const { manifest, folder: platform, isCarrier } = chosen[at];
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
      ...(isCarrier && {
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
  const problems = await problemsOfCheckout();
  if (!built) {
    // What git ignores there was built, from whatever, or was left by something else.
    git("clean", "-fdXq", "npm");
    buildCarriers();
  }
  const all = packages();
  const chosen = [];
  await step("inspecting the carriers", async () => {
    for (const each of all) {
      const reasons = each.isCarrier ? await problemsOfCarrier(each) : [];
      problems.push(...reasons);
      if (!each.isCarrier || existsSync(join(each.path, "frazil.node"))) chosen.push(each);
    }
  });
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const packed = await step("packing", () => packPackages(chosen, out));
  const packedCrates = await step("packing the crates", () => packCratesInto(out));
  if (withRuns) problems.push(...(await problemsOf(() => problemsOfRuns(packed, record))));
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
      problemsOfRuns: (packed) => problemsOfRuns(packed, record),
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
