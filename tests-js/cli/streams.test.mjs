// Standard input and output: many IDs, wrong ones, and readers that stop reading.
import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Layout } from "frazil";
import { folder, frazil, hasScript, inTerminal, OPEN, shell } from "./cli.mjs";

const layout = Layout.named("default");
const FIRST = layout.minIdAt(Date.UTC(2026, 0, 1), {}) | (7n << 12n);
const idAt = (at) => FIRST + (BigInt(at >> 2) << 22n) + BigInt(at & 3);
const lineAt = (at) => {
  const { id, date, node, sequence } = layout.decode(idAt(at));
  return `${id} ${date.toISOString()} node=${node} sequence=${sequence}`;
};

/** Pieces of a text of many IDs that end in the middle of a line. */
function* manyIds(count) {
  let text = "";
  for (let at = 0; at < count; at++) {
    text += `${idAt(at)}\n`;
    if (text.length > 50_000) {
      yield text.slice(0, -7);
      text = text.slice(-7);
    }
  }
  yield text;
}

test("decode answers 200,000 lines of a pipe, each in its place", async () => {
  const { stdout, stderr, code } = await frazil(["decode"], { input: manyIds(200_000) });
  const lines = stdout.split("\n");
  assert.deepEqual([lines.length, lines.pop(), stderr, code], [200_001, "", "", 0]);
  for (let at = 0; at < 200_000; at += 997) assert.equal(lines[at], lineAt(at));
});

test("decode - reads a file, whatever its line ends, blank lines and quotes", async () => {
  const input = ` ${idAt(0)}\r\n\r\n\n"${idAt(1)}"\n${idAt(2)}`;
  writeFileSync(join(folder, "ids.txt"), input);
  const expected = [0, 1, 2].map((at) => `${lineAt(at)}\n`).join("");
  assert.deepEqual(await frazil(["decode", "-"], { input }), { stdout: expected, stderr: "", code: 0 });
  assert.deepEqual(await shell("frazil decode < ids.txt"), { stdout: expected, stderr: "", codes: [0] });
});

test("a line that is no ID is reported with its number, the others are answered, and the exit code is 1", async () => {
  const input = `${idAt(0)}\n12x\n\n${idAt(1)}\n-5\n${idAt(2)}\n`;
  for (const [args, answers] of [
    [["decode"], [0, 1, 2].map(lineAt)],
    [["decode", "--json"], [0, 1, 2].map((at) => JSON.stringify(layout.decode(idAt(at))))],
    [["convert", "--as", "decimal"], [0, 1, 2].map((at) => `${idAt(at)}`)],
  ]) {
    const { stdout, stderr, code } = await frazil(args, { input });
    assert.deepEqual([stdout, code], [`${answers.join("\n")}\n`, 1]);
    assert.match(
      stderr,
      /^frazil: line 2: INVALID_ID: id must .*, got "12x"\nfrazil: line 5: INVALID_ID: id must .*, got "-5"\n$/,
    );
  }
});

test("of several arguments, a wrong one is reported and the others are answered", async () => {
  const { stdout, stderr, code } = await frazil(["decode", "--json", `${idAt(0)}`, "12x", `${idAt(1)}`]);
  assert.deepEqual([stdout.split("\n").length, code], [3, 1]);
  assert.match(stderr, /^frazil: INVALID_ID: id must [^\n]*, got "12x"\n$/);
});

test("a line without an end does not fill the memory, and is one wrong line", async () => {
  function* zeros() {
    for (let at = 0; at < 2000; at++) yield "0".repeat(65_536);
    yield `\n${idAt(0)}\n`;
  }
  const env = { NODE_OPTIONS: "--max-old-space-size=64" };
  const { stdout, stderr, code } = await frazil(["decode"], { input: zeros(), env });
  assert.match(stderr, /^frazil: line 1: INVALID_ID: [^\n]*\n$/);
  assert.deepEqual([stdout, code], [`${lineAt(0)}\n`, 1]);
});

