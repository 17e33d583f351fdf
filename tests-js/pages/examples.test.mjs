// Every JavaScript example is either run or has a reason why not, works on the oldest supported Node, and uses only exports of the package.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { blocksOf, PAGES, programsOf, RUN_BY, root, textOf } from "./examples.mjs";

/** Pages whose examples without output are parts of programs: they are compiled, and not run. */
const PARTS = {
  "docs/index.md": "lines of docs/start.md, as readme.test.mjs checks",
  "docs/guides/migrating/fleets.md": "calls that the tests in tests-js/stores/migrating make",
  "docs/guides/bundling.md": "settings of bundlers, and lines of programs that they bundle",
  "docs/reference/layouts.md": "expressions that the tests of layouts have",
  "docs/guides/local.md": "an option that concerns other systems",
  "docs/guides/testing.md": "settings of Vitest and Jest, which were run by hand",
  "docs/guides/workers-tools.md": "settings of Cloudflare's tools, which tests-js/workers/tools runs as files",
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
    const name = page.replace(/^docs\/|\.md$/g, "");
    assert.ok(readFileSync(join(root, file), "utf8").includes(name), `${file} does not mention ${name}`);
    assert.ok(
      examples.some((example) => example.page === page),
      `${page} has no example`,
    );
  }
});

const PARSER = `
import { readFileSync } from "node:fs";
import { SourceTextModule } from "node:vm";
const mistakes = JSON.parse(readFileSync(0, "utf8")).map((code) => {
  try {
    new SourceTextModule(code);
  } catch (error) {
    return String(error);
  }
});
console.log(JSON.stringify(mistakes));`;

/** What Node says against each of these modules, or `null`. A process of its own: only this flag has a parser without execution. */
const parse = (codes) =>
  JSON.parse(
    execFileSync(
      process.execPath,
      ["--no-warnings", "--experimental-vm-modules", "--input-type=module", "-e", PARSER],
      {
        input: JSON.stringify(codes),
        encoding: "utf8",
      },
    ),
  );

/** The names that a program imports from the package, by entry. */
const importsOf = (code) =>
  [...code.matchAll(/^(?:import|export) \{([^}]*)\} from "(frazil(?:\/[\w/-]+)?)"/gm)].map(([, names, specifier]) => ({
    specifier,
    names: names
      .split(",")
      .map((name) => name.trim().split(" as ")[0])
      .filter((name) => name !== "" && !name.startsWith("type ")),
  }));

/** The mistakes in each of these programs: what Node does not parse, and what the package does not export. */
const mistakesIn = async (codes) => {
  const found = parse(codes).map((mistake) => (mistake === null ? [] : [mistake]));
  for (const [at, code] of codes.entries())
    for (const { specifier, names } of importsOf(code)) {
      const known = Object.keys(await import(specifier));
      for (const name of names) if (!known.includes(name)) found[at].push(`${specifier} does not export ${name}`);
    }
  return found;
};

test("every example parses, and imports only what the package exports", async () => {
  const found = await mistakesIn(examples.map(({ code }) => code));
  assert.deepEqual(
    found.flatMap((mistakes, at) => mistakes.map((mistake) => `${nameOf(examples[at])}: ${mistake}`)),
    [],
  );
});

test("examples with mistakes are found", async () => {
  const [parsed, exported, right] = await mistakesIn([
    "const = 1;\n",
    'import { lease, Snowflake } from "frazil/lease";\n',
    'export { Layout } from "frazil/layout";\nawait 0;\n',
  ]);
  assert.match(parsed.join(), /SyntaxError/);
  assert.deepEqual(exported, ["frazil/lease does not export Snowflake"]);
  assert.deepEqual(right, []);
  // Node 20 and 22 have no `using`, so no example may have it, whatever the Node that runs this parses.
  assert.ok(!examples.some(({ code }) => /^\s*(await )?using \w+ =/m.test(code)));
});

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
