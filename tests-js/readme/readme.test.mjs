// Runs the programs of the README and other documents, which must print what the document says, and checks that links exist.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The programs of a document that are directly followed by their output. */
const programsOf = (document) =>
  [...readFileSync(`${root}${document}`, "utf8").matchAll(/```js\n((?:(?!```).)*)```\n\n```text\n(.*?)```/gs)].map(
    ([, program, output], at) => ({ name: `${document}, program ${at + 1}`, program, output }),
  );
const programs = ["README.md", "npm/frazil/npm-page.md", "docs/text.md", "docs/local.md"].map(programsOf);

test("every document has a program", () => assert.ok(programs.every(({ length }) => length >= 1)));

for (const { name, program, output } of programs.flat()) {
  test(`${name}, prints the output in the document`, () => {
    // Inside the workspace, so that `frazil` is found.
    const folder = mkdtempSync(join(root, "tests-js/readme/run-"));
    try {
      writeFileSync(join(folder, "program.mjs"), program);
      // The default directory of state files.
      const env = { ...process.env, XDG_STATE_HOME: join(folder, "state") };
      const printed = execFileSync(process.execPath, [join(folder, "program.mjs")], { encoding: "utf8", env });
      // IDs and times minted now differ each time, so only their shape is compared; everything else must be equal.
      const shape = (text) =>
        text
          .replaceAll(/\b[3-9]\d{17}n?\b/g, (id) => (id.endsWith("n") ? "<id>n" : "<id>"))
          .replaceAll(/\b20(2[6-9]|[3-9]\d)-\d\d-\d\dT[\d:.]+Z/g, "<now>");
      assert.equal(shape(printed), shape(output));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

/** What stands between a heading of the README and the next one. */
const sectionOf = (heading) => readFileSync(`${root}README.md`, "utf8").split(`\n### ${heading}\n`)[1].split("\n##")[0];

test("the Worker of the README is that of docs/workers.md, which tests-js/workers/page.test.mjs runs", () => {
  const [, config, worker] = /```jsonc\n(.*?)```.*```js\n(.*?)```/s.exec(sectionOf("Cloudflare Workers"));
  const page = readFileSync(`${root}docs/workers.md`, "utf8");
  assert.equal(worker, /```js\n(.*?)```/s.exec(page)[1]);
  const [, printed] = /```jsonc\n(.*?)```/s.exec(page);
  const { durable_objects, migrations } = JSON.parse(printed);
  assert.deepEqual(JSON.parse(`{${config}}`), { durable_objects, migrations });
});

test("the README names every subpath of the package", () => {
  const { exports } = JSON.parse(readFileSync(`${root}npm/frazil/package.json`, "utf8"));
  const readme = readFileSync(`${root}README.md`, "utf8");
  const subpaths = Object.keys(exports).filter((path) => !/^\.$|\.(wasm|json)$|^\.\/stores\//.test(path));
  assert.ok(subpaths.length >= 9, `${subpaths}`);
  for (const path of subpaths) assert.ok(readme.includes(`\`frazil${path.slice(1)}\``), path);
});

const documents = [
  "README.md",
  "CHANGELOG.md",
  "npm/frazil/npm-page.md",
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