test("what is left out of a long line does not make it an ID, or a blank line", async () => {
  for (const long of [`${idAt(0)}${" ".repeat(60_000)}x`, `${" ".repeat(60_000)}${idAt(0)}`]) {
    const { stdout, stderr, code } = await frazil(["decode"], { input: [long, `\n${idAt(1)}\n`] });
    assert.match(stderr, /^frazil: line 1: INVALID_ID: [^\n]*\n$/);
    assert.deepEqual([stdout, code], [`${lineAt(1)}\n`, 1]);
  }
});

test("a million IDs do not fit into the memory that is enough to stream them", async () => {
  const env = { NODE_OPTIONS: "--max-old-space-size=16" };
  const { stdout, code } = await frazil(["convert", "--as", "base62"], { input: manyIds(1_000_000), env });
  assert.deepEqual([stdout.length, code], [12_000_000, 0]);
});

test("a reader that has seen enough ends a command quietly, with exit code 0", async () => {
  await shell("frazil next -n 7 -c 200000 > many.txt");
  for (const command of [
    "frazil decode < many.txt | head -1",
    "frazil decode --json < many.txt | head -1",
    "frazil next -n 7 -c 3000000 | head -1",
    "frazil layouts | true",
    "frazil help | true",
  ]) {
    const { stderr, codes } = await shell(command);
    assert.deepEqual([stderr, codes], ["", [0, 0]], command);
  }
  const { stdout, codes } = await shell("frazil decode < many.txt | sed -n 2q\\;1p");
  assert.deepEqual([stdout.split(" ").length, codes], [4, [0, 0]]);
});

test("an output that cannot be written is one line on standard error, and exit code 1", {
  skip: !existsSync("/dev/full") && "needs /dev/full",
}, async () => {
  await shell("frazil next -n 7 -c 100000 > many.txt");
  for (const command of [
    "frazil next -n 7 -c 1000000",
    "frazil decode 5",
    "frazil decode - < many.txt",
    "frazil convert 5 --as hex",
    "frazil range --from 2026-11-01 --to 2026-11-02",
    "frazil layouts",
    "frazil plan",
    "frazil doctor -n 7 --json",
    "frazil ddl postgres",
    "frazil help",
    "frazil --version",
  ]) {
    const { stderr, codes } = await shell(`${command} > /dev/full`);
    assert.match(stderr, /^frazil: cannot write the output: ENOSPC: [^\n]+\n$/, command);
    assert.deepEqual(codes, [1], command);
    assert.deepEqual((await shell(`${command} > /dev/full 2>&1`)).codes, [1], command);
  }
  // A refusal that cannot be told is still one.
  assert.deepEqual((await shell("frazil decode x 2> /dev/full")).codes, [1]);
});

test("an output of which only the beginning fits into a file is not taken for written", async () => {
  const whole = (await frazil(["help", "next"])).stdout;
  assert.ok(whole.length > 1024);
  for (const command of ["help next", "ddl postgres", "layouts"]) {
    const { stderr, codes } = await shell(`(ulimit -f 1; frazil ${command} > cut.txt)`);
    assert.match(stderr, /^frazil: cannot write the output: EFBIG: [^\n]+\n$/, command);
    assert.deepEqual([statSync(join(folder, "cut.txt")).size, codes], [1024, [1]], command);
  }
  await shell("frazil help next > whole.txt");
  assert.equal(readFileSync(join(folder, "whole.txt"), "utf8"), whole);
});

test("what one command prints, the next one reads", async () => {
  const { stdout, stderr, codes } = await shell(
    "frazil next -n 7 -c 3 --as base62 --json | frazil convert --from base62 --as hex | frazil decode --from hex --json",
  );
  assert.deepEqual([stderr, codes], ["", [0, 0, 0]]);
  const nodes = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).node);
  assert.deepEqual(nodes, [7, 7, 7]);
});

