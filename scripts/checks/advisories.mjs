// `npm run advisories`: whether what is published, built with or tested with has an advisory. A workflow of GitHub runs it each week. It
// is no suite: the answer changes without a commit, and the database of Rust's advisories is a git repository.
import { dirname } from "node:path";
import { ask, begin, root, run, step } from "../shell.mjs";
import { advisor } from "../tools.mjs";

/** The lock files of the repository with a name. */
const lockFiles = (name) => ask("git", ["ls-files", name, `*/${name}`]).split("\n");

await begin(async () => {
  await advisor.install();
  const failed = [];
  const check = (title, program, args, options) =>
    step(title, () => run(program, args, options)).catch((error) => failed.push(error.message));
  for (const file of lockFiles("Cargo.lock"))
    await check(`advisories of ${file}`, "cargo", [
      "deny",
      "--manifest-path",
      `${root}${dirname(file)}/Cargo.toml`,
      "check",
      "advisories",
    ]);
  for (const file of lockFiles("package-lock.json"))
    await check(`advisories of ${file}`, "npm", ["audit", "--audit-level=high"], { cwd: `${root}${dirname(file)}` });
  if (failed.length > 0) throw new Error(failed.join("\n"));
});
