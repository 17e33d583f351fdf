// Publishes the tarballs of a dry run: exactly those, the carriers first. It never packs.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { contentOf } from "./package-content.mjs";
import { readJson } from "./packages.mjs";
import { PLATFORMS } from "./platforms.mjs";
import { repositorySetting } from "./repository.mjs";
import { ask } from "./shell.mjs";

export const NPM = "https://registry.npmjs.org/";

/** How long a carrier may take to appear after it was published: npm says that it can take minutes. */
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
  const { status, stdout, stderr } = await npm(asked);
  const answer = stdout.trim() === "" ? undefined : JSON.parse(stdout);
  if (status === 0) return answer;
  if (answer?.error?.code === "E404") return undefined;
  throw new Error(`${registry} does not say whether ${name} ${version} is published:\n${stdout}${stderr}`);
}

/** The report of a dry run of the commit `head`, after comparing it with the tarballs beside it. */
function readPacked(folder, head) {
  const file = join(folder, "release.json");
  if (!existsSync(file)) throw new Error(`${folder} has no release.json: npm run release -- --dry-run --out ${folder}`);
  const report = readJson(file);
  if (report.problems.length > 0)
    throw new Error(`the dry run found reasons not to release:\n${report.problems.join("\n")}`);
  if (report.commit !== head)
    throw new Error(
      `${folder} was packed from ${report.commit}: this checkout is ${head}. Pack again, or check that commit out`,
    );
  const tarballs = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const unknown = tarballs.filter((name) => !report.packages.some((each) => each.file === name));
  if (unknown.length > 0) throw new Error(`${unknown.join(", ")} in ${folder} is not in the report`);
  for (const { file, name, version, integrity, platform, content } of report.packages) {
    const path = join(folder, file);
    if (!existsSync(path)) throw new Error(`${path} is missing, which the report has`);
    const actual = `sha512-${createHash("sha512").update(readFileSync(path)).digest("base64")}`;
    if (actual !== integrity) throw new Error(`${path} has the integrity ${actual}: the report has ${integrity}`);
    const manifest = JSON.parse(ask("tar", ["-xzOf", path, "package/package.json"]) ?? "{}");
    if (manifest.name !== name || manifest.version !== version)
      throw new Error(`${path} contains ${manifest.name} ${manifest.version}: the report has ${name} ${version}`);
    // What the record of runs is asked for.
    const expected = name === "frazil" ? undefined : PLATFORMS.find((each) => each.package === name)?.name;
    if (platform !== expected || (name !== "frazil" && expected === undefined))
      throw new Error(`${name} is of the platform ${expected ?? "none"}: the report has ${platform ?? "none"}`);
    const contained = contentOf(path);
    if (contained !== content) throw new Error(`${path} has the content ${contained}: the report has ${content}`);
  }
  const [frazil] = report.packages.filter(({ name }) => name === "frazil");
  if (frazil === undefined) throw new Error(`the report of ${folder} has no package frazil`);
  const wanted = JSON.parse(ask("tar", ["-xzOf", join(folder, frazil.file), "package/package.json"]));
  const missing = Object.entries(wanted.optionalDependencies)
    .filter(([wants, version]) => !report.packages.some((each) => each.name === wants && each.version === version))
    .map(([name, version]) => `${name} ${version}`);
  if (missing.length > 0) throw new Error(`frazil depends on ${missing.join(", ")}, which ${folder} does not have`);
  return report;
}

/** Waits until every carrier can be installed: from then on an installation of frazil finds its addon. */
async function allVisible(carriers, registry) {
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
  await Promise.all(carriers.map(visible));
}

/**
 * Publishes the tarballs in a folder. `problemsOfRuns`: returns the carriers that have not run. A version that is published with the same
 * content is skipped; with another content, nothing is published at all.
 */
export async function publish({ folder, head, problemsOfRuns, registry, provenance }) {
  const { packages, version } = readPacked(folder, head);
  const problems = problemsOfRuns(packages);
  if (problems.length > 0) throw new Error(`not every platform has run:\n${problems.join("\n")}`);
  if (provenance && repositorySetting() === undefined)
    throw new Error("repository in package.json is not set: npm compares it with the workflow, for provenance");
  const state = new Map(await Promise.all(packages.map(async (each) => [each, await published(each, registry)])));
  for (const [{ name, version, integrity }, there] of state)
    if (there !== undefined && there !== integrity)
      throw new Error(
        `${name} ${version} is published with the integrity ${there}, and is ${integrity} here: must be another version`,
      );
  // `latest` is what people install without a version.
  const tag = version.includes("-") ? "next" : "latest";
  const carriers = packages.filter(({ name }) => name !== "frazil");
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
  for (const each of carriers) await publishOne(each);
  await allVisible(carriers, registry);
  await publishOne(packages.find(({ name }) => name === "frazil"));
}
