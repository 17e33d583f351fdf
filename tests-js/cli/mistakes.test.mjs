// The help, and the messages for wrong input. The texts are snapshots: `node tests-js/cli/snapshot.mjs --update`.
import assert from "node:assert/strict";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, frazil, hasAddon, shell } from "./cli.mjs";
import { argumentsOf, COMMAND_LINES, FILE, snapshot } from "./snapshot.mjs";

test("the help and the answers to mistakes equal the snapshot", async () => {
  const update = "if the change is intended: node tests-js/cli/snapshot.mjs --update";
  assert.equal(await snapshot(), readFileSync(FILE, "utf8"), update);
});

test("a mistake has the exit code 2, prints nothing to standard output, and says where the help is", async () => {
  for (const line of COMMAND_LINES.mistakes) {
    const { stdout, stderr, code } = await frazil(argumentsOf(line));
    assert.deepEqual([stdout, code], ["", 2], line);
    assert.match(
      stderr,
      /^frazil: [^\n]+\n(hint: [^\n]+\n)?npx frazil (help \w+|--help) shows what can be done\.\n$/,
      line,
    );
  }
});

test("a refusal has the exit code 1, and prints nothing to standard output", async () => {
  for (const line of COMMAND_LINES.refusals) {
    const { stdout, stderr, code } = await frazil(argumentsOf(line));
    assert.deepEqual([stdout, code], ["", 1], line);
    assert.match(stderr, /^frazil: [A-Z_]+: [^\n]+\n(hint: [^\n]+\n)?$/, line);
  }
});

test("an argument that is no ID, and no path either, is refused as an ID", async () => {
  const loop = join(folder, "loop");
  symlinkSync(loop, loop);
  for (const text of ["-".padStart(300, "a"), loop]) {
    const { stderr, code } = await frazil(["decode", text]);
    assert.deepEqual([stderr.split(": ")[1], code], ["INVALID_ID", 1], stderr);
  }
});

test("no password of a URL is shown, wherever the URL stands and however long it is", async () => {
  for (const url of [
    "postgres://user:secret@host/db",
    "redis://:secret/@secret@host",
    "https://secret@host",
    `mysql://user:secret${"s".repeat(80)}@host`,
  ])
    for (const args of [
      ["fence", url],
      ["ddl", url],
      ["decode", url],
      ["plan", url],
      [url],
      [`--${url}`],
      ["next", "--layout", url],
      ["next", "--node", url],
      ["next", "--count", url],
      ["range", "--from", url],
      ["convert", "--as", url, "5"],
      ["next", "--dir", url, "--dir", url],
    ]) {
      const { stdout, stderr, code } = await frazil(args);
      assert.notEqual(code, 0, stderr);
      assert.doesNotMatch(stdout + stderr, /secret/, args.join(" "));
    }
});

test("an argument that is long or has a line break is in quotes, and cut", async () => {
  for (const text of ["a".repeat(3000), "a\nhint: b", "a b"])
    for (const args of [["fence", text], ["ddl", text], ["plan", text], [text], ["next", "-n", "1", "-n", text]]) {
      const { stderr } = await frazil(args);
      assert.match(stderr, /^frazil: .*"(a{64}…|a\\nhint: b|a b)".*$/m, args.join(" "));
      assert.ok(stderr.length < 400, stderr);
    }
});

/** The command lines that a text suggests. What follows one begins with a comma, a bracket, a full stop or a verb. */
const suggestedIn = (text) =>
  [...text.matchAll(/((?:cat ids\.txt \| )?)npx (frazil .+?)(?= shows | mints |, | \(|\. |$)/gm)].map(
    ([, before, command]) => before + command,
  );

test("each command line that is suggested runs, prints something, and has the exit code 0", {
  skip: !hasAddon && "needs the native addon",
}, async () => {
  const suggested = new Set(["frazil help decode"]);
  for (const line of [...COMMAND_LINES.mistakes, ...COMMAND_LINES.refusals, "help"]) {
    const { stdout, stderr } = await frazil(argumentsOf(line));
    for (const command of suggestedIn(stdout + stderr)) suggested.add(command);
  }
  for (const wanted of [
    "frazil plan --layout twitter",
    "frazil next --count 5",
    "frazil next --count 50",
    "frazil decode --from hex 1565a11f6217a000",
    "frazil decode --layout twitter --epoch 2010-11-04 --from base62 1ptWyK4WgZU",
    "frazil decode - < ids.txt",
    "frazil convert --from base62 1ptWyK4WgZU",
    "frazil decode --layout twitter 1541815603606036480",
    "frazil range --from 2026-11-01 --to 2026-12-01",
  ])
    assert.ok(suggested.has(wanted), `${wanted} is not one of:\n${[...suggested].join("\n")}`);
  for (const command of suggested) {
    const concrete = command.replace("COMMAND", "decode").replace("FILE", "ids.txt");
    const { stdout, stderr, codes } = await shell(concrete);
    assert.deepEqual([stdout === "", stderr, codes.every((code) => code === 0)], [false, "", true], command);
  }
});

test("an option that is given twice is refused by name, unless the help says that it may be repeated", async () => {
  const { stdout: help } = await frazil(["help", "ddl"]);
  assert.match(help, /--tag NAME .*Repeat it for more/);
  const tags = await frazil(["ddl", "postgres", "--tag", "a", "--tag", "b"]);
  assert.deepEqual([tags.stderr, tags.code], ["", 0]);
  for (const [args, told] of [
    [["next", "--node", "1", "--node", "2"], "--node is given twice, as 1 and as 2"],
    [["next", "-n", "1", "--node=1"], "--node is given twice, as 1 and as 1"],
    [["decode", "5", "-l", "twitter", "--layout", "discord"], "--layout is given twice, as twitter and as discord"],
    [["layouts", "--json", "--json"], "--json is given twice"],
  ]) {
    const { stdout, stderr, code } = await frazil(args);
    assert.deepEqual([stdout, stderr.split("\nhint: Give it once.\n")[0], code], ["", `frazil: ${told}`, 2]);
  }
});

test("people who expect how many in -n, -c or an argument are told of --count", async () => {
  for (const args of [["help"], ["next", "--help"]]) assert.match((await frazil(args)).stdout, /--count/, args[0]);
  assert.match((await frazil(["next", "--help"])).stdout, /-n is the node id, not how many/);
  for (const args of [["5"], ["-5"], ["-c"], ["-n", "5000"]])
    assert.match((await frazil(["next", ...args])).stderr, /--count/, args.join(" "));
});

test("no line of the help is too wide for a terminal of 125 columns", async () => {
  for (const line of COMMAND_LINES.help) {
    const { stdout } = await frazil(argumentsOf(line));
    assert.deepEqual(
      stdout.split("\n").filter((text) => text.length > 125),
      [],
      line,
    );
  }
});

test("the help of a command is the same however it is asked for, and so is the version", async () => {
  const { stdout: help } = await frazil(["help", "decode"]);
  assert.match(help, /^npx frazil decode /);
  for (const args of [
    ["decode", "--help"],
    ["decode", "-h"],
    ["--help", "decode"],
    ["decode", "5", "--help"],
    ["decode", "--node", "7", "--help"],
  ])
    assert.deepEqual(await frazil(args), { stdout: help, stderr: "", code: 0 }, args.join(" "));
  const all = await frazil([]);
  for (const args of [["help"], ["--help"], ["-h"], ["help", "help"]]) assert.deepEqual(await frazil(args), all);
  const version = await frazil(["--version"]);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\S*\n$/);
  for (const args of [["-v"], ["next", "--version"]]) assert.deepEqual(await frazil(args), version);
});
