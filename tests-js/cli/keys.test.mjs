// Keys: made, derived and named, from files and environment variables; never in an argument or an error.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { COMMANDS, folder, frazil, groupsOf, hasScript, inTerminal, root, shell, vectors } from "./cli.mjs";

/** Writes a key file and returns its name. */
function keyFile(name, text, mode = 0o600) {
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), mode);
  return name;
}

const FILES = vectors.keys.flatMap(({ name, text }) => ["--key-file", keyFile(`${name}.key`, `${text}\n`)]);
const lines = (text) => text.trimEnd().split("\n");

async function printed(...args) {
  const { stdout, stderr, code } = await frazil(args);
  assert.deepEqual([stderr, code], ["", 0], args.join(" "));
  return stdout;
}

test("key new prints another key each time, which other commands take", async () => {
  const keys = await Promise.all(Array.from({ length: 4 }, () => printed("key", "new")));
  assert.equal(new Set(keys).size, 4);
  for (const key of keys) {
    assert.match(key, /^frazilkey_[\dA-Za-z]{28}\n$/);
    assert.match(await printed("key", "fingerprint", "--key-file", keyFile("new.key", key)), /^[\da-f]{16}\n$/);
  }
});

test("the command of the page puts a key into a file that only its owner reads, and overwrites no key", async () => {
  const command = "(umask 077; set -C; npx frazil key new > id.key)";
  assert.ok(readFileSync(join(root, "docs/guides/public-ids.md"), "utf8").includes(command));
  const [read, ours] = [() => readFileSync(join(folder, "own.key"), "utf8"), command.replace("npx ", "")];
  assert.deepEqual((await shell(ours.replace("id.key", "own.key"))).stderr, "");
  assert.equal(statSync(join(folder, "own.key")).mode & 0o777, 0o600);
  const key = read();
  const { stderr, codes } = await shell(ours.replace("id.key", "own.key"));
  assert.deepEqual([read(), codes], [key, [1]], stderr);
});

test("key new and key derive warn if others may read the file that they go to", async () => {
  for (const command of ["key new", "key derive --kind usr --key-file a.key"]) {
    const { stderr, codes } = await shell(`umask 022; frazil ${command} > all.key`);
    assert.match(stderr, /^frazil: warning: others may read the file of the key \(mode 644\)\nhint: chmod 600 FILE\n$/);
    assert.deepEqual(codes, [0]);
    assert.equal((await shell(`umask 077; rm all.key; frazil ${command} > all.key; rm all.key`)).stderr, "");
  }
});

test("key new says on a terminal where to put the key, on standard error alone", {
  skip: !hasScript && "needs script",
}, async () => {
  const { stdout } = await inTerminal("frazil key new 2> told.txt");
  assert.match(stdout, /^frazilkey_\w{28}\r\n$/);
  const told = readFileSync(join(folder, "told.txt"), "utf8");
  assert.match(told, /^frazil: keep it as a password, .*\nhint: .*npx frazil key new > id\.key/);
  assert.doesNotMatch(told, /frazilkey_/);
});

test("key derive and key fingerprint print what Python's cryptography gives, for each key in its order", async () => {
  const fingerprints = await printed("key", "fingerprint", ...FILES);
  assert.deepEqual(
    lines(fingerprints),
    vectors.keys.map(({ fingerprint }) => fingerprint),
  );
  const derived = groupsOf(vectors.derived, "label", "kind").filter(([{ kind }]) => kind !== "");
  assert.equal(derived.length, 12);
  for (const rows of derived) {
    const [{ label, kind }] = rows;
    const flags = label === "frazil sealed" ? [] : ["--form", "short"];
    assert.deepEqual(
      lines(await printed("key", "derive", "--kind", kind, ...flags, ...FILES)),
      rows.map((row) => row.derived),
      `${label}, ${kind}`,
    );
  }
});

test("a key may come from an environment variable, and a file may end with or without a line end of either kind", async () => {
  const [{ text, fingerprint }] = vectors.keys;
  const env = { MY_KEY: text };
  const { stdout } = await frazil(["key", "fingerprint", "--key-env", "MY_KEY"], { env });
  assert.equal(stdout, `${fingerprint}\n`);
  for (const end of ["", "\n", "\r\n"])
    assert.equal(await printed("key", "fingerprint", "--key-file", keyFile("end.key", text + end)), stdout);
  // Of a secret manager, for example.
  const piped = await shell(`frazil key fingerprint --key-file <(echo ${text})`);
  assert.deepEqual([piped.stdout, piped.stderr], [stdout, ""]);
});

