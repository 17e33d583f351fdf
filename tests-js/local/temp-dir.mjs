// Directories for the state files of tests, in the system's temporary directory.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const top = mkdtempSync(join(tmpdir(), "frazil-local-"));
process.once("exit", () => rmSync(top, { recursive: true, force: true }));
let dirs = 0;

/** A new directory. Its three parents belong to the test too, so that the test can move them and create them anew. */
export function tempDir() {
  const dir = join(top, `${++dirs}`, "a", "b", "c");
  mkdirSync(dir, { recursive: true });
  return dir;
}

/** A directory that every user may write to. Its parents can be traversed by every user, but not read. */
export function sharedTempDir() {
  const dir = tempDir();
  chmodSync(dir, 0o777);
  for (let above = dirname(dir); above.startsWith(top); above = dirname(above)) chmodSync(above, 0o711);
  return dir;
}
