// `npx frazil audit`: its input, output and exit codes, on both backends. What the engine finds is proved in crates/audit and
// tests-js/audit.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Layout } from "frazil";
import { folder, frazil, hasAddon, hasScript, inTerminal, shell } from "./cli.mjs";

const layout = Layout.named("default");
const FIRST = layout.minIdAt(Date.UTC(2026, 0, 1), {}) | (7n << 12n);
/** The IDs of a process with node id 7, three a second. */
const ids = Array.from({ length: 3000 }, (_, at) => FIRST + (BigInt(at * 333) << 22n));
const NOW = "--now=2026-02-01";
const write = (name, bytes) => writeFileSync(join(folder, name), bytes);
const lines = (list) => `${list.join("\n")}\n`;

const raw = (list) => {
  const bytes = Buffer.alloc(8 * list.length);
  for (const [at, id] of list.entries()) bytes.writeBigUInt64LE(id, 8 * at);
  return bytes;
};
const FORMS = {
  "clean.txt": lines(ids),
  "clean.csv": lines(["note,order,server", ...ids.map((id, at) => `"a, ""b""",${id},s${at % 1}`)]),
  "clean.ndjson": lines(ids.map((id) => JSON.stringify({ order: `${id}`, at: { id: 5 } }))),
  "clean.raw": raw(ids),
  "clean.txt.gz": gzipSync(lines(ids)),
  // As `cat a.gz b.gz` makes it.
  "two.txt.gz": Buffer.concat([gzipSync(lines(ids.slice(0, 1000))), gzipSync(lines(ids.slice(1000)))]),
};
for (const [name, bytes] of Object.entries(FORMS)) write(name, bytes);
write("first.txt", lines(ids.slice(0, 1000)));
write("last.csv", lines(["id", ...ids.slice(1000)]));
const repeated = [...ids, ids[5], ids[2000], ids[5]];
write("repeated.txt", lines(repeated));
write("repeated.csv", lines(["host,id", ...repeated.map((id, at) => `"h,${at % 1}",${id}`)]));

const BACKENDS = [...(hasAddon ? ["native"] : []), "wasm"];
const on = (backend) => ({ FRAZIL_BACKEND: backend });
const reportOf = async (args, options) => {
  const { stdout, stderr, code } = await frazil(["audit", ...args, NOW, "--json"], options);
  assert.equal(stderr, "", args.join(" "));
  return { code, report: JSON.parse(stdout) };
};
const findingsOf = ({ findings }) => findings.filter(({ certainty }) => certainty !== "informational");

