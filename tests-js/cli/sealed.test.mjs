// `seal` and `open`: arguments, lines, and a column of rows.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, frazil, groupsOf, shell, vectors } from "./cli.mjs";

for (const { name, text } of vectors.keys) writeFileSync(join(folder, `${name}.key`), `${text}\n`, { mode: 0o600 });

const [ID, TEXT] = ["382138004275228672", "0LrCR3y82ZiHd1GYZNR3XN"];
const KEY = ["--key-file", "id.key"];
const OPEN = ["open", ...KEY];

/** What is printed for arguments and lines. */
async function printed(args, input) {
  const { stdout, stderr, code } = await frazil(args, { input });
  assert.deepEqual([stderr, code], ["", 0], args.join(" "));
  return stdout;
}

test("seal and open give the answers of the vectors, for each key, kind and layout", async () => {
  const groups = groupsOf(vectors.sealed, "key", "kind", "layout");
  assert.ok(groups.length > 25);
  for (const cases of groups) {
    const [{ key, kind, layout }] = cases;
    const flags = ["--key-file", `${key}.key`, "--kind", kind, "-l", layout];
    const [ids, texts] = ["id", "text"].map((field) => cases.map((each) => `${each[field]}\n`).join(""));
    assert.equal(await printed(["seal", ...flags], ids), texts, `${key}, ${kind}, ${layout}`);
    assert.equal(await printed(["open", ...flags], texts), ids, `${key}, ${kind}, ${layout}`);
  }
});

