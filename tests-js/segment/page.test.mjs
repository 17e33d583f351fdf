// docs/guides/segments.md as printed: the recipes with a store in an SQLite file, and the table of steps. Its first minute is in
// tests-js/stores/first-minute.test.mjs, with a server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tools } from "../../scripts/tools.mjs";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("./", import.meta.url));
const page = readFileSync(new URL("../../docs/guides/segments.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text }));
const blockWith = (text) => blocks.find((block) => block.text.includes(text)).text;

/** Runs a program of the page, with a store whose tags are new, and code behind it. Resolves to what it prints. */
async function printed(program, { tags = ["orders"], after = "" } = {}) {
  // In this folder, where `frazil` is found.
  const own = mkdtempSync(join(folder, "run-"));
  try {
    const text = `import { DatabaseSync } from "node:sqlite";
import { SqliteStore } from "frazil/stores/sqlite";
const database = new DatabaseSync(${JSON.stringify(join(own, "numbers.db"))});
const store = new SqliteStore(database);
await store.migrate();
for (const tag of ${JSON.stringify(tags)}) await store.initSegment({ tag });
${program}
${after}
`;
    writeFileSync(join(own, "program.mjs"), text);
    const env = { ...process.env, NODE_NO_WARNINGS: "1", PORT: "0" };
    const { stdout, stderr } = await run(tools.node22, [join(own, "program.mjs")], { env, timeout: 30_000 });
    assert.equal(stderr, "");
    return stdout;
  } finally {
    rmSync(own, { recursive: true });
  }
}

const recipes = blocks.flatMap(({ language, text }, at) =>
  language === "js" && blocks[at + 1]?.language === "text" && !text.includes("DATABASE_URL")
    ? [{ program: text, output: blocks[at + 1].text }]
    : [],
);

test("there are recipes", () => assert.equal(recipes.length, 6));

const request = `await (await import("node:events")).once(server, "listening");
const answer = await fetch(\`http://127.0.0.1:\${server.address().port}\`);
if ((await answer.text()) !== "1") throw new Error("the first request had another number");
process.kill(process.pid, "SIGTERM");`;

for (const { program, output } of recipes) {
  const [heading] = page
    .slice(0, page.indexOf(program))
    .match(/^### .*$/gm)
    .slice(-1);
  test(`${heading}: it prints the output of the page`, async () => {
    const tags = ["orders", "orders/2026-11-22", "orders/2026-11-23"];
    assert.equal(await printed(program, { tags, after: program.includes("SIGTERM") ? request : "" }), output);
  });
}

test("the tags of coming days are made", async () => {
  const after = 'for (const { tag } of database.prepare("SELECT tag FROM frazil_segments").all()) console.log(tag);';
  const lines = (await printed(blockWith("const DAY_MS"), { tags: [], after })).trim().split("\n");
  assert.equal(lines.length, 8);
  for (const line of lines) assert.match(line, /^orders\/\d{4}-\d\d-\d\d$/);
});

test("the segments of days that are over are closed", async () => {
  const program = blockWith("const segments = new Map()");
  const tags = ["orders/2026-11-22", "orders/2026-11-23", "orders/2026-11-24"];
  const after = `const [first, second] = [ordersOf("2026-11-22"), ordersOf("2026-11-23")];
ordersOf("2026-11-24");
console.log(first.stats().closed, second.stats().closed, segments.size);`;
  assert.match(await printed(program, { tags, after }), /\ntrue false 2\n$/);
});

test("after a failover the tags of coming days begin above failoverSkip", async () => {
  const program = blockWith("const segments = new Map()");
  const changed = `database.exec("UPDATE frazil_segments SET incarnation = 'the old server'");\n${program}`;
  const tags = ["orders/2026-11-22", "orders/2026-11-23"];
  const said = /^20261122-(\d+)\n20261122-(\d+)\n20261123-(\d+)\n$/.exec(await printed(changed, { tags }));
  const [first, second, other] = said.slice(1).map(Number);
  assert.equal(second, first + 1);
  for (const number of [first, other]) assert.ok(number >= 1001 && number <= 2000, `${number}`);
});

test("a counter that is moved up by hand: programs go on with what they have, and then above", async () => {
  const [read, move] = [blockWith("SELECT tag, next_number"), blockWith("UPDATE frazil_segments")];
  const program = `import { Segment } from "frazil/segment";
const orders = new Segment(store, { tag: "orders", step: 10, maxStep: 10 });
await orders.next();
console.log(Object.keys(database.prepare(${JSON.stringify(read)}).get()).join());
database.exec(${JSON.stringify(move)});
database.exec(${JSON.stringify(move.replaceAll("5000000", "5"))});
console.log((await orders.nextMany(10)).join());`;
  assert.equal(await printed(program), "tag,next_number,recent,incarnation\n2,3,4,5,6,7,8,9,10,5000000\n");
});

test("the table of steps is that of the vectors", () => {
  const numbers = (start) =>
    page
      .split("\n")
      .find((line) => line.startsWith(`| ${start}`))
      .split("|")
      .slice(2, -1)
      .map((cell) => Number(cell.replaceAll(",", "")));
  const { segments } = JSON.parse(readFileSync(new URL("../../crates/core/vectors/segments.json", import.meta.url)));
  const { askedMs, counts } = segments.find(({ name }) => name.startsWith("ten numbers a second"));
  const seconds = askedMs.map((ms, at) => (at === 0 ? 0 : (ms - askedMs[at - 1]) / 1000));
  assert.deepEqual(numbers("seconds since the request before"), seconds);
  assert.deepEqual(numbers("numbers asked for"), counts);
});
