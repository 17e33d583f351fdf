// `npm start` as a newcomer runs it, in a clone of these files. An unbuilt clone, as in CI, needs no other: it runs here, and is the build
// for later tests. If `npm start` itself built this clone, it runs here again.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { after, before, test } from "node:test";
import { isBuilt } from "../../scripts/build/index.mjs";
import { isLinuxX64Gnu, npm, root } from "../../scripts/shell.mjs";

const EPOCH_MS = Date.UTC(2024, 0, 1);
const isBare = !isBuilt();
const passedFile = `${root}.cache/start-passed`;
/** Written by `npm start` where nothing was built before. */
const bareFile = `${root}.cache/start-bare`;

const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

/** The tree of the files as they are now, with what is not committed, in a commit that no branch has. */
function snapshot() {
  mkdirSync(`${root}.cache`, { recursive: true });
  const index = `${mkdtempSync(`${root}.cache/start-index-`)}/index`;
  const env = { ...process.env, GIT_INDEX_FILE: index };
  const inIndex = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8", env }).trim();
  inIndex("read-tree", "HEAD");
  inIndex("add", "--all");
  const tree = inIndex("write-tree");
  rmSync(dirname(index), { recursive: true });
  const author = ["-c", "user.name=frazil", "-c", "user.email=frazil@localhost"];
  return { tree, commit: git(...author, "commit-tree", tree, "-p", "HEAD", "-m", "npm start") };
}

/**
 * A clone of a commit. It keeps only what cargo has built: packages come from npm's cache, and the rest is built anew. Its target folder
 * is not that of the repository, since cargo compiles everything again where the path differs.
 */
function cloneOf(commit) {
  const folder = `${root}.cache/start-clone`;
  if (!existsSync(`${folder}/.git`)) git("clone", "--quiet", "--no-checkout", root, folder);
  const inClone = (...args) => execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" });
  // A commit that no branch has is not offered to others otherwise.
  const offering = "--upload-pack=git -c uploadpack.allowAnySHA1InWant=true upload-pack";
  inClone("fetch", "--quiet", offering, "origin", commit);
  inClone("checkout", "--quiet", "--force", "--detach", commit);
  inClone("clean", "-ffdxq", "--exclude=/target");
  return `${folder}/`;
}

const { tree, commit } = snapshot();
const key = `${tree} ${process.version}`;
const hasKey = (file) => existsSync(file) && readFileSync(file, "utf8") === key;
const hasPassed = !isBare && hasKey(passedFile);
const options = { skip: hasPassed && "does not apply: passed here with these files" };
const folder = isBare || hasPassed || hasKey(bareFile) ? root : cloneOf(commit);
/** The environment of a person who types it: npm sets some variables that would choose another folder. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|NODE_OPTIONS)/i.test(name)),
);
const [program, ...first] = npm;
let fromMs;
let untilMs;
let shown;

before(() => {
  if (hasPassed) return;
  fromMs = Date.now();
  const { status, stdout, error } = spawnSync(program, [...first, "start"], {
    cwd: folder,
    encoding: "utf8",
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  untilMs = Date.now();
  shown = { status, error, text: stdout };
  process.stderr.write(stdout);
});

let passed = 0;
let all = 0;
const check = (name, work) => {
  all += 1;
  test(name, options, async () => {
    await work();
    passed += 1;
  });
};
after(() => {
  if (passed === all) writeFileSync(passedFile, key);
});

check("npm start ends with exit code 0", () => {
  assert.equal(shown.error, undefined);
  assert.equal(shown.status, 0);
});

check("the IDs that it prints are of now", () => {
  // Each in its place: minted by local(), under the lease, by WebAssembly.
  const places = [/^ {2}(\d+) {3}Snowflake\.local\(\)/m, /lease\(store\) +(\d+)/, /next --node 7 +(\d+)$/m];
  if (!isLinuxX64Gnu) places[0] = /^ {2}(\d+) {3}new Snowflake/m;
  for (const place of places) {
    const [, id] = place.exec(shown.text) ?? assert.fail(`no ID at ${place} in:\n${shown.text}`);
    const atMs = EPOCH_MS + Number(BigInt(id) >> 22n);
    // A lease mints ahead of its start by design, by less than its window.
    assert.ok(fromMs <= atMs && atMs <= untilMs + 30_000, `${id} is of ${new Date(atMs).toISOString()}`);
  }
});

check("it fits on one screen of 80 columns and 30 lines", () => {
  const lines = shown.text.trimEnd().split("\n");
  const screen = lines.slice(lines.findIndex((line) => line.includes("┌")) - 1);
  assert.ok(screen.length <= 30, `${screen.length} lines`);
  assert.deepEqual(
    screen.filter((line) => [...line].length > 80),
    [],
  );
});

check("what it says to type can be typed there", () => {
  const [, list] = /^Type next:\n((?: {2}.+\n?)+)/m.exec(shown.text) ?? assert.fail(shown.text);
  const commands = list
    .trimEnd()
    .split("\n")
    .map((line) => line.trim());
  assert.ok(commands.includes("npm test"));
  const frazil = commands.filter((command) => command.startsWith("npx frazil"));
  assert.ok(frazil.length >= 3, list);
  for (const command of frazil) {
    const { status, stderr } = spawnSync(command, { cwd: folder, shell: true, encoding: "utf8", env });
    assert.equal(status, 0, `${command}: ${stderr}`);
  }
});

check("if a program that npm start runs fails, the error has what it wrote", () => {
  const broken = `${mkdtempSync(`${root}.cache/start-broken-`)}/cli.cjs`;
  writeFileSync(
    broken,
    'if (process.argv[1].endsWith("cli.mjs")) { process.stderr.write("the reason\\n"); process.exit(3); }',
  );
  try {
    const { status, stderr } = spawnSync(process.execPath, [`${folder}scripts/start.mjs`], {
      encoding: "utf8",
      env: { ...env, NODE_OPTIONS: `--require ${JSON.stringify(broken)}` },
    });
    assert.notEqual(status, 0);
    assert.match(stderr, /^the reason$/m);
  } finally {
    rmSync(dirname(broken), { recursive: true });
  }
});
