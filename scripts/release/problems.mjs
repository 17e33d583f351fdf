// Why a release is refused, as functions of facts: plain objects, which `main.mjs` and `publish.mjs` gather. Each `problemsOf…` returns
// the reasons as sentences, and an empty list if there is none. The others read facts from what programs have written.
import { PLATFORMS } from "../platforms/index.mjs";

/**
 * Reasons why a checkout cannot be released, besides those of the platform packages. The facts:
 *
 * - `hiddenFiles`: the files whose changes git overlooks;
 * - `status`: the output of `git status`, which is empty if everything is committed;
 * - `versionErrors`, `repositoryErrors`: what `versions.mjs` and `repository.mjs` say against the checkout;
 * - `staleManifests`: the manifests that do not follow the repository;
 * - `unprovenSuites`: the suites that have not passed with what they read in this checkout;
 * - `version`, and the text of the `changelog`, which must have a heading of it.
 */
export function problemsOfCheckout(facts) {
  const { hiddenFiles, status, versionErrors, staleManifests, repositoryErrors, unprovenSuites, version, changelog } =
    facts;
  const problems = [];
  if (hiddenFiles.length > 0)
    problems.push(
      `git is told to overlook changes of: ${hiddenFiles.join(", ")} (git update-index --no-assume-unchanged --no-skip-worktree)`,
    );
  if (status !== "") problems.push(`the checkout has changes that are not committed:\n${status}`);
  problems.push(...versionErrors, ...repositoryErrors);
  for (const path of staleManifests)
    problems.push(`${path} does not follow the repository: npm run repository -- --write`);
  if (unprovenSuites.length > 0)
    problems.push(
      `docs/proofs/passed.json has no pass of this checkout of: ${unprovenSuites.join(", ")} (npm run test:all, npm run test:long)`,
    );
  const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  const dated = new RegExp(`^\\[?${version.replaceAll(".", "\\.")}\\]? - \\d{4}-\\d\\d-\\d\\d$`);
  if (!headings.some((heading) => dated.test(heading)))
    problems.push(`CHANGELOG.md has no heading of ${version}: must have "## ${version} - YYYY-MM-DD"`);
  return problems;
}

/**
 * Reasons why the platform package in a folder of `npm/` cannot be released: whether it has an addon, and what its inspection says
 * against it.
 */
export function problemsOfPlatformPackage({ folder, hasAddon, inspectionErrors }) {
  if (!hasAddon) return [`npm/${folder} has no frazil.node: npm run build:platforms builds every platform package`];
  return inspectionErrors.map((reason) => `npm/${folder} fails inspection: ${reason}`);
}

/**
 * The runs in the content of a file of records. By the name of each platform it has `{ version, contents, standIn, failed }`: the contents
 * of frazil and of the platform package (content.mjs), `standIn` is `null` for a run on the system itself, and `failed` names the
 * tests that failed. Throws if it has something else.
 */
export function runsIn(file, record) {
  return Object.entries(record).map(([platform, run]) => {
    if (typeof run?.contents !== "object" || run.standIn === undefined || !Array.isArray(run.failed))
      throw new Error(`${file}: ${platform} is no record of a run: must have { version, contents, standIn, failed }`);
    return { platform, ...run };
  });
}

/** Why a run does not count for a release, whatever ran. */
function flawOf({ standIn, failed }) {
  if (failed.length > 0) return `, where ${failed.join(", ")} failed`;
  return standIn === null ? "" : `, where ${standIn} stood in for the system`;
}

/**
 * Reasons why runs do not cover packed platform packages: what ran must be what is published. `packed`: `{ name, version, content,
 * platform }` of each package; `files`: where the runs are on record, for the sentence.
 */
export function problemsOfRuns({ packed, runs, files }) {
  const frazil = packed.find(({ name }) => name === "frazil");
  return packed
    .filter((each) => each !== frazil)
    .flatMap((platformPackage) => {
      const { platform, version } = platformPackage;
      const its = runs.filter((run) => run.platform === platform);
      const others = its.map((run) => {
        const other = [frazil, platformPackage].filter(({ name, content }) => run.contents[name] !== content);
        const contents = other.map(({ name }) => `, with another content of ${name}`).join("");
        return `${run.version === version ? "" : ` of ${run.version}`}${contents}${flawOf(run)}`;
      });
      if (others.includes("")) return [];
      const found = others.length === 0 ? "no run of it" : others.map((reason) => `a run${reason}`).join("; ");
      return [
        `${platform} ${version} has not run as it is packed: the record (${files.join(", ")}) has ${found} (npm run test:platform -- ${platform} --packed FOLDER on that system, and --record PATH of what it writes)`,
      ];
    });
}