test("a text that does not open is refused as in the vectors", async () => {
  const refused = vectors.refusedSealed.filter(({ text, why }) => why !== "length" && !/[\p{C}\s"_]/u.test(text));
  assert.ok(refused.length > 100);
  for (const cases of groupsOf(refused, "keys", "kind", "layout")) {
    const [{ keys, kind, layout }] = cases;
    const flags = [...keys.flatMap((key) => ["--key-file", `${key}.key`]), "--kind", kind, "-l", layout];
    const input = cases.map(({ text }) => `${text}\n`).join("");
    const { stdout, stderr, code } = await frazil(["open", ...flags], { input });
    assert.deepEqual([stdout, code], ["", 1], stderr);
    const told = stderr.split("\n").map((line) => /^frazil: line (\d+): INVALID_TEXT: /.exec(line)?.[1]);
    assert.deepEqual(told, [...cases.map((_, at) => `${at + 1}`), undefined]);
  }
});

test("a text with a prefix opens with the key of that kind, and several kinds may be mixed", async () => {
  const usr = (await printed(["seal", "1", "2", "--kind", "usr", ...KEY])).trim().split("\n");
  const [order] = (await printed(["seal", "3", "--kind", "my_order", ...KEY])).trim().split("\n");
  const mixed = [`usr_${usr[0]}`, `my_order_${order}`, `usr_${usr[1]}`];
  assert.equal(await printed([...OPEN, ...mixed]), "1\n3\n2\n");
  assert.equal(await printed([...OPEN, "--kind", "usr", usr[0], mixed[2]]), "1\n2\n");
  for (const [text, ...flags] of [
    [`usr_${order}`],
    [`org_${usr[0]}`],
    [usr[0]],
    [mixed[0], "--kind", "org"],
    [`_${usr[0]}`],
  ])
    assert.deepEqual([(await frazil([...OPEN, text, ...flags])).code, text], [1, text]);
});

test("the first key seals, and each one opens", async () => {
  const keys = ["c", "b", "a"].flatMap((name) => ["--key-file", `${name}.key`]);
  const rotated = vectors.rotated.filter(({ form }) => form === "sealed");
  assert.equal(rotated.length, 3);
  for (const { kind, text, id } of rotated)
    assert.equal(await printed(["open", "--kind", kind, ...keys, text]), `${id}\n`);
  const sealed = vectors.sealed.find((each) => each.key === "c" && each.kind === "user" && each.layout === "default");
  assert.equal(await printed(["seal", "--kind", "user", ...keys, sealed.id]), `${sealed.text}\n`);
});

test("an ID outside the layout is refused, and the n of a bigint is not", async () => {
  const seal = ["seal", "--kind", "usr", ...KEY];
  assert.equal(await printed([...seal, `${ID}n`]), `${TEXT}\n`);
  for (const [id, layout] of [
    [2n ** 63n, "default"],
    [2n ** 53n, "safe53"],
    [2n ** 64n, "mastodon"],
  ]) {
    const { stderr, code } = await frazil([...seal, "-l", layout, `${id}`]);
    assert.deepEqual([code, stderr.split(": ")[1]], [1, "INVALID_ID"], layout);
    await printed([...seal, "-l", layout, `${id - 1n}`]);
  }
});

test("of several arguments or lines, a wrong one is reported and the others are answered", async () => {
  for (const [args, input, told] of [
    [[...OPEN, `usr_${TEXT}`, "usr_x", `usr_${TEXT}`], undefined, /^frazil: INVALID_TEXT: .*\n/],
    [OPEN, `usr_${TEXT}\r\n\n"usr_x"\n"usr_${TEXT}"`, /^frazil: line 3: INVALID_TEXT: .*\n$/],
  ]) {
    const { stdout, stderr, code } = await frazil(args, { input });
    assert.deepEqual([stdout, code], [`${ID}\n${ID}\n`, 1]);
    assert.match(stderr, told);
  }
});

test("decode and convert name the command that reads a text with a prefix", async () => {
  for (const [text, hint] of [
    [`usr_${TEXT}`, `It may be sealed: npx frazil open usr_${TEXT} --key-file PATH`],
    ["usr_1ptWyK4WgZU", "It may be a typed ID: npx frazil decode --from base62 1ptWyK4WgZU"],
  ]) {
    const { stderr, code } = await frazil(["decode", text]);
    assert.deepEqual([code, stderr.split("\nhint: ")[1]], [1, `${hint}\n`]);
  }
});

test("--column replaces one column of CSV or of columns between tabs, and nothing else", async () => {
  const text = `usr_${TEXT}`;
  for (const [column, input, expected] of [
    ["user", `at,user,note\n1,${text},x\n\n2,,y\n`, `at,user,note\n1,${ID},x\n2,,y\n`],
    ["2", `1,${text},x\n2, ${text} ,\n`, `1,${ID},x\n2, ${ID} ,\n`],
    ["user", `note;user\r\n"a;b";${text}\r\n`, `note;user\r\n"a;b";${ID}\r\n`],
    ["1", `${text}\n`, `${ID}\n`],
    // With a mark of UTF-8, which reading the output here drops.
    ["user", `\ufeff"user","note"\n"${text}","a ""b"", c"\n`, `"user","note"\n"${ID}","a ""b"", c"\n`],
    ["user", `note,user\n"of two\n\nlines, ""x""",${text}\n`, `note,user\n"of two\n\nlines, ""x""",${ID}\n`],
    ["3", `\t"a\t${text}\tb,c\n`, `\t"a\t${ID}\tb,c\n`],
    ["1", `${text},5" pipe,"a"b\n${text},,\n`, `${ID},5" pipe,"a"b\n${ID},,\n`],
    // The separator is the one outside quotes, with which a cell begins.
    ["1", `${text},"a\tb;c"\n`, `${ID},"a\tb;c"\n`],
    ["2", `"Doe, ""J""";${text}\n`, `"Doe, ""J""";${ID}\n`],
    ["user", `"name, first";user\nx;${text}\n`, `"name, first";user\nx;${ID}\n`],
    ["2", `5"\t${text}\t6"\n`, `5"\t${ID}\t6"\n`],
    ["user", `note\tuser\n\t\nx\t${text}\n`, `note\tuser\n\t\nx\t${ID}\n`],
    ["user", "user,note\n", "user,note\n"],
    ["user", "", ""],
  ])
    assert.equal(await printed([...OPEN, "--column", column, "-"], input), expected, JSON.stringify(input));
  assert.equal(
    await printed(["seal", "--kind", "usr", ...KEY, "--column", "id", "-"], `id,x\n${ID},1\n`),
    `id,x\n${TEXT},1\n`,
  );
});

test("--column keeps the bytes of the other columns in any encoding, and names in UTF-8 are found", async () => {
  // Of windows-1252, UTF-8, Shift JIS, and of no text.
  const notes = ["M\\xfcller", "M\\xc3\\xbcller\\xc2\\xa0", "\\x83\\x5c", "\\x00\\xff\\xed\\xa0\\x80"];
  for (const note of notes) {
    const row = (cell) => `printf '\\xef\\xbb\\xbfna\\xc3\\xafve,note\\n${cell},${note}\\n'`;
    const [opened, wanted] = [`frazil open --key-file id.key --column naïve`, "od -An -tx1"];
    const { stdout, stderr } = await shell(`${row(`usr_${TEXT}`)} | ${opened} | ${wanted}; ${row(ID)} | ${wanted}`);
    assert.equal(stderr, "");
    const [half, rest] = [stdout.slice(0, stdout.length / 2), stdout.slice(stdout.length / 2)];
    assert.equal(half, rest, note);
  }
  const { stdout, stderr } = await frazil([...OPEN, "--column", "1"], { input: "usr_naïve\n" });
  assert.equal(stdout, "");
  assert.match(stderr, /got "naïve"/);
});

test("--column reports rows without the column or with a wrong text, and answers the others", async () => {
  const input = `a,user\n1\n2,usr_${TEXT}\n3,bad\n4,"usr_${TEXT}"\n5,"open\n`;
  const { stdout, stderr, code } = await frazil([...OPEN, "--column", "user"], { input });
  assert.deepEqual([stdout, code], [`a,user\n2,${ID}\n4,"${ID}"\n`, 1]);
  assert.deepEqual(
    [...stderr.matchAll(/^frazil: line (\d): INVALID_TEXT: (\w+) must/gm)].map(([, at, what]) => `${at} ${what}`),
    ["2 row", "4 text", "6 row"],
    stderr,
  );
});

test("rows without --column are refused at once, with their columns", async () => {
  const rows = [
    ['id,"user",note\n', "id, user, note"],
    [`a b\tusr_${TEXT}\n`, `"a b", usr_${TEXT}`],
    [`user;${vectors.keys[0].text}\n`, "user, frazilkey_…"],
    [`${Array.from({ length: 14 }, (_, at) => `c${at}`).join(",")}\n`, /c10, c11, …$/],
  ];
  for (const [first, names] of rows) {
    const { stdout, stderr, code } = await frazil([...OPEN, "--kind", "usr"], { input: `${first}1,2,3\n` });
    const [message, hint] = stderr.split("\nhint: ");
    assert.deepEqual([stdout, code], ["", 2], stderr);
    const [, said] = /^frazil: open reads a text a line, and the first line has \d+ columns: (.*)$/.exec(message) ?? [];
    if (typeof names === "string") assert.equal(said, names, stderr);
    else assert.match(said, names);
    const [line] = hint.split("\n");
    assert.equal(
      line,
      "Name one, or give its number: npx frazil open --key-file id.key --kind usr --column NAME < FILE",
    );
  }
  const sealing = await frazil(["seal", "--kind", "usr", ...KEY], { input: "id,user\n" });
  assert.match(sealing.stderr, /^frazil: seal reads an ID a line, and the first line has 2 columns: id, user\n/);
  // A line of one column, later lines, and white space at the end are as before.
  const { stdout, code } = await frazil([...OPEN], { input: `"usr_${TEXT}"\t \na,b\n` });
  assert.deepEqual([stdout, code], [`${ID}\n`, 1]);
});

test("--column keeps long rows whole, and a row that does not end does not fill the memory", async () => {
  const note = "x".repeat(60_000);
  const rows = `usr_${TEXT},${note}\n`.repeat(40);
  assert.equal(await printed([...OPEN, "--column", "1"], rows), `${ID},${note}\n`.repeat(40));
  for (const piece of [note, `${note}\n`]) {
    function* endless() {
      yield `usr_${TEXT},"`;
      for (let at = 0; at < 1000; at++) yield piece;
      yield `x"\nusr_${TEXT},z\n`;
    }
    const env = { NODE_OPTIONS: "--max-old-space-size=32" };
    const { stdout, stderr, code } = await frazil([...OPEN, "--column", "1"], { input: endless(), env });
    assert.deepEqual([stdout.endsWith(`${ID},z\n`), code], [true, 1]);
    assert.match(stderr, /INVALID_TEXT: row must have at most 65536 bytes/);
  }
});

test("a first row without the column ends the command with its names", async () => {
  for (const [header, told] of [
    ["id,users,note", /the first row has no column user\nhint: Did you mean "users"\?/],
    ["a,b", /the first row has no column user\nhint: Use one of a, b\./],
    ["user,user", /the first row has user twice/],
    [[..."abcdefgh", "x".repeat(99)].join(), /\nhint: Use one of a, b, c, d, e, f, g, h, …\.\n/],
  ]) {
    const { stdout, stderr, code } = await frazil([...OPEN, "--column", "user"], { input: `${header}\n1,2,3\n` });
    assert.deepEqual([stdout, code], ["", 2]);
    assert.match(stderr, told);
  }
});

test("open answers 100,000 lines of a pipe", async () => {
  const ids = Array.from({ length: 100_000 }, (_, at) => `${BigInt(ID) + BigInt(at)}\n`).join("");
  const texts = await printed(["seal", "--kind", "usr", ...KEY], ids);
  assert.equal(new Set(texts.split("\n")).size, 100_001);
  assert.equal(await printed([...OPEN, "--kind", "usr"], texts), ids);
});