test("without an argument and without a line, decode says what it needs; - and an empty file are no mistake", async () => {
  for (const given of [{}, { input: "" }]) {
    const { stdout, stderr, code } = await frazil(["decode"], given);
    assert.deepEqual([stdout, code], ["", 2]);
    assert.match(
      stderr,
      /^frazil: decode needs an ID\nhint: npx frazil decode \d+ --layout discord, or one a line on standard input\n/,
    );
  }
  assert.deepEqual(await frazil(["decode", "-"], { input: "" }), { stdout: "", stderr: "", code: 0 });
  assert.deepEqual(await frazil(["decode"], { input: "\n" }), { stdout: "", stderr: "", code: 0 });
});

test("a standard input that is a directory is not taken for an empty one", async () => {
  for (const command of ["decode -", "decode", "convert - --as hex"]) {
    const { stdout, stderr, codes } = await shell(`frazil ${command} < .`);
    assert.deepEqual([stdout, codes], ["", [2]], command);
    assert.match(
      stderr,
      /^frazil: standard input is a directory, not a file or a pipe\nhint: npx frazil (decode|convert --as hex) - < FILE\n/,
    );
  }
  assert.deepEqual((await shell("frazil decode 5 --json < .")).codes, [0]);
});

test("commands that read no input do not wait for its end", async () => {
  for (const command of [
    "next -n 7",
    "layouts",
    "plan",
    "range --from 2026-11-01 --to 2026-11-02",
    "ddl redis",
    "help",
    "decode 5",
  ]) {
    const { code, stderr } = await frazil(command.split(" "), { input: OPEN });
    assert.deepEqual([stderr, code], ["", 0], command);
  }
});

test("in a terminal, decode does not wait for lines, and shows how far it is", {
  skip: !hasScript && "needs script",
}, async () => {
  const waiting = await inTerminal("frazil decode");
  assert.match(waiting.stdout, /decode needs an ID/);
  await shell("for i in 1 2 3 4 5 6; do frazil next -n 7 -c 400000; done > long.txt");
  const shown = await inTerminal("frazil decode --json < long.txt > decoded.txt");
  assert.match(shown.stdout, /[\d,]+ lines, [\d,]+ a second/);
  const quiet = await shell("frazil decode < long.txt > decoded.txt");
  assert.equal(quiet.stderr, "");
});

test("if nobody reads standard error, the answers and the exit code are as if somebody did", async () => {
  const middle = 20_000;
  const lines = Array.from({ length: 2 * middle }, (_, at) => `${idAt(at)}`);
  writeFileSync(join(folder, "one-bad.txt"), [...lines.slice(0, middle), "bad", ...lines.slice(middle)].join("\n"));
  // A pipe whose reader is gone before anything is written: that of `true`, which is waited for.
  const codeOf = async (command) => {
    const { stdout } = await shell(`exec 4> >(exec true); wait $!; ${command} 2>&4; echo $?`);
    return stdout;
  };
  assert.equal(await codeOf("frazil bogus"), "2\n");
  assert.equal(await codeOf("frazil decode x"), "1\n");
  assert.equal(await codeOf("frazil convert - --as hex < one-bad.txt > hex.txt"), "1\n");
  assert.equal(readFileSync(join(folder, "hex.txt"), "utf8").split("\n").length, 2 * middle + 1);
});

test("what was typed or read reaches the terminal without what a terminal acts on", async () => {
  const input = "\u009b31mred\u202e\u2028\n";
  for (const [args, given] of [
    [["decode", "-"], input],
    [["\x1b[31mfoo"], ""],
    [["next", "--\x1b[31mfoo"], ""],
    [["next", "\x1b[31mfoo"], ""],
    [["ddl", "\x1b]0;x\x07"], ""],
  ]) {
    const { stderr } = await frazil(args, { input: given });
    assert.doesNotMatch(stderr, /[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
    assert.match(stderr, /\\u\{(1b|9b)\}|\ufffd/);
  }
});
