// Publishes the tarballs of a dry run: exactly those, the platform packages first. It never packs.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { readJson } from "../packages.mjs";
import { ask } from "../shell.mjs";
import { contentOf } from "./content.mjs";
import {
  problemsOfFolder,
  problemsOfProvenance,
  problemsOfPublished,
  problemsOfTarballs,
  publishedIn,
  tagOf,
} from "./problems.mjs";
import { repositorySetting } from "./repository.mjs";

export const NPM = "https://registry.npmjs.org/";

/** How long a platform package may take to appear after it was published: npm says that it can take minutes. */
const VISIBLE_WITHIN_MS = 5 * 60_000;

/** Runs npm. Resolves to its exit code and what it printed. */
const npm = (args) =>
  new Promise((resolve, reject) => {
    execFile("npm", args, { encoding: "utf8" }, (error, stdout, stderr) => {
      if (error && typeof error.code !== "number")
        reject(new Error(`npm could not be run: ${error.message}`, { cause: error }));
      else resolve({ status: error?.code ?? 0, stdout, stderr });
    });
  });

/** The integrity under which a version is published, or `undefined` if it is not. */
async function published({ name, version }, registry) {
  // From the registry itself, and not from the cache of npm.
  const asked = ["view", `${name}@${version}`, "dist.integrity", "--json", "--prefer-online", "--registry", registry];
  return publishedIn(await npm(asked), { name, version, registry });
}

/** Throws if there are reasons not to publish. */
function refuseFor(problems) {
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

/** The report of a dry run of the commit `head`, after comparing it with the tarballs beside it. */
function readPacked(folder, head) {
  const file = join(folder, "release.json");
  const report = existsSync(file) ? readJson(file) : undefined;
  const names = report === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const files = names.map((name) => {
    const hash = createHash("sha512").update(readFileSync(join(folder, name)));
    return { name, integrity: `sha512-${hash.digest("base64")}` };
  });
  refuseFor(problemsOfFolder({ folder, report, head, files }));
  // The tarballs are read only once they are known to be those of the report.
  const tarballs = report.packages.map((reported) => {
    const path = join(folder, reported.file);
    const manifest = JSON.parse(ask("tar", ["-xzOf", path, "package/package.json"]) ?? "{}");
    return { reported, manifest, content: contentOf(path) };
  });
  refuseFor(problemsOfTarballs({ folder, tarballs }));
  return report;
}

/** Waits until every platform package can be installed: from then on an installation of frazil finds its addon. */
async function allVisible(platformPackages, registry) {
  const end = Date.now() + VISIBLE_WITHIN_MS;
  const visible = async (each) => {
    while ((await published(each, registry)) !== each.integrity) {
      if (Date.now() > end)
        throw new Error(
          `${each.name} ${each.version} was published, and ${registry} does not show it yet: repeat the command`,
        );
      await setTimeout(2000);
    }
  };
  await Promise.all(platformPackages.map(visible));
}

/**
 * Publishes the tarballs in a folder. `problemsOfRuns`: returns the platform packages that have not run. A version that is published with
 * the same content is skipped; with another content, nothing is published at all.
 */
export async function publish({ folder, head, problemsOfRuns, registry, provenance }) {
  const { packages, version } = readPacked(folder, head);
  const problems = problemsOfRuns(packages);
  if (problems.length > 0) throw new Error(`not every platform has run:\n${problems.join("\n")}`);
  refuseFor(problemsOfProvenance({ provenance, repository: repositorySetting() }));
  const state = new Map(await Promise.all(packages.map(async (each) => [each, await published(each, registry)])));
  refuseFor(problemsOfPublished([...state].map(([each, there]) => ({ ...each, published: there }))));
  const tag = tagOf(version);
  const platformPackages = packages.filter(({ name }) => name !== "frazil");
  const publishOne = async (each) => {
    const { name, version, file } = each;
    if (state.get(each) !== undefined) {
      process.stdout.write(`${name} ${version}: published before\n`);
      return;
    }
    const options = [
      "--access",
      "public",
      "--tag",
      tag,
      "--registry",
      registry,
      ...(provenance ? ["--provenance"] : []),
    ];
    const { status, stdout, stderr } = await npm(["publish", join(folder, file), "--ignore-scripts", ...options]);
    if (status !== 0)
      throw new Error(`${name} ${version} was not published; the same command continues here:\n${stdout}${stderr}`);
    process.stdout.write(`${name} ${version}: published\n`);
  };
  for (const each of platformPackages) await publishOne(each);
  await allVisible(platformPackages, registry);
  await publishOne(packages.find(({ name }) => name === "frazil"));
}
