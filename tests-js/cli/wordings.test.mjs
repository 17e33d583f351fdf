// The command line translates the package's advice to programs into its own words. The messages are read from the sources, because many
// occur only on other kinds of machines.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { transformSync } from "esbuild";
import { Layout, Snowflake } from "frazil";
import { CALLS, root } from "./cli.mjs";

const source = (path) => readFileSync(join(root, path), "utf8");
const { code } = transformSync(source("npm/frazil/src/cli/wordings.ts"), { loader: "ts", format: "esm" });
const { WORDINGS, reworded } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

/** The texts of a source in Rust without its tests, each on one line. */
function textsOf(rust) {
  const lines = rust
    .split("#[cfg(test)]")[0]
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/\\\n\s*/g, "");
  const texts = [...lines.matchAll(/"((?:[^"\\]|\\.)*)"/gs)];
  return texts.map(([, text]) => text.replaceAll('\\"', '"').replace(/\{\{|\}\}/g, ([brace]) => brace));
}

const local = readdirSync(join(root, "crates/local/src"))
  .filter((name) => name.endsWith(".rs"))
  .flatMap((name) => textsOf(source(`crates/local/src/${name}`)));
const clockText = source("npm/frazil/src/core/clock-text.ts");
const [, inTests] = /IN_TESTS = "(.*)"/.exec(clockText);
const others = [
  clockText.replace(/\$\{IN_TESTS\}/g, inTests),
  source("npm/frazil/src/generated/rules.ts"),
  source("npm/frazil/src/base/package-rules.ts"),
  source("npm/frazil/src/generator/request.ts"),
  source("npm/frazil/src/stores/redis/options.ts"),
  source("npm/frazil/src/stores/kit/lease/requests.ts"),
];
test("each wording is for words of a message", () => {
  const thrown = [];
  for (const call of [
    () => Layout.named("seata").range(0, 1),
    () => new Snowflake({ layout: "twitter", node: { worker: 1 } }),
  ])
    assert.throws(call, ({ code, message, hint = "" }) => {
      thrown.push(message.replace(`${code}: `, ""), hint);
      return true;
    });
  // Each as the words of a call and of an error: a hint has the time of a retry before it.
  const lines = others.flatMap((text) => text.split("\n"));
  const messages = [...local, ...lines, ...lines.map((line) => line.replaceAll("\\n", " ")), ...thrown];
  for (const [words] of WORDINGS)
    assert.ok(
      messages.some((message) => words.test(message)),
      `no message has ${words}`,
    );
});

test("no message of state files tells a person to pass an option or to call a function", () => {
  // One is of localAsync(), which no command calls.
  const asking = local.filter((text) => CALLS.test(text) && !text.startsWith("Raise the limit of threads"));
  assert.ok(asking.length >= 12, `${asking.length} messages`);
  for (const text of asking) assert.doesNotMatch(reworded(text), CALLS);
});

test("no message of a state file that others may go on with offers another dir, where their IDs would repeat", () => {
  assert.ok(local.some((text) => /pass another node\./.test(text)));
  for (const text of local) assert.doesNotMatch(text, /another dir|dir on another (disk|one)/);
});

test("options are named as at the command line", () => {
  for (const [message, told] of [
    ["End that process, or pass another node", "End that process, or give another --node"],
    [
      "Free 128 KiB there, or pass another node, or a dir on another volume",
      "Free 128 KiB there, or give another --node, or a --dir on another volume",
    ],
    ["pass another node, and a dir on another volume", "give another --node, and a --dir on another volume"],
    ["Pass a shorter dir", "Give a shorter --dir"],
    ["pass another layout, or a later epochMs", "give another --layout, or a later --epoch"],
    ["node must be an integer, got 1024", "--node must be an integer, got 1024"],
    ["nodes.to must be an integer, got 2000", "--nodes: an end must be an integer, got 2000"],
    ["from must be Unix milliseconds, got 5", "--from must be Unix milliseconds, got 5"],
    ["from must not be after to, which is 1, got 2", "--from must not be after --to, got 2 and 1"],
    ["windowMaxMs must be an integer, got 0", "--window-max must be an integer, got 0"],
    ["epochMs must be an integer, got -1", "--epoch must be an integer, got -1"],
    ["epochMs must be an integer, got undefined", "epochMs in --layout must be an integer, got undefined"],
    ['nodeIdsFrom.cosId.namespace must be a name, got ""', '--node-ids-from: the name must be a name, got ""'],
    ["fields.node must be, got 5", "fields.node must be, got 5"],
    ["use another node id, or a node id of its own", "use another node id, or a node id of its own"],
  ])
    assert.equal(reworded(message), told);
});
