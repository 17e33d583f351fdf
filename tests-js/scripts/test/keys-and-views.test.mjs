// Keys and views of a real repository: a small one, with the runner of this one.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { root } from "../../../scripts/shell.mjs";
import { whyNoNamespace } from "../../../scripts/test/namespace.mjs";

let folder;
const git = (...args) =>
  execFileSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@localhost", ...args]);
const commit = () => git("commit", "--quiet", "--all", "--allow-empty", "--message", "a");

/** Runs a program with functions of the runner there. */
function ask(text) {
  const modules = `import { inNamespace } from "./scripts/test/namespace.mjs"; import * as rows from "./scripts/test/rows.mjs";`;
  const suite = `const suite = { name: "oracle" };`;
  const args = ["--input-type=module", "--eval", `${modules}${suite}${text}`];
  return execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" }).trim();
}

const key = () => ask("console.log(rows.keyOf(suite))");
const whyNoRow = () => ask("console.log(rows.whyNoRow(suite, {}))");

before(() => {
  folder = mkdtempSync(join(tmpdir(), "frazil-suites-"));
  cpSync(`${root}scripts`, join(folder, "scripts"), { recursive: true });
  for (const name of ["package.json", "package-lock.json", "Cargo.toml", "Cargo.lock", ".gitignore"])
    cpSync(`${root}${name}`, join(folder, name));
  for (const name of ["crates", "docs/proofs", "target"]) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ["crates/a.rs", "docs/a.md", "docs/proofs/passed.json", "target/built"])
    writeFileSync(join(folder, name), "a");
  git("init", "--quiet");
  git("add", "--all");
  commit();
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("content, path and mode of an input change the key, other files do not", () => {
  const seen = [key()];
  const differs = (change) => {
    change();
    git("add", "--all");
    commit();
    const now = key();
    assert.ok(!seen.includes(now));
    seen.push(now);
  };
  differs(() => appendFileSync(join(folder, "crates/a.rs"), "b"));
  differs(() => git("mv", "crates/a.rs", "crates/b.rs"));
  differs(() => chmodSync(join(folder, "crates/b.rs"), 0o755));
  differs(() => appendFileSync(join(folder, "scripts/test/rows.mjs"), "\n"));
  for (const name of ["docs/a.md", "docs/proofs/passed.json", "scripts/test/inputs.mjs"])
    appendFileSync(join(folder, name), "\n");
  commit();
  assert.equal(key(), seen.at(-1));
});

test("there is no row while an input is changed or new", () => {
  assert.equal(whyNoRow(), "undefined");
  appendFileSync(join(folder, "crates/b.rs"), "c");
  assert.equal(whyNoRow(), "not committed: crates/b.rs");
  git("checkout", "--quiet", ".");
  writeFileSync(join(folder, "crates/new.rs"), "");
  assert.equal(whyNoRow(), "not committed: crates/new.rs");
  rmSync(join(folder, "crates/new.rs"));
  mkdirSync(join(folder, ".cargo"));
  writeFileSync(join(folder, ".cargo/config.toml"), "");
  assert.equal(whyNoRow(), "not committed: .cargo/config.toml");
  rmSync(join(folder, ".cargo"), { recursive: true });
  git("update-index", "--assume-unchanged", "crates/b.rs");
  assert.equal(whyNoRow(), "git is told to overlook changes of crates/b.rs");
  git("update-index", "--no-assume-unchanged", "crates/b.rs");
  appendFileSync(join(folder, "docs/proofs/passed.json"), "b");
  git("add", "--all");
  assert.equal(whyNoRow(), "undefined");
  git("reset", "--quiet", "--hard");
  appendFileSync(join(folder, "docs/a.md"), "b");
  assert.equal(whyNoRow(), "undefined");
  git("checkout", "--quiet", ".");
});

test("in a view only the inputs are there, and what git ignores", {
  skip: whyNoNamespace() && `needs a mount namespace: ${whyNoNamespace()}`,
}, () => {
  const seen = ask(`
    import { spawnSync } from "node:child_process";
    const { program, args, end } = inNamespace(["crates"], "sh", ["-c", "echo made > target/made; echo changed > crates/b.rs; find . -path ./.git -prune -o -type f -print"]);
    console.log(spawnSync(program, args, { encoding: "utf8" }).stdout);
    end();
  `);
  const expected = [
    "./crates/b.rs",
    "./docs/proofs/passed.json",
    "./scripts/test/inputs.mjs",
    "./target/built",
    "./target/made",
  ];
  assert.deepEqual(
    seen
      .split("\n")
      .filter((path) => !path.startsWith("./.cache/"))
      .sort(),
    expected,
  );
  const built = ask(`
    import { spawnSync } from "node:child_process";
    const { program, args, end } = inNamespace(["crates"], "sh", ["-c", "git show HEAD:docs/a.md; stat -c %Y crates/b.rs"]);
    const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
    console.log(stdout + stderr);
    end();
  `);
  assert.match(built, /'docs\/a.md' does not exist in 'HEAD'/);
  assert.match(built, new RegExp(`^${Math.floor(statSync(join(folder, "crates/b.rs")).mtimeMs / 1000)}$`, "m"));
  const { stdout } = spawnSync("cat", [join(folder, "target/made")], { encoding: "utf8" });
  assert.equal(stdout, "made\n");
  assert.equal(String(git("status", "--porcelain")), "");
});
