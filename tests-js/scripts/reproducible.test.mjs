// Two fresh clones, with different folder names, permissions and cargo target folders, give the same tarballs: anyone who builds a tag can
// compare with the published ones. That needs the same versions of Rust, Node and npm, which the report names.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ask, root } from "../../scripts/shell.mjs";

const scratch = mkdtempSync(join(tmpdir(), "frazil-clones-"));
after(() => rmSync(scratch, { recursive: true }));

function run(program, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    ...options,
  });
  if (error) throw error;
  return { status, output: stdout + stderr };
}

/** Clones a commit, builds it, and returns the report of its dry run. */
function reportOf(commit, name, umask) {
  const clone = join(scratch, name);
  const before = process.umask(umask);
  try {
    const cloned = run("git", ["clone", "--quiet", "--no-hardlinks", root, clone]);
    assert.equal(cloned.status, 0, cloned.output);
    const detached = run("git", ["checkout", "--quiet", "--detach", commit], { cwd: clone });
    assert.equal(detached.status, 0, detached.output);
    const env = { ...process.env, CARGO_TARGET_DIR: join(scratch, `target of ${name}`) };
    const built = run("npm", ["run", "build"], { cwd: clone, env });
    assert.equal(built.status, 0, built.output);
    const out = join(clone, "tarballs");
    // Exit code 1: this commit need not be one that can be released, and not every platform package is built.
    const { output } = run(
      process.execPath,
      ["scripts/release/main.mjs", "--dry-run", "--built", "--without-runs", "--out", out],
      { cwd: clone, env },
    );
    const report = readFileSync(join(out, "release.json"), "utf8");
    assert.ok(report.length > 0, output);
    return JSON.parse(report);
  } finally {
    process.umask(before);
  }
}

test("the tarballs of two clones are the same bytes", () => {
  // Somebody may commit meanwhile, and a crate contains the name of its commit.
  const commit = ask("git", ["rev-parse", "HEAD"]);
  const one = reportOf(commit, "one", 0o022);
  const other = reportOf(commit, "a longer name, with spaces", 0o077);
  assert.ok(one.packages.some(({ addon }) => addon !== undefined) || process.platform !== "linux");
  assert.deepEqual(other.packages, one.packages);
  assert.deepEqual(other.crates, one.crates);
});
