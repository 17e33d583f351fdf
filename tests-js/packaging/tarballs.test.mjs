// The content of the tarballs: files, manifests, types and notices.
//
// To accept an intended change: UPDATE_SNAPSHOTS=1 node --test tests-js/packaging/tarballs.test.mjs
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import * as esbuild from "esbuild";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { PLATFORMS } from "../../scripts/platforms/index.mjs";
import { emptyFolder, hasAddon, pack, root, run } from "./tarballs.mjs";

/** Compares a text with a committed file, or writes the file if UPDATE_SNAPSHOTS is set. */
function snapshot(name, actual) {
  const path = join(root, "tests-js/packaging", name);
  if (process.env.UPDATE_SNAPSHOTS) writeFileSync(path, actual);
  const update = "UPDATE_SNAPSHOTS=1 node --test tests-js/packaging/tarballs.test.mjs";
  assert.equal(actual, readFileSync(path, "utf8"), `${name} is out of date; if the change is intended: ${update}`);
}

const only = { skip: !hasAddon && "needs the native addon" };

test("the tarballs contain exactly the expected files", only, () => {
  const packages = pack().map(({ report }) => [report.name, report.files.map(({ path }) => path)]);
  for (const [name, files] of packages) {
    for (const file of ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "package.json"]) {
      assert.ok(files.includes(file), `${name} lacks ${file}`);
    }
    const stray = files.filter((file) =>
      /^(?!dist\/|testing(\/[\w-]+)?\.js$)(src|build|test)|(?<!\.d)\.m?ts$|\.(map|rs|tgz|gyp|tsbuildinfo)$/.test(file),
    );
    assert.deepEqual(stray, [], `${name} has sources or leftovers`);
  }
  const list = packages.map(([name, files]) => `${name}\n${files.map((file) => `  ${file}\n`).join("")}`);
  snapshot("files.txt", list.join("\n"));
});

/**
 * Upper limit of `dist`, unpacked. It is raised only in the commit that needs it, with the reason. Each entry is there as an ES module
 * and as CommonJS, with the names of the sources and lines that are not endless: Node shows both with an error. Errors in two texts,
 * which each entry that has errors carries, and the line of the addon took 23; how the command line ranks layouts 2; hints for mistakes
 * of the first day, which most entries carry, and hints that can be typed where they are printed 10; what stores and drivers say, cut
 * and without passwords, 3; typed IDs 23, of which 8 are their declarations; a clock that shows a symbol, whatever a getter throws, and
 * wrong options of typed IDs 0.5; public IDs 86, of which 27 are their module as text, twice, and their keys and texts in the command
 * line 8, and errors without keys 4. A module of a key's facts for the command line, and rules of keys, 8. SQL for nine dialects 52,
 * and its command and logs 6; `frazil.next()`, most of which is SQL that people read, 28, and what it refuses 7. Short names in the
 * command line gave 12 back. The audit 274, of which 262 are its module, which only the command line loads.
 */
const DIST_KB = 2063;

test(`dist is at most ${DIST_KB} kB`, (context) => {
  const [{ report }] = pack();
  const files = report.files.filter(({ path }) => path.startsWith("dist/"));
  const kb = files.reduce((sum, { size }) => sum + size, 0) / 1000;
  context.diagnostic(`dist: ${kb} of ${DIST_KB} kB; unpacked: ${report.unpackedSize / 1000} kB`);
  assert.ok(kb <= DIST_KB, `${kb} kB`);
});

