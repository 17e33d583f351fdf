// docs/architecture.md: the rooms that it lists are those of the tree, and each uses only rooms below it. Circles within a room are
// found by biome. CONTRIBUTING.md: the files that it names are there.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { root, textOf } from "./examples.mjs";

const page = textOf("docs/architecture.md");
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

/** The imports from one room of the TypeScript package to another. */
const arrows = sourcesOf("npm/frazil/src", ".ts").flatMap(([path, text]) =>
  [...text.matchAll(IMPORT)]
    .map(([, specifier]) => posix.join(posix.dirname(path), specifier))
    .filter((target) => !target.startsWith("../") && roomOf(target) !== roomOf(path))
    .map((target) => ({ path, from: roomOf(path), to: roomOf(target) })),
);

/** What is wrong with a list of rooms: rooms that are missing or gone, and imports that do not lead down. */
function problems(rooms, there, imports) {
  return [
    ...there.filter((room) => !rooms.includes(room)).map((room) => `${room} is not listed`),
    ...rooms.filter((room) => !there.includes(room)).map((room) => `${room} is gone`),
    ...imports
      .filter(({ from, to }) => rooms.indexOf(to) <= rooms.indexOf(from))
      .map(({ path, to }) => `${path} uses ${to}`),
  ];
}

const there = [...new Set(sourcesOf("npm/frazil/src", ".ts").map(([path]) => roomOf(path)))];
const rooms = roomsOf(page, "npm/frazil/src");

test("the rooms of the TypeScript package are those of the page, and no import leads upwards", () => {
  assert.ok(arrows.length > 300, `${arrows.length}`);
  assert.deepEqual(problems(rooms, there, arrows), []);
});

test("a room that is missing, one that is gone, an import upwards and a circle are found", () => {
  const found = (text, more = []) => problems(roomsOf(text, "npm/frazil/src"), there, [...arrows, ...more]);
  assert.deepEqual(found(page.replace("* `cli/`:", "* `shell/`:")), ["cli/ is not listed", "shell/ is gone"]);
  const upwards = { path: "base/clock.ts", from: "base/", to: "lease/" };
  assert.deepEqual(found(page, [upwards]), ["base/clock.ts uses lease/"]);
  // lease/ uses stores/: with this import the two are a circle.
  const back = { path: "stores/kit/limits.ts", from: "stores/", to: "lease/" };
  assert.ok(arrows.some(({ from, to }) => from === "lease/" && to === "stores/"));
  assert.deepEqual(found(page, [back]), ["stores/kit/limits.ts uses lease/"]);
});

test("the page is two screens, with a glossary of at most 30 words", () => {
  const [, words] = page.split("## Words\n");
  const rows = [...words.matchAll(/^\| (?!word)(.*?) \|/gm)].flatMap(([, cell]) => cell.split(", "));
  assert.ok(rows.length > 20 && rows.length <= 30, `${rows.length}`);
  assert.ok(page.split("\n").length <= 101);
});

/** The files and folders of the repository that a page names in code, and that are not there. */
const missingPaths = (text) =>
  [...text.matchAll(/`((?:crates|docs|npm|scripts|tests-js|\.github)\/[^` ]+)`/g)]
    .map(([, path]) => path)
    .filter((path) => !existsSync(join(root, path)));

test("the files that CONTRIBUTING.md names exist, and one that is gone is found", () => {
  const text = textOf("CONTRIBUTING.md");
  assert.deepEqual(missingPaths(text), []);
  assert.deepEqual(missingPaths(text.replace("`scripts/platforms.mjs`", "`scripts/gone.mjs`")), ["scripts/gone.mjs"]);
});
