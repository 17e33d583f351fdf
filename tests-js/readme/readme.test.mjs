// The README's programs run, and print what the README says; links between the documents lead somewhere.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(`${root}README.md`, "utf8");

/** The program of a document that stands right before its output. */
const programs = [...readme.matchAll(/```js\n(.*?)```\n\n```text\n(.*?)```/gs)].map(([, program, output]) => ({
  program,
  output,
}));

test("there are programs to run", () => assert.ok(programs.length >= 1));

for (const { program, output } of programs) {
  test(`the README's program ${JSON.stringify(program.split("\n")[0])} prints what it says`, () => {
    // Inside the workspace, so that `frazil` is found.
    const folder = mkdtempSync(join(root, "tests-js/readme/run-"));
    try {
      writeFileSync(join(folder, "program.mjs"), program);
      const printed = execFileSync(process.execPath, [join(folder, "program.mjs")], { encoding: "utf8" });
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