test("every file that a manifest names is in the tarball", () => {
  for (const { name, report } of pack()) {
    const manifest = JSON.parse(readFileSync(join(root, "npm", name, "package.json"), "utf8"));
    const named = [];
    const collect = (value) => (typeof value === "object" ? Object.values(value).forEach(collect) : named.push(value));
    collect([manifest.main, manifest.exports, manifest.bin, manifest.module, manifest.types].filter(Boolean));
    const files = new Set(report.files.map(({ path }) => path));
    assert.deepEqual(
      named.filter((path) => !files.has(path.replace(/^\.\//, ""))),
      [],
    );
    // npm silently ignores a literal name in `files` that matches no file.
    const literal = manifest.files.filter(
      (entry) => (/\./.test(entry) && !entry.includes("*")) || /^[A-Z-]+$/.test(entry),
    );
    assert.deepEqual(
      literal.filter((path) => !files.has(path)),
      [],
    );
  }
});

test("tools that ignore `exports` find a file under the name of each subpath, with the names that an ES module gets", async () => {
  const [{ tarball, report }] = pack();
  const folder = emptyFolder("subpaths");
  run(folder, "tar", ["-xzf", tarball]);
  mkdirSync(join(folder, "node_modules"));
  renameSync(join(folder, "package"), join(folder, "node_modules/frazil"));
  const at = (path) => join(folder, "node_modules/frazil", path);
  const manifest = JSON.parse(readFileSync(at("package.json"), "utf8"));
  const { exports } = manifest;
  const names = async (path) => Object.keys(await import(pathToFileURL(at(path)))).sort();
  const subpaths = Object.keys(exports).filter((path) => path !== "." && !/\.(json|wasm)$/.test(path));
  for (const subpath of subpaths)
    assert.deepEqual(await names(`${subpath}.js`), await names(exports[subpath].import.default), subpath);
  assert.ok((await names("stores/redis.js")).includes("RedisStore"));
  const stubs = report.files.map(({ path }) => path).filter((path) => path.endsWith(".js"));
  assert.deepEqual(stubs.sort(), subpaths.map((path) => `${path.slice(2)}.js`).sort());
  assert.equal(manifest["react-native"], exports["."]["react-native"].import.default);
});

test("no WebAssembly module imports anything, so tools that take one for an ES module look for no other file", () => {
  const folder = emptyFolder("module");
  for (const name of ["frazil", "public", "segment"].map((module) => `package/dist/${module}.wasm`)) {
    run(folder, "tar", ["-xzf", pack()[0].tarball, name]);
    assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(join(folder, name)))), [], name);
  }
});

test("publint finds no problem in strict mode", async () => {
  for (const { name, tarball } of pack()) {
    const bytes = readFileSync(tarball);
    const { messages, pkg } = await publint({
      pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) },
      strict: true,
    });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
      name,
    );
  }
});

test("attw finds types that match the module format of every entry", () => {
  const [{ tarball }] = pack();
  // `frazil/frazil.wasm` is a file for tools that copy it, and has no types. The resolution mode node10, which older projects have,
  // ignores `exports` and reads `typesVersions`.
  const flags = ["--profile", "strict", "--exclude-entrypoints", "./frazil.wasm", "--no-definitely-typed"];
  const looks = ["--format", "table", "--no-color", "--no-emoji", "--no-summary"];
  const { stdout } = run(emptyFolder("attw"), join(root, "node_modules/.bin/attw"), [tarball, ...flags, ...looks]);
  snapshot("attw.txt", `${stdout.replace(/^frazil v.*\n/m, "").trim()}\n`);
});

test("THIRD-PARTY.md lists every dependency that is compiled or bundled in, with its licence", () => {
  const notice = readFileSync(join(root, "npm/frazil/THIRD-PARTY.md"), "utf8");
  const rows = (title) => {
    const [, section] = new RegExp(`\n## ${title}\n(.*?)(?=\n## |$)`, "s").exec(notice);
    return [...section.matchAll(/^\| (.+?) \| (.+?) \|$/gm)].map(([, name, licence]) => `${name}: ${licence}`).slice(1);
  };
  const crates = (...args) => {
    const flags = [
      "--locked",
      "--edges",
      "normal,no-proc-macro",
      "--prefix",
      "none",
      "--no-dedupe",
      "--format",
      "{p}|{l}",
    ];
    const { stdout } = run(root, "cargo", ["tree", ...args, ...flags]);
    // A blank line separates two targets.
    const lines = stdout
      .trim()
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("frazil"));
    const named = new Map(lines.map((line) => line.split(/ .*?\|/)));
    return [...named.keys()].sort().map((name) => `${name}: ${named.get(name)}`);
  };
  const targets = PLATFORMS.flatMap(({ target }) => ["--target", target]);
  assert.deepEqual(rows("The native addon"), crates("-p", "frazil-napi", ...targets));
  const wasm = ["frazil-wasm", "frazil-wasm-audit", "frazil-wasm-public"].flatMap((name) => ["-p", name]);
  const modules = [...wasm, "--target", "wasm32-unknown-unknown"];
  assert.deepEqual(rows("The WebAssembly modules"), crates(...modules));

  const { metafile } = esbuild.buildSync({
    absWorkingDir: root,
    entryPoints: ["", "decode/", "text/", "public/", "lease/", "cli/"].map((room) => `npm/frazil/src/${room}index.ts`),
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["#binding", "#public", "frazil"],
    loader: { ".wasm": "base64" },
    outdir: emptyFolder("bundle"),
    write: false,
    metafile: true,
  });
  const inputs = Object.keys(metafile.inputs).map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
  const bundled = [...new Set(inputs.filter((name) => name !== undefined))].sort();
  const licence = (name) => JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).license;
  assert.deepEqual(
    rows("JavaScript"),
    bundled.map((name) => `${name}: ${licence(name)}`),
  );
});
