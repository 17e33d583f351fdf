// The programs of README and docs/start.md compile as strict TypeScript, and that of docs/guides/databases.md with the types
// that it says to declare.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { programsOf, root, textOf } from "./examples.mjs";

const folder = fileURLToPath(new URL("./", import.meta.url));
const tsc = join(root, "node_modules/.bin/tsc");
const page = textOf("docs/guides/databases.md");
const { code } = programsOf(page).find(({ code }) => code.includes('from "kysely"'));
const [, kysely] = page.split(/^## Kysely$/m);
const declared = [...kysely.split(/^## /m)[0].matchAll(/`id: ([^`]+)`/g)].map(([, type]) => type);

/** Compiles a program as strict TypeScript. Returns what the compiler prints. */
function compile(t, program) {
  // In this folder, where the packages are found.
  const own = mkdtempSync(join(folder, "run-"));
  t.after(() => rmSync(own, { recursive: true }));
  writeFileSync(join(own, "program.mts"), program);
  writeFileSync(join(own, "pg.d.ts"), 'declare module "pg";\n'); // its types are another package
  const compilerOptions = {
    ...{ target: "ES2022", module: "NodeNext", lib: ["ES2023"], types: ["node"], strict: true },
    ...{ noEmit: true, skipLibCheck: true },
  };
  writeFileSync(join(own, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.mts", "pg.d.ts"] }));
  const { stdout, stderr, error } = spawnSync(tsc, ["--pretty", "false"], { cwd: own, encoding: "utf8" });
  if (error) throw error;
  return `${stdout}${stderr}`;
}

/** The program of Kysely in TypeScript with a type of the column `id`. */
function kyselyWith(type) {
  const typed = code.replace("new Kysely(", "new Kysely<Database>(");
  assert.notEqual(typed, code);
  return `import type { ColumnType } from "kysely";
interface Database { orders: { id: ${type}; title: string } }
${typed}ids.layout.parse(made[0].id);
`;
}

// Those of Workers have the types of another host.
const ofNode = ["README.md", "docs/start.md"]
  .flatMap((page) => programsOf(textOf(page)).map(({ code, line }) => ({ code, name: `${page}:${line}` })))
  .filter(({ code }) => !code.includes("frazil/workers"));
test("there are programs of each way", () => assert.ok(ofNode.length >= 6, `${ofNode.length}`));
for (const { code, name } of ofNode) test(`${name} compiles`, (t) => assert.equal(compile(t, code), ""));
test("a program that reads the message of what is caught, whatever it is, does not", (t) => {
  assert.match(compile(t, "try {} catch (error) { console.log(error.message); }"), /error TS18046/);
});

test("there are two declarations", () => assert.equal(declared.length, 2, `${declared}`));

for (const type of declared)
  test(`Kysely: the program compiles with \`${type}\``, (t) => assert.equal(compile(t, kyselyWith(type)), ""));

test("a column of which only text can be selected refuses a bigint in where", (t) => {
  assert.match(compile(t, kyselyWith("ColumnType<string, string | bigint, never>")), /error TS2345/);
});
