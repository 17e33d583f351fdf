// Finds prose that is too wide to read: in the pages of docs, and in comments. No formatter wraps either. Tables, headings, examples and
// records of runs are left out.
import { readdirSync, readFileSync } from "node:fs";
import { root } from "../shell.mjs";

const MAX_COLUMNS = 140;
const PAGE = /^(docs\/(?!reference\/benchmarks\/|proofs\/).*|README|CHANGELOG|CONTRIBUTING|SECURITY)\.md$/;
const SOURCE = /\.(rs|ts|mjs)$/;
/** Folders that tools write, or that are not of this repository. */
const LEFT_OUT =
  /(^|\/)(\.[^/]+|node_modules|target[^/]*|dist|generated|corpus)$|^(tests-js\/types\/snapshot|npm\/frazil\/build|docs\/reference\/api)$/;
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

/** The files of a folder, without what tools write. */
function* filesIn(folder) {
  for (const entry of readdirSync(`${root}${folder}`, { withFileTypes: true })) {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory() && !LEFT_OUT.test(path)) yield* filesIn(`${path}/`);
    else if (entry.isFile()) yield path;
  }
}

/** Throws if a file of the repository has lines that are too wide. */
export function checkColumns() {
  const isChecked = (path) => PAGE.test(path) || SOURCE.test(path);
  const wide = [...filesIn("")]
    .filter(isChecked)
    .flatMap((path) => wideLines(path, readFileSync(`${root}${path}`, "utf8")));
  if (wide.length > 0) throw new Error(`over ${MAX_COLUMNS} columns, wrap them: ${wide.join(", ")}`);
}
