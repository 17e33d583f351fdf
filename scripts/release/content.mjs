// What a tarball contains that runs: its files without the pages, so that a record of a run, which is a page too, may be committed and
// still be of the same content.
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask } from "../shell.mjs";

/** The SHA-256 over names and contents of the files of a tarball, in the order of their names, without `*.md`. */
export function contentOf(tarball) {
  const folder = mkdtempSync(join(tmpdir(), "frazil-content-"));
  try {
    // From a pipe, since the tar of GNU takes `C:` in a path of Windows for a host.
    const unpacked = ask("tar", ["-xzf", "-"], { cwd: folder, input: readFileSync(tarball) });
    if (unpacked === undefined) throw new Error(`${tarball} is no tarball that tar can unpack`);
    const names = readdirSync(folder, { recursive: true })
      .filter((name) => statSync(join(folder, name)).isFile() && !name.endsWith(".md"))
      .map((name) => [name.replaceAll("\\", "/"), name])
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const hash = createHash("sha256");
    for (const [path, name] of names) {
      const content = createHash("sha256").update(readFileSync(join(folder, name)));
      hash.update(`${path}\0${content.digest("hex")}\n`);
    }
    return hash.digest("hex");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
