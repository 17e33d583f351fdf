// docs/internals/architecture.md: it lists the rooms of the tree, and each uses only rooms below it. Biome and
// scripts/checks/module-cycles.mjs find cycles within a room. On every page: the named files exist.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { importsOf } from "../../scripts/checks/module-cycles.mjs";
import { PAGES, root, textOf } from "./examples.mjs";

const page = textOf("docs/internals/architecture.md");
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

/** The sources of a folder: path to text. */
const sourcesOf = (folder, extension) =>
  readdirSync(join(root, folder), { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(extension))
    .map((path) => [path, readFileSync(join(root, folder, path), "utf8")]);

const roomOf = (path) => (path.includes("/") ? `${path.split("/")[0]}/` : path);

/** The rooms that a section of the page lists, from the top down. */
function roomsOf(text, folder) {
  const [, section] = text.split(`## Rooms of \`${folder}\`\n`);
  return [...section.split("\n## ")[0].matchAll(/^\* `([^`]+)`:/gm)].map(([, room]) => room);
}

/** The rooms of a package, and its imports from one room to another. */
const tree = (rooms, imports) => ({
  rooms: [...new Set(rooms)],
  arrows: imports
    .map(([path, from, to]) => ({ path, from, to }))
    .filter(({ from, to }) => rooms.includes(to) && from !== to),
});

function typescript() {
  const sources = sourcesOf("npm/frazil/src", ".ts");
  const imports = sources.flatMap(([path, text]) =>
    [...text.matchAll(IMPORT)].map(([, specifier]) => [
      path,
      roomOf(path),
      roomOf(posix.join(posix.dirname(path), specifier)),
    ]),
  );
  return tree(
    sources.map(([path]) => roomOf(path)),
    imports,
  );
}

/** Without `lib.rs`, the root of the crate, which exports the rooms. */
function rust() {
  const sources = sourcesOf("crates/core/src", ".rs").filter(([path]) => path !== "lib.rs");
  const rooms = sources.map(([path]) => roomOf(path));
  const ofModule = (module) => rooms.find((room) => room.replace(/\/$|\.rs$/, "") === module.split("::")[0]);
  const imports = [...importsOf(Object.fromEntries(sources))].flatMap(([module, others]) =>
    [...others].map((other) => [module, ofModule(module), ofModule(other)]),
  );
  return tree(rooms, imports);
}

const TREES = { "npm/frazil/src": typescript(), "crates/core/src": rust() };

/** What is wrong with a list of rooms: rooms that are missing or gone, and imports that do not lead down. */
function problems(text, folder, more = []) {
  const listed = roomsOf(text, folder);
  const { rooms, arrows } = TREES[folder];
  return [
    ...rooms.filter((room) => !listed.includes(room)).map((room) => `${room} is not listed`),
    ...listed.filter((room) => !rooms.includes(room)).map((room) => `${room} is gone`),
    ...[...arrows, ...more]
      .filter(({ from, to }) => listed.indexOf(to) <= listed.indexOf(from))
      .map(({ path, to }) => `${path} uses ${to}`),
  ];
}

for (const [folder, { arrows }] of Object.entries(TREES))
  test(`the rooms of ${folder} are those of the page, and no import leads upwards`, () => {
    assert.ok(arrows.length > 40, `${arrows.length}`);
    assert.deepEqual(problems(page, folder), []);
  });

for (const [folder, room, path, from, to] of [
  // lease/ uses stores/, so with this import the two are a circle.
  ["npm/frazil/src", "cli/", "stores/kit/limits.ts", "stores/", "lease/"],
  ["crates/core/src", "abi/", "mint::state", "mint/", "lease/"],
])
  test(`${folder}: a room that is missing, one that is gone, an import upwards and a circle are found`, () => {
    const renamed = page.replace(`* \`${room}\`:`, `* \`x-${room}\`:`);
    assert.deepEqual(problems(renamed, folder).slice(0, 2), [`${room} is not listed`, `x-${room} is gone`]);
    assert.deepEqual(problems(page, folder, [{ path, from, to }]), [`${path} uses ${to}`]);
    assert.ok(TREES[folder].arrows.some((arrow) => arrow.from === to && arrow.to === from));
  });

test("the page is two screens, with a glossary of at most 30 words", () => {
  const [, words] = page.split("## Words\n");
  const rows = [...words.matchAll(/^\| (?!word)(.*?) \|/gm)].flatMap(([, cell]) => cell.split(", "));
  assert.ok(rows.length > 20 && rows.length <= 30, `${rows.length}`);
  assert.ok(page.split("\n").length <= 101);
});

/** Whether a folder has a file or folder of this path, in which `*` stands for any part of a name. */
function isThere(path, folder = root) {
  const [name, ...rest] = path.split("/");
  const pattern = new RegExp(`^${name.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) =>
      pattern.test(entry.name) &&
      (rest.join("") === "" || (entry.isDirectory() && isThere(rest.join("/"), join(folder, entry.name)))),
  );
}

/** The files and folders of the repository that a page names in code, and that are not there. */
const missingPaths = (text) =>
  [...text.matchAll(/`((?:crates|docs|examples|npm|scripts|tests-js|\.github)\/[^` ]+)`/g)]
    .map(([, path]) => path)
    .filter((path) => !isThere(path));

/** `docs/proofs/mutants.md` has the names of the files that were mutated then. */
const NAMING = [
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...PAGES,
  ...readdirSync(join(root, "docs/proofs"))
    .filter((name) => name.endsWith(".md") && name !== "mutants.md")
    .map((name) => `docs/proofs/${name}`),
];

test("the files that the pages name exist, and one that is gone is found", () => {
  assert.deepEqual(
    NAMING.flatMap((name) => missingPaths(textOf(name)).map((path) => `${name}: ${path}`)),
    [],
  );
  const text = textOf("CONTRIBUTING.md").replace("`scripts/platforms/index.mjs`", "`scripts/gone.mjs`");
  assert.deepEqual(missingPaths(text), ["scripts/gone.mjs"]);
  assert.deepEqual(missingPaths("`tests-js/stores/*/page.test.mjs`, `tests-js/stores/*page.test.mjs`"), [
    "tests-js/stores/*page.test.mjs",
  ]);
});
