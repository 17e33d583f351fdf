// Finds prose that is too wide to read: in the pages of docs, and in comments. No formatter wraps either. Tables, headings, examples and
// records of runs are left out.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { root } from "../shell.mjs";

const MAX_COLUMNS = 140;
const PAGE = /^(docs\/(?!reference\/benchmarks\/|proofs\/).*|README|CHANGELOG|CONTRIBUTING|SECURITY)\.md$/;
const SOURCE = /\.(rs|ts|mjs)$/;
/** What tools write. */
const GENERATED = /(^|\/)generated\/|^tests-js\/types\/snapshot\//;
const COMMENT = /^\s*(\/\/|\*|\/\*)/;

/** The lines of a file that are too wide, as `path:line`. */
function wideLines(path, text) {
  const isPage = PAGE.test(path);
  const wide = [];
  let isExample = false;
  for (const [at, line] of text.split("\n").entries()) {
    if (/^[\s/!*]*```/.test(line)) isExample = !isExample;
    const isProse = isPage ? !/^[|#]/.test(line) : COMMENT.test(line);
    if (!isExample && isProse && [...line].length > MAX_COLUMNS) wide.push(`${path}:${at + 1}`);
  }
  return wide;
}

/** The files that git has or would take: other suites write and delete ignored ones meanwhile. */
function files() {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 }).split("\0");
  return listed.filter((path) => path !== "" && existsSync(`${root}${path}`));
}

/** Throws if a file of the repository has lines that are too wide. */
export function checkColumns() {
  const isChecked = (path) => (PAGE.test(path) || SOURCE.test(path)) && !GENERATED.test(path);
  const wide = files()
    .filter(isChecked)
    .flatMap((path) => wideLines(path, readFileSync(`${root}${path}`, "utf8")));
  if (wide.length > 0) throw new Error(`over ${MAX_COLUMNS} columns, wrap them: ${wide.join(", ")}`);
}
