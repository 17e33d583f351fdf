// Where a test keeps its state files: a directory of its own, on the disk that holds the temporary directory.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const top = mkdtempSync(join(tmpdir(), "frazil-local-"));
process.once("exit", () => rmSync(top, { recursive: true, force: true }));
let places = 0;

/**
 * A directory. It lies three directories deep in what belongs to the test, so that a test can move those above a state file and make
 * them anew.
 */
export function place() {
  const dir = join(top, `${++places}`, "a", "b", "c");
  mkdirSync(dir, { recursive: true });
  return dir;
}

/** A directory that another user may use: those above it may be gone through, and not read. */
export function shared() {
  const dir = place();
  chmodSync(dir, 0o777);
  for (let above = dirname(dir); above.startsWith(top); above = dirname(above)) chmodSync(above, 0o711);
  return dir;
}