test("what is no key is refused with its place, and without its text", async () => {
  const texts = vectors.refusedKeys
    .filter(({ jsOnly, text }) => !jsOnly && !text.endsWith("\n"))
    .map(({ text }) => text);
  texts.push(...vectors.refusedKeys.filter(({ text }) => `${text}`.endsWith("\n")).map(({ text }) => `${text}\n`));
  texts.push("\n", "secret".repeat(1000), `${vectors.keys[0].text}\n\n`, `${vectors.keys[0].text} # secret`);
  assert.ok(texts.length > 50);
  for (const text of texts) {
    const { stdout, stderr, code } = await frazil(["key", "fingerprint", "--key-file", keyFile("no.key", text)]);
    assert.deepEqual([stdout, code], ["", 1], JSON.stringify(text));
    assert.match(stderr, /^frazil: INVALID_OPTION: no\.key: key must [^\n]*\n(hint: [^\n]*\n)?$/);
    const secret = text.replace(/^frazilkey_/, "").trim();
    assert.ok(secret.length < 10 || !stderr.includes(secret.slice(0, 10)), stderr);
  }
  const named = ["key", "fingerprint", "--key-env", "ID_KEY", "--key-env", "BAD"];
  const { stdout, stderr, code } = await frazil(named, { env: { BAD: "secret" } });
  assert.deepEqual([stdout, code], ["", 1]);
  assert.match(stderr, /^frazil: INVALID_OPTION: \$BAD: key must /);
});

test("a key file that others may read is warned of, and read", async () => {
  const [{ text, fingerprint }] = vectors.keys;
  for (const [mode, isWarned] of [
    [0o400, false],
    [0o600, false],
    [0o640, true],
    [0o604, true],
    [0o644, true],
    [0o622, false],
  ]) {
    const { stdout, stderr, code } = await frazil(["key", "fingerprint", "--key-file", keyFile("m.key", text, mode)]);
    assert.deepEqual([stdout, code], [`${fingerprint}\n`, 0]);
    const warning = `frazil: warning: others may read m.key (mode ${mode.toString(8)})\nhint: chmod 600 m.key\n`;
    assert.equal(stderr, isWarned ? warning : "");
  }
});

test("a file that cannot be read is a refusal with the reason of the system", async () => {
  mkdirSync(join(folder, "a-folder"));
  for (const [path, reason] of [
    ["missing.key", "ENOENT"],
    ["a-folder", "EISDIR"],
  ]) {
    const { stdout, stderr, code } = await frazil(["key", "fingerprint", "--key-file", path]);
    assert.deepEqual([stdout, code, stderr.includes(reason)], ["", 1, true], stderr);
  }
  // It has no end, and no more than a key is read of it.
  assert.equal((await frazil(["key", "fingerprint", "--key-file", "/dev/zero"])).code, 1);
});

test("a key that is given as an argument, or in the place of an ID, is not shown", async () => {
  const [{ text }] = vectors.keys;
  for (const key of [text, `${text}=`, text.slice(0, 20)])
    for (const args of [
      [key],
      [`--${key}`],
      ...COMMANDS.flatMap((command) => [
        [command, key],
        [command, key, "-"],
        [command, "--key-file", key],
        [command, `--key-env=${key}`],
        [command, "--kind", key],
        [command, "--layout", key],
      ]),
      ["key", "fingerprint", "--key-file", key],
      ["key", "derive", "--kind", "usr", "--key-env", key],
      ["key", "derive", "--kind", key, "--key-file", "id.key"],
      ["key", "derive", "--kind", "usr", "--form", key, "--key-file", "id.key"],
      ["open", key, "--key-file", "id.key"],
      ["open", `usr_${key}`, "--key-file", "id.key"],
      ["open", "--column", key, "--key-file", "id.key", "-"],
      ["seal", key, "--kind", "usr", "--key-file", "id.key"],
      ["seal", "5", "--kind", key, "--key-file", "id.key"],
    ]) {
      const { stdout, stderr } = await frazil(args);
      assert.doesNotMatch(stdout + stderr, new RegExp(key.slice(10, 18)), args.join(" "));
    }
});

test("a key that is given in the place of its file is told to be seen by others, and a file of such a name is none", async () => {
  const [{ text }] = vectors.keys;
  for (const given of [text, `ID_KEY=${text}`, text.toUpperCase(), text.slice(0, -5)]) {
    const told = await frazil(["seal", "5", "--kind", "usr", "--key-file", given]);
    assert.match(told.stderr, /a key was given as an argument, .*\nhint: Make a new one: npx frazil key new/);
    assert.equal(told.code, 2);
  }
  const file = keyFile("frazilkey_production", text);
  assert.equal((await frazil(["key", "fingerprint", "--key-file", file])).code, 0);
});
