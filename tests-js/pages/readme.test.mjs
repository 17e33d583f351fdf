// Runs the programs of the README and other documents, which must print the documented output.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { blocksOf, PAGES, printed, programsOf, programsWithoutServer, root, shapeOf, textOf } from "./examples.mjs";

const folder = fileURLToPath(new URL("./", import.meta.url));
const pages = PAGES.map((page) => ({ page, programs: programsWithoutServer(page) })).filter(
  ({ programs }) => programs.length > 0,
);

test("there are pages with programs", () => {
  const names = pages.map(({ page }) => page);
  for (const page of ["README.md", "docs/start.md", "docs/guides/deploying.md", "docs/guides/json.md"])
    assert.ok(names.includes(page), page);
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
  ["frazil/lease", "docs/guides/leases.md", "tests-js/stores/first-minute.test.mjs"],
  ["frazil/workers", "docs/guides/workers.md", "tests-js/workers/page.test.mjs"],
]) {
  test(`the lines of docs/start.md for ${specifier} are those of ${page}, which ${by} runs`, () => {
    const uses = ({ code }) => code.includes(`"${specifier}"`);
    const [{ code }] = programsOf(textOf("docs/start.md")).filter(uses);
    const [whole] = programsOf(textOf(page)).filter(uses);
    const lines = linesOf(whole.code);
    for (const line of linesOf(code)) assert.ok(lines.includes(line), line);
  });
}

test("the lines of the four ways on docs/index.md are those of docs/start.md", () => {
  const start = programsOf(textOf("docs/start.md")).flatMap(({ code }) => linesOf(code).map((line) => line.trim()));
  const ways = programsOf(textOf("docs/index.md"));
  assert.equal(ways.length, 4);
  for (const line of ways.flatMap(({ code }) => linesOf(code))) assert.ok(start.includes(line), line);
});

test("the commands and the configuration of docs/start.md are those of the guides", () => {
  const codeOf = (page, wanted, text) =>
    blocksOf(textOf(page)).find(({ language, code }) => language === wanted && code.includes(text)).code;
  const commands = codeOf("docs/start.md", "sh", "frazil ddl");
  assert.equal(commands, codeOf("docs/guides/leases.md", "sh", "frazil ddl"));
  const { durable_objects, migrations } = JSON.parse(codeOf("docs/guides/workers.md", "jsonc", "FRAZIL"));
  assert.deepEqual(JSON.parse(`{${codeOf("docs/start.md", "jsonc", "FRAZIL")}}`), { durable_objects, migrations });
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

test("the README has the four ways to a node id, and docs/start.md the code of each", () => {
  const text = textOf("README.md");
  for (const way of [
    "Snowflake.local()",
    "await lease(store)",
    "await leased(env.FRAZIL, ctx)",
    "new Snowflake({ node })",
  ])
    assert.ok(text.includes(`\`${way}\``), way);
  const code = programsOf(textOf("docs/start.md"))
    .map(({ code }) => code)
    .join("");
  for (const call of [
    "Snowflake.local()",
    "await lease(",
    "await leased(",
    "new Snowflake({ node: process.env.NODE_ID })",
  ])
    assert.ok(code.includes(call), call);
});

test("the first program of docs/start.md is that of the README", () => {
  const [first, start] = ["README.md", "docs/start.md"].map((page) => programsOf(textOf(page))[0].code);
  assert.equal(start, first);
});
