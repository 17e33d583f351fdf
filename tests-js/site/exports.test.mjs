// The reference has an entry with words for each export of each entry of the package, as the compiler lists them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { API, SymbolFlags } from "typescript/unstable/sync";
import { fileOf } from "./site.mjs";

const frazil = fileURLToPath(new URL("../../npm/frazil/", import.meta.url));
const { exports } = JSON.parse(readFileSync(`${frazil}package.json`, "utf8"));
const entries = Object.keys(exports)
  .filter((path) => !/\.(json|wasm)$/.test(path))
  .map((path) => path.slice(2));

let api;
let exportsOf;
before(() => {
  api = new API({ cwd: frazil });
  const [{ program, checker }] = api.updateSnapshot({ openProjects: [`${frazil}tsconfig.json`] }).getProjects();
  exportsOf = (entry) => {
    const file = program.getSourceFile(`${frazil}src/${entry === "" ? "" : `${entry}/`}index.ts`);
    const module = checker.getSymbolAtLocation(file);
    const isInternal = (symbol) => {
      const declared = (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
      return declared.getJsDocTags(checker).some(({ name }) => name === "internal");
    };
    const all = module === undefined ? [] : checker.getExportsOfModule(module);
    return all.filter((symbol) => !isInternal(symbol)).map(({ name }) => name);
  };
});
after(() => api?.close());

const read = (path) => readFileSync(fileOf(path), "utf8");
const pathOf = (entry) => `/reference/api/${entry.replaceAll("/", "-") || "frazil"}.html`;

/** The heading of an export on a page, with the element after it. */
const headingOf = (name, html) =>
  new RegExp(`<h2 id="${name}"[^>]*>.*?</h2>(?:<!--.*?-->)*(<\\w+[^>]*>)`, "s").exec(html);

/** Exports that a page neither explains nor links to the page that explains them; or that are explained without words. */
const missing = (names, html, path) =>
  names.filter((name) => {
    const [, link] = new RegExp(`<a href="([^"#]+)#${name}">`).exec(html) ?? [];
    const heading = headingOf(name, link === undefined ? html : read(new URL(link, `http://site${path}`).pathname));
    return heading === null || !/^<(p|ul)\b/.test(heading[1]);
  });

for (const entry of entries)
  test(`frazil/${entry}: each export has an entry in the reference`, () => {
    const names = exportsOf(entry);
    if (names.length === 0) return assert.equal(entry, "native");
    assert.deepEqual(missing(names, read(pathOf(entry)), pathOf(entry)), []);
    assert.ok(read("/reference/api.html").includes(`href=".${pathOf(entry).slice("/reference".length)}"`), entry);
  });

test("an export without an entry, and an entry without words are found", () => {
  const names = exportsOf("lease");
  assert.ok(names.length > 20, `${names}`);
  const path = pathOf("lease");
  const html = read(path);
  assert.deepEqual(missing(names, html.replace('<h2 id="lease"', '<h2 id="gone"'), path), ["lease"]);
  const silent = html.replace(/(<h2 id="LeaseStore".*?<\/h2>)<p>.*?<\/p>/s, "$1");
  assert.notEqual(silent, html);
  assert.deepEqual(missing(names, silent, path), ["LeaseStore"]);
});
