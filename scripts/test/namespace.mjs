// Runs a program in a mount namespace where the repository has only some of its tracked files, and no other commit. So a test fails if it
// reads another file. Ignored files (packages, builds) are there as they are.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ask, root } from "../shell.mjs";
import { NOT_INPUTS } from "./inputs.mjs";

const list = (...args) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 })
    .split("\0")
    .filter(Boolean);

/** Why this process cannot make a mount namespace in which it stays who it is, or `undefined`. */
export function whyNoNamespace() {
  if (process.getuid?.() !== 0) return "a mount namespace needs Linux and root";
  return ask("unshare", ["--mount", "true"]) === undefined ? "unshare --mount is not allowed here" : undefined;
}

/** The folder in which views are made: beside what they link to, on the same file system. */
const VIEWS = `${root}.cache/views`;

/**
 * The command of a program in a namespace with these inputs, and `end`, which removes the view of the repository. The view has copies of
 * the inputs, so that no test changes them, and a commit of them; what git ignores is mounted into it.
 */
export function inNamespace(inputs, program, args) {
  mkdirSync(VIEWS, { recursive: true });
  const view = mkdtempSync(`${VIEWS}/view-`);
  // Tests run programs as another user too.
  chmodSync(view, 0o755);
  const copy = (path) => {
    mkdirSync(join(view, dirname(path)), { recursive: true });
    // With its time: cargo compiles what is newer than its build.
    cpSync(`${root}${path}`, join(view, path), { preserveTimestamps: true, verbatimSymlinks: true });
  };
  const visible = list("ls-files", "-z", "--", ...inputs, ...NOT_INPUTS);
  for (const path of visible) copy(path);
  // Without what this user or machine has set.
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const git = (args, input = "") => execFileSync("git", ["-C", view, ...args], { input, env });
  git(["init", "--quiet", "--template="]);
  git(["add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"], visible.join("\0"));
  git([
    "-c",
    "user.name=view",
    "-c",
    "user.email=view@localhost",
    "commit",
    "--quiet",
    "--message",
    "The inputs of a suite",
  ]);
  const mounts = [];
  for (const path of list("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")) {
    if (!path.endsWith("/")) copy(path);
    // Most of this folder is a link or a program; the other views are of no use in it.
    else mounts.push(path.slice(0, -1));
  }
  for (const path of mounts) mkdirSync(join(view, path), { recursive: true });
  const script = `set -e
view=$1; root=$2; shift 2
while [ "$1" != -- ]; do mount --rbind "$root/$1" "$view/$1"; shift; done
shift
mount --rbind "$view" "$root"
cd "$root"
exec "$@"`;
  const isolated = ["--mount", "--propagation", "private", "sh", "-c", script, "sh"];
  return {
    program: "unshare",
    args: [...isolated, view, root.slice(0, -1), ...mounts, "--", program, ...args],
    end: () => rmSync(view, { recursive: true, force: true }),
  };
}
