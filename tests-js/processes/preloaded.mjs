// Libraries in C that tests load into a process before its own (LD_PRELOAD), to answer some of its calls of the C library.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

let folder;
/** A folder that other users can read, as servers do. It is removed when this process ends. */
export function readableFolder() {
  if (folder === undefined) {
    folder = mkdtempSync(join(tmpdir(), "frazil-preloaded-"));
    chmodSync(folder, 0o755);
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  }
  return folder;
}

const libraries = new Map();
/** Compiles a file in C (its URL), once, and returns the path of the library. */
export function preloadedLibrary(source) {
  const from = fileURLToPath(source);
  if (!libraries.has(from)) {
    const library = join(readableFolder(), `${basename(from, ".c")}-${libraries.size}.so`);
    execFileSync("cc", ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, from]);
    libraries.set(from, library);
  }
  return libraries.get(from);
}
