// `npm run semver [-- --since COMMIT]`: whether the version of the crates says enough about what changed in their public items since the
// last release. Nothing is published yet, and a registry need not be asked later either: the last release is the last tag before this
// commit.
import { parseArgs } from "node:util";
import { crates } from "../packages.mjs";
import { ask, begin, run, step } from "../shell.mjs";
import { semverChecker } from "../tools.mjs";

const { values } = parseArgs({ options: { since: { type: "string" } } });

await begin(async () => {
  // The workflow of a release runs on its own tag.
  const since = values.since ?? ask("git", ["describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^"]);
  if (since === undefined) {
    process.stdout.write("There is no tag of a release before this commit: nothing to compare with.\n");
    return;
  }
  await semverChecker.install();
  // Without the features that semantic versioning does not cover.
  const options = ["--default-features", "--baseline-rev", since];
  for (const { name } of crates().filter(({ isPublished }) => isPublished))
    await step(`${name} since ${since}`, () => run("cargo", ["semver-checks", "--package", name, ...options]));
});