for (const backend of BACKENDS) {
  const env = on(backend);

  test(`${backend}: a clean input has the exit code 0, in each format, packed, in two files and from a pipe`, async () => {
    const column = ["--id", "order"];
    for (const [args, input] of [
      [["clean.txt"]],
      [["clean.csv", ...column]],
      [["clean.ndjson", ...column]],
      [["clean.raw", "--format", "raw"]],
      [["clean.txt.gz"]],
      [["two.txt.gz"]],
      [["first.txt", "last.csv"]],
      [["-"], [FORMS["clean.txt"]]],
      [[], [FORMS["clean.txt"].slice(0, 3), FORMS["clean.txt"].slice(3, 30_000), FORMS["clean.txt"].slice(30_000)]],
      [
        [],
        [...FORMS["clean.txt.gz"]]
          .slice(0, 40)
          .map((byte) => Buffer.from([byte]))
          .concat(FORMS["clean.txt.gz"].subarray(40)),
      ],
    ]) {
      const { code, report } = await reportOf(args, { env, input });
      assert.deepEqual([findingsOf(report), code], [[], 0], args.join(" "));
      assert.deepEqual([report.rows, report.ids, report.distinct], [3000, 3000, 3000], args.join(" "));
      assert.deepEqual([report.nodes.inUse, report.fromMs], [1, Date.UTC(2026, 0, 1)], args.join(" "));
    }
    const { codes } = await shell(`FRAZIL_BACKEND=${backend} frazil audit ${NOW} <(cat clean.txt) clean.txt.gz`);
    assert.deepEqual(codes, [1], "each ID is in both");
  });

  test(`${backend}: repeats have the exit code 1, on the screen, as JSON and as rows to look at`, async () => {
    const { code, report } = await reportOf(["repeated.txt"], { env });
    const [{ kind, count, rows }] = findingsOf(report);
    assert.deepEqual([kind, count, code, report.ids - report.distinct], ["repeats", 2, 1, 3]);
    assert.ok(rows.every(({ id }) => [ids[5], ids[2000]].includes(BigInt(id))));

    const screen = await frazil(["audit", "repeated.txt", NOW], { env });
    assert.deepEqual([screen.stderr, screen.code], ["", 1]);
    assert.match(
      screen.stdout,
      /^input +repeated\.txt: 3,003 rows, 3,003 IDs, 3,000 distinct\nlayout +\S+: time 41 \|/,
    );
    assert.match(screen.stdout, /\n +guessed with the score \S+: [^*]*;\s+the\s+next\s+is\s/);
    assert.match(screen.stdout, /\n\* repeats \(exact\): /);
    assert.match(screen.stdout, /\nhosts +not known: .*--host\n/);
    const named = await frazil(["audit", "repeated.csv", NOW], { env });
    assert.doesNotMatch(named.stdout, /\nhosts /);
    assert.ok(screen.stdout.split("\n").length < 50);

    const csv = await frazil(["audit", "clean.raw", "repeated.csv", "--format", "csv", "--fix-report", NOW], { env });
    assert.equal(csv.code, 2, "one of them is none");
    const fix = await frazil(["audit", "repeated.csv", "--fix-report", NOW], { env });
    const [header, ...found] = fix.stdout.trimEnd().split("\n");
    assert.deepEqual([header, fix.stderr, fix.code], ["finding,file,line,id,host", "", 1]);
    assert.deepEqual(
      found.filter((row) => row.startsWith("repeats,")).sort(),
      [
        [7, ids[5]],
        [2002, ids[2000]],
        [3002, ids[5]],
        [3003, ids[2000]],
        [3004, ids[5]],
      ]
        .map(([line, id]) => `repeats,repeated.csv,${line},${id},"h,0"`)
        .sort(),
    );
  });

  test(`${backend}: the same answer where almost nothing fits into the memory`, async () => {
    const many = Array.from({ length: 250_000 }, (_, at) => FIRST + (BigInt(at * 7) << 22n));
    write("many.txt", lines([...many.slice(100_000), ...many.slice(0, 100_001)]));
    const all = await reportOf(["many.txt"], { env });
    const spilled = await reportOf(["many.txt", "--memory", "1M"], { env });
    assert.deepEqual(spilled, all);
    assert.equal(all.report.ids - all.report.distinct, 1);
  });
}

test("IDs of no known layout are told from others, and numbers of JSON that were rounded are found", async () => {
  write("small.txt", "5\n6\n");
  const { stdout, code } = await frazil(["audit", "small.txt", NOW]);
  assert.match(stdout, /^input +small\.txt: 2 rows, 2 IDs, 2 distinct\nlayout +unknown: .*\n +Give it by --layout\./);
  assert.deepEqual([stdout.endsWith("\n\nNo findings.\n"), code], [true, 0]);
  const busy = Array.from({ length: 3000 }, (_, at) => FIRST + (BigInt(at * 333) << 22n) + BigInt(at % 50));
  write("rounded.ndjson", lines(busy.map((id) => `{"id":${Number(id)}}`)));
  write("exact.ndjson", lines(ids.map((id) => `{"id":${id}}`)));
  const kinds = async (name) => findingsOf((await reportOf([name])).report).map(({ kind }) => kind);
  assert.ok((await kinds("rounded.ndjson")).includes("rounded"));
  assert.deepEqual(await kinds("exact.ndjson"), []);
});

test("a layout that is given is not guessed, and another epoch has no name", async () => {
  for (const [args, name] of [
    [["--layout", "twitter"], "twitter"],
    [["--layout", JSON.stringify(Layout.named("twitter"))], undefined],
    [["--epoch", "2026-01-01"], undefined],
  ]) {
    const { report } = await reportOf(["clean.txt", ...args]);
    assert.deepEqual([report.layout.guessed, report.layout.name], [false, name], args.join(" "));
  }
  const { stdout } = await frazil(["audit", "clean.txt", NOW, "--layout", "default"]);
  assert.match(stdout, /\nlayout +default: .*\n +as given\n/);
});

test("on a terminal it shows how far it is, and clears that", { skip: !hasScript && "needs script" }, async () => {
  await shell("for i in $(seq 200); do cat clean.txt.gz; done > many.gz");
  const { stdout } = await inTerminal("frazil audit many.gz --now=2026-02-01 --json > report.json");
  assert.doesNotMatch(stdout.split("\r\x1b[K").at(-1), /a second/);
});
