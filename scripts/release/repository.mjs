// The address of the repository, the author, and the fields of manifests that follow from them. The one setting is in the
// package.json of the root:
//
//   "repository": "https://github.com/OWNER/NAME",
//   "author": "NAME (https://…)"
//
// As long as `repository` is not set, no manifest of a package has `repository`, `homepage`, `bugs` or `author`.
//
//   npm run repository              compares every manifest with the setting
//   npm run repository -- --write   writes the fields into every manifest, or removes them
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { crates, packages, readJson } from "../packages.mjs";
import { root } from "../shell.mjs";

/** Where its files are read, below its address. */
export const FILES_AT = "/blob/main/";

/** The setting of a checkout, or `undefined`. Throws if it cannot be used. */
export function repositorySetting(checkout = root) {
  const { repository, author } = readJson(join(checkout, "package.json"));
  if (repository === undefined) {
    if (author === undefined) return undefined;
    throw new Error(
      `author in package.json is ${JSON.stringify(author)}: must be left out while repository is not set`,
    );
  }
  // Provenance and the links to files are those of GitHub, and npm compares the address with that of the workflow.
  if (typeof repository !== "string" || !/^https:\/\/github\.com\/[\w-]+\/[\w.-]+(?<!\.git)$/.test(repository))
    throw new Error(
      `repository in package.json is ${JSON.stringify(repository)}: must be https://github.com/OWNER/NAME, without .git or a slash at its end`,
    );
  if (typeof author !== "string" || author.trim() === "")
    throw new Error(`author in package.json is ${JSON.stringify(author)}: must be a name once repository is set`);
  return { repository, author };
}

/** The fields of the package in `npm/<folder>`; none of them is set without a setting. */
function npmFields(setting, folder) {
  if (setting === undefined) return { repository: undefined, homepage: undefined, bugs: undefined, author: undefined };
  const { repository, author } = setting;
  return {
    repository: { type: "git", url: `git+${repository}.git`, directory: `npm/${folder}` },
    homepage: `${repository}#readme`,
    bugs: { url: `${repository}/issues` },
    author,
  };
}

/** A manifest with those fields, after `license`, and everything else as it was. */
function npmManifest(manifest, fields) {
  const entries = Object.entries(manifest).filter(([key]) => !(key in fields));
  const at = entries.findIndex(([key]) => key === "license") + 1;
  entries.splice(at, 0, ...Object.entries(fields).filter(([, value]) => value !== undefined));
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

/** The manifest of the package in `npm/<folder>`, as text, with the fields that follow from the setting of a checkout. */
export const manifestWithRepository = (manifest, folder, checkout = root) =>
  npmManifest(manifest, npmFields(repositorySetting(checkout), folder));

const CARGO_FIELD = /^repository(\.workspace)? = .*\n/m;

/** A Cargo.toml with that line after the one of the licence, and without any other about the repository. */
const cargoManifest = (text, line) =>
  text.replace(CARGO_FIELD, "").replace(/^license(\.workspace)? = .*\n/m, (licence) => licence + line);

/** The files of a checkout that have such fields: `path`, `text`, and what the setting makes of it (`wanted`). */
export function manifestsOf(checkout = root) {
  const setting = repositorySetting(checkout);
  const npm = packages(checkout).map(({ path, folder, manifest }) => ({
    path: join(path, "package.json"),
    wanted: manifestWithRepository(manifest, folder, checkout),
  }));
  const inherited = setting === undefined ? "" : "repository.workspace = true\n";
  const cargo = crates(checkout)
    .filter(({ isPublished }) => isPublished)
    .map(({ path, text }) => ({ path, wanted: cargoManifest(text, inherited) }));
  const workspace = join(checkout, "Cargo.toml");
  const address = setting === undefined ? "" : `repository = ${JSON.stringify(setting.repository)}\n`;
  const all = [...npm, ...cargo, { path: workspace, wanted: cargoManifest(readFileSync(workspace, "utf8"), address) }];
  return all.map(({ path, wanted }) => ({ path, wanted, text: readFileSync(path, "utf8") }));
}

/** The manifests of a checkout that do not follow its setting. */
export const staleManifests = (checkout = root) => manifestsOf(checkout).filter(({ text, wanted }) => text !== wanted);

export function writeRepository(checkout = root) {
  for (const { path, wanted } of staleManifests(checkout)) writeFileSync(path, wanted);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { write: { type: "boolean" } } });
  const stale = staleManifests();
  if (values.write) writeRepository();
  for (const { path } of stale)
    process.stdout.write(`${path.slice(root.length)}: ${values.write ? "written" : "does not follow the setting"}\n`);
  process.stdout.write(`repository: ${repositorySetting()?.repository ?? "not set"}; ${stale.length} files differed\n`);
  if (stale.length > 0 && !values.write) process.exitCode = 1;
}