/**
 * Reasons why a folder is not what its dry run has packed: `report` (`undefined` if there is none), the commit `head` of this checkout,
 * and the tarballs in the folder: `files`, each `{ name, integrity }`.
 */
export function problemsOfFolder({ folder, report, head, files }) {
  if (report === undefined) return [`${folder} has no release.json: npm run release -- --dry-run --out ${folder}`];
  const { problems: found, commit, packages } = report;
  if (found.length > 0) return [`the dry run found reasons not to release:\n${found.join("\n")}`];
  const problems = [];
  if (commit !== head)
    problems.push(
      `${folder} was packed from ${commit}: this checkout is ${head}. Pack again, or check that commit out`,
    );
  const unknown = files.filter(({ name }) => !packages.some(({ file }) => file === name));
  if (unknown.length > 0)
    problems.push(`${unknown.map(({ name }) => name).join(", ")} in ${folder} is not in the report`);
  for (const { file, integrity } of packages) {
    const actual = files.find(({ name }) => name === file);
    if (actual === undefined) problems.push(`${folder}/${file} is missing, which the report has`);
    else if (actual.integrity !== integrity)
      problems.push(`${folder}/${file} has the integrity ${actual.integrity}: the report has ${integrity}`);
  }
  return problems;
}

/**
 * Reasons why tarballs do not contain what the report says. `tarballs`: of each package of the report, `reported` (what the report says
 * about it), and the `manifest` and the `content` that its tarball has.
 */
export function problemsOfTarballs({ folder, tarballs }) {
  const problems = [];
  for (const { reported, manifest, content } of tarballs) {
    const { file, name, version, platform } = reported;
    const path = `${folder}/${file}`;
    if (manifest.name !== name || manifest.version !== version)
      problems.push(`${path} contains ${manifest.name} ${manifest.version}: the report has ${name} ${version}`);
    // What the record of runs is asked for.
    const expected = PLATFORMS.find((each) => each.package === name)?.name;
    if (platform !== expected || (name !== "frazil" && expected === undefined))
      problems.push(`${name} is of the platform ${expected ?? "none"}: the report has ${platform ?? "none"}`);
    if (content !== reported.content)
      problems.push(`${path} has the content ${content}: the report has ${reported.content}`);
  }
  const frazil = tarballs.find(({ reported }) => reported.name === "frazil");
  if (frazil === undefined) return [...problems, `the report of ${folder} has no package frazil`];
  const missing = Object.entries(frazil.manifest.optionalDependencies)
    .filter(([name, version]) => !tarballs.some(({ reported: it }) => it.name === name && it.version === version))
    .map(([name, version]) => `${name} ${version}`);
  if (missing.length > 0) problems.push(`frazil depends on ${missing.join(", ")}, which ${folder} does not have`);
  return problems;
}

/** Reasons why packages cannot be published beside what is `published`, the integrity of that version, or `undefined`. */
export const problemsOfPublished = (packages) =>
  packages
    .filter(({ integrity, published }) => published !== undefined && published !== integrity)
    .map(
      ({ name, version, integrity, published }) =>
        `${name} ${version} is published with the integrity ${published}, and is ${integrity} here: must be another version`,
    );

/** Reasons against statements of where the tarballs were built, if they are asked for. `repository`: the setting, or `undefined`. */
export const problemsOfProvenance = ({ provenance, repository }) =>
  provenance && repository === undefined
    ? ["repository in package.json is not set: npm compares it with the workflow, for provenance"]
    : [];

/**
 * The integrity under which a version is published, or `undefined` if it is not, by what `npm view` answers. Throws if the answer says
 * neither: a registry that cannot be reached lacks no package.
 */
export function publishedIn({ status, stdout, stderr }, { name, version, registry }) {
  const answer = stdout.trim() === "" ? undefined : JSON.parse(stdout);
  if (status === 0) return answer;
  if (answer?.error?.code === "E404") return undefined;
  throw new Error(`${registry} does not say whether ${name} ${version} is published:\n${stdout}${stderr}`);
}

/** The tag under which a version is published: `latest` is what people install without a version. */
export const tagOf = (version) => (version.includes("-") ? "next" : "latest");
