// Every example in JavaScript is either run or has a reason why not, is a program of the oldest Node that frazil runs on, and uses only
// what the package exports.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { blocksOf, PAGES, programsOf, RUN_BY, root, textOf } from "./examples.mjs";

const run = promisify(execFile);

/** Pages whose examples without output are parts of programs: they are compiled, and not run. */
const PARTS = {
  "docs/bundlers.md": "settings of bundlers, and lines of programs that they bundle",
  "docs/layouts.md": "expressions that the tests of layouts have",
  "docs/local.md": "an option that concerns other systems",
  "docs/testing.md": "settings of Vitest and Jest, which were run by hand",
  "docs/workers-tools.md": "settings of Cloudflare's tools, which tests-js/workers-tools runs as files",
};

const examples = PAGES.flatMap((page) => programsOf(textOf(page)).map((program) => ({ page, ...program })));
const nameOf = ({ page, line }) => `${page}:${line}`;

test("there are examples", () => assert.ok(examples.length > 80, `${examples.length}`));

test("every example is run, or has a reason why not", () => {
  const isRunHere = ({ page, output }) => output !== undefined && RUN_BY[page] === undefined;
  const silent = examples.filter(
    (example) => !isRunHere(example) && !(example.reason || RUN_BY[example.page] || PARTS[example.page]),
  );
  assert.deepEqual(silent.map(nameOf), []);
});

test("the tests that run examples exist and read their page", () => {
  for (const [page, file] of Object.entries(RUN_BY)) {
    assert.ok(existsSync(join(root, file)), file);
    const name = page.replace(/^docs\/(stores\/)?|\.md$/g, "");
    assert.ok(readFileSync(join(root, file), "utf8").includes(name), `${file} does not mention ${name}`);
    assert.ok(
      examples.some((example) => example.page === page),
      `${page} has no example`,
    );
  }
});

/** What each entry of the package exports, by its specifier. */
async function exportsOf(specifier, cache) {
  if (!cache.has(specifier)) cache.set(specifier, Object.keys(await import(specifier)));
  return cache.get(specifier);
}

/** The names that a program imports from the package, by entry. */
const importsOf = (code) =>
  [...code.matchAll(/^(?:import|export) \{([^}]*)\} from "(frazil(?:\/[\w/-]+)?)"/gm)].map(([, names, specifier]) => ({
    specifier,
    names: names
      .split(",")
      .map((name) => name.trim().split(" as ")[0])
      .filter((name) => name !== "" && !name.startsWith("type ")),
  }));

/** The mistakes in a program: what Node does not parse, and what the package does not export. */
async function mistakesIn(code, folder, cache) {
  const file = join(folder, `example-${cache.size}-${Math.random()}.mjs`);
  writeFileSync(file, code);
  const mistakes = [];
  await run(process.execPath, ["--check", file]).catch(({ stderr }) => mistakes.push(stderr));
  for (const { specifier, names } of importsOf(code)) {
    const known = await exportsOf(specifier, cache);
    for (const name of names) if (!known.includes(name)) mistakes.push(`${specifier} does not export ${name}`);
  }
  return mistakes;
}

/** Calls a function with a new folder, which is removed after it. */
async function withFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "frazil-examples-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("every example parses, and imports only what the package exports", () =>
  withFolder(async (folder) => {
    const cache = new Map();
    const queue = [...examples];
    const found = [];
    const inTurn = async () => {
      for (let example = queue.shift(); example !== undefined; example = queue.shift())
        for (const mistake of await mistakesIn(example.code, folder, cache))
          found.push(`${nameOf(example)}: ${mistake}`);
    };
    await Promise.all([inTurn(), inTurn()]);
    assert.deepEqual(found, []);
  }));

test("examples with mistakes are found", () =>
  withFolder(async (folder) => {
    const cache = new Map();
    const mistakes = (code) => mistakesIn(code, folder, cache);
    assert.match((await mistakes("const = 1;\n")).join(), /SyntaxError/);
    assert.deepEqual(await mistakes('import { lease, Snowflake } from "frazil/lease";\n'), [
      "frazil/lease does not export Snowflake",
    ]);
    assert.deepEqual(await mistakes('export { Layout } from "frazil/layout";\nawait 0;\n'), []);
    // Node 20 and 22 have no `using`, so no example may have it, whatever the Node that runs this parses.
    assert.ok(!examples.some(({ code }) => /^\s*(await )?using \w+ =/m.test(code)));
  }));

test("a reason belongs to the block after it, and output to the block before it", () => {
  const page =
    "<!-- not run: why -->\n```js\na();\n```\n\n```text\nout\n```\n\n1. item\n\n   ```js\n   b();\n   ```\n\nword\n\n```text\nother\n```\n";
  assert.deepEqual(
    programsOf(page).map(({ code, reason, output, line }) => ({ code, reason, output, line })),
    [
      { code: "a();\n", reason: "why", output: "out\n", line: 2 },
      { code: "b();\n", reason: undefined, output: undefined, line: 12 },
    ],
  );
  assert.deepEqual(blocksOf(page).length, 4);
});
