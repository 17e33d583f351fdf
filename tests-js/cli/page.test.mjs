// The command lines of docs/reference/cli.md give the output on the page.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { COMMANDS, folder, hasAddon, root, shell } from "./cli.mjs";

const page = readFileSync(join(root, "docs/reference/cli.md"), "utf8");
const blocks = [...page.matchAll(/```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs)].map(([, lines, text]) => ({
  lines: lines.trimEnd().split("\n"),
  text,
}));

writeFileSync(join(folder, "ids.txt"), "1541815603606036480\n");
writeFileSync(join(folder, "app.log"), "order 1541815603606036480 placed\n");

test("the page has the command lines of every command but ddl, fence, layouts and plan, which print their own text", () => {
  const used = new Set(blocks.flatMap(({ lines }) => lines.map((line) => /npx frazil (\w+)/.exec(line)[1])));
  assert.deepEqual([...used].sort(), ["audit", "convert", "decode", "doctor", "key", "next", "open", "range", "seal"]);
  assert.equal(blocks.filter(({ text }) => text !== undefined).length, 3);
});

/** Without what differs on each machine: what follows the names of the rows. */
const rowsOf = (text) => text.replaceAll(/^( *\S.*?) {2,}.*$/gm, "$1");

for (const { lines, text } of blocks) {
  test(`${lines[0]}, and those below it`, { skip: !hasAddon && "needs the native addon" }, async () => {
    const printed = [];
    for (const line of lines) {
      const [command, comment = ""] = line.split(/ +# /);
      const { stdout, stderr, codes } = await shell(command.replace("npx frazil", "frazil"));
      assert.deepEqual([stderr, codes.every((code) => code === 0)], ["", true], line);
      if (/^\w{8,}$/.test(comment)) assert.equal(stdout, `${comment}\n`, line);
      printed.push(stdout);
    }
    if (text === undefined) return;
    const isDoctor = lines[0].includes("doctor");
    const shown = isDoctor ? printed.map(rowsOf) : printed;
    assert.ok(shown.includes(isDoctor ? rowsOf(text) : text), printed.join("\n"));
  });
}

test("each example of the help runs, and prints what stands beside it", {
  skip: !hasAddon && "needs the native addon",
}, async () => {
  const { stdout: help } = await shell(`for c in ${COMMANDS.join(" ")}; do frazil help $c; done`);
  const examples = [...help.matchAll(/^ {2}npx (frazil .*?)(?: {2,}(.*))?$/gm)];
  assert.ok(examples.length >= 15, `${examples.length}`);
  for (const [, command, does = ""] of examples) {
    const { stdout, stderr, codes } = await shell(command);
    assert.deepEqual([stderr, codes, stdout === ""], ["", [0], false], command);
    if (/^\w{8,}$/.test(does)) assert.equal(stdout, `${does}\n`, command);
  }
});

test("each command of docs/guides/public-ids.md runs, and prints one line", async () => {
  const guide = readFileSync(join(root, "docs/guides/public-ids.md"), "utf8");
  const commands = new Set(Array.from(guide.matchAll(/npx (frazil key [^`\n>]+)/g), ([, command]) => command.trim()));
  assert.deepEqual([...commands].map((command) => command.split(" ")[2]).sort(), ["derive", "fingerprint", "new"]);
  for (const command of commands) {
    const { stdout, stderr, codes } = await shell(command);
    assert.deepEqual([/^\w+\n$/.test(stdout), stderr, codes], [true, "", [0]], command);
  }
});
