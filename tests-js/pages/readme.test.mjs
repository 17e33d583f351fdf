// Runs the programs of the README and other documents, which must print what the document says, and checks that links exist.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { blocksOf, PAGES, printed, programsOf, programsWithoutServer, root, shapeOf, textOf } from "./examples.mjs";

const folder = fileURLToPath(new URL("./", import.meta.url));
const pages = PAGES.map((page) => ({ page, programs: programsWithoutServer(page) })).filter(
  ({ programs }) => programs.length > 0,
);

test("there are pages with programs", () => {
  const names = pages.map(({ page }) => page);
  for (const page of ["README.md", "docs/deploying.md", "docs/transport.md"]) assert.ok(names.includes(page), page);
});

for (const { page, programs } of pages) {
  for (const { code, output, line } of programs) {
    test(`${page}:${line} prints the output in the document`, async () => {
      // As the pages say: the number that the environment gives a process.
      const env = { NODE_ID: "7" };
      assert.equal(shapeOf(await printed(code, { folder, env })), shapeOf(output));
    });
  }
}

/** The lines of a program without its comments. */
const linesOf = (text) =>
  text
    .split("\n")
    .map((line) => line.replace(/ *\/\/ .*$/, ""))
    .filter((line) => line !== "");

for (const [specifier, page, by] of [
  ["frazil/lease", "docs/leases.md", "tests-js/stores/first-minute.test.mjs"],
  ["frazil/workers", "docs/workers.md", "tests-js/workers/page.test.mjs"],
]) {
  test(`the lines of the README for ${specifier} are those of ${page}, which ${by} runs`, () => {
    const uses = ({ code }) => code.includes(`"${specifier}"`);
    const [{ code }] = programsOf(textOf("README.md")).filter(uses);
    const [whole] = programsOf(textOf(page)).filter(uses);
    const lines = linesOf(whole.code);
    for (const line of linesOf(code)) assert.ok(lines.includes(line), line);
  });
}

test("the commands and the configuration of the README are those of the pages", () => {
  const codeOf = (page, wanted, text) =>
    blocksOf(textOf(page)).find(({ language, code }) => language === wanted && code.includes(text)).code;
  const commands = codeOf("README.md", "sh", "frazil ddl");
  assert.equal(commands, codeOf("docs/leases.md", "sh", "frazil ddl"));
  const { durable_objects, migrations } = JSON.parse(codeOf("docs/workers.md", "jsonc", "FRAZIL"));
  assert.deepEqual(JSON.parse(`{${codeOf("README.md", "jsonc", "FRAZIL")}}`), { durable_objects, migrations });
});

test("the README names the Node that the package needs", () => {
  const { engines } = JSON.parse(readFileSync(`${root}npm/frazil/package.json`, "utf8"));
  const [, of20, other] = /^\^(20\.\d+)\.0 \|\| >=(\d+\.\d+)\.0$/.exec(engines.node);
  assert.ok(textOf("README.md").includes(`Node must be ${of20}, ${other} or newer`));
});

test("the READMEs of the crates name the Rust that they need", () => {
  const [, version] = /^rust-version = "(.*)"$/m.exec(textOf("Cargo.toml"));
  for (const crate of ["core", "local"])
    assert.ok(textOf(`crates/${crate}/README.md`).includes(`\nRust ${version} or newer.`), crate);
});

/** The newest date that the workerd of wrangler 4.86.0 accepts, which npm installs on Node 20. */
const NEWEST_DATE_ON_NODE_20 = "2026-05-03";

test("the wrangler configurations to copy have one compatibility date, which starts on every Node that frazil supports", () => {
  const files = [...PAGES, "examples/url-shortener/wrangler.jsonc"];
  const dates = files.flatMap((file) =>
    [...textOf(file).matchAll(/"compatibility_date": "(.*?)"/g)].map(([, date]) => date),
  );
  assert.ok(dates.length >= 4, `${dates}`);
  assert.equal(new Set(dates).size, 1, `${dates}`);
  assert.ok(dates[0] <= NEWEST_DATE_ON_NODE_20, dates[0]);
});

test("the README names every subpath of the package", () => {
  const { exports } = JSON.parse(readFileSync(`${root}npm/frazil/package.json`, "utf8"));
  const readme = textOf("README.md");
  const subpaths = Object.keys(exports).filter((path) => !/^\.$|\.(wasm|json)$|^\.\/stores\//.test(path));
  assert.ok(subpaths.length >= 9, `${subpaths}`);
  for (const path of subpaths) assert.ok(readme.includes(`\`frazil${path.slice(1)}\``), path);
});

const documents = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "examples/url-shortener/README.md",
  ...readdirSync(`${root}docs`).map((name) => `docs/${name}`),
].filter((name) => name.endsWith(".md"));
for (const document of documents) {
  test(`the links of ${document} exist`, () => {
    for (const [, link] of readFileSync(`${root}${document}`, "utf8").matchAll(
      /\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g,
    )) {
      assert.ok(existsSync(join(root, dirname(document), link)), `${document} links to ${link}`);
    }
  });
}
