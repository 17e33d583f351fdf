// The programs of the README and of other documents run, and print what the document says; links lead somewhere.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The programs of a document that stand right before their output. */
const programsOf = (document) =>
  [...readFileSync(`${root}${document}`, "utf8").matchAll(/```js\n(.*?)```\n\n```text\n(.*?)```/gs)].map(
    ([, program, output], at) => ({ name: `${document}, program ${at + 1}`, program, output }),
  );
const programs = ["README.md", "docs/text.md", "docs/local.md"].map(programsOf);

test("there are programs to run", () => assert.ok(programs.every(({ length }) => length >= 1)));

for (const { name, program, output } of programs.flat()) {
  test(`${name}, prints what it says`, () => {
    // Inside the workspace, so that `frazil` is found.
    const folder = mkdtempSync(join(root, "tests-js/readme/run-"));
    try {
      writeFileSync(join(folder, "program.mjs"), program);
      // Where state files go by default.
      const env = { ...process.env, XDG_STATE_HOME: join(folder, "state") };
      const printed = execFileSync(process.execPath, [join(folder, "program.mjs")], { encoding: "utf8", env });
      // IDs and times minted now are new each time: their shape is compared, everything else to the letter.
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

const documents = ["README.md", "CHANGELOG.md", ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)].filter(
  (name) => name.endsWith(".md"),
);
for (const document of documents) {
  test(`the links of ${document} lead somewhere`, () => {
    for (const [, link] of readFileSync(`${root}${document}`, "utf8").matchAll(
      /\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g,
    )) {
      assert.ok(existsSync(join(root, dirname(document), link)), `${document} links to ${link}`);
    }
  });
}
