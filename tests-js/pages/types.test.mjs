// The types that docs/databases.md says to declare: its program compiles with them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { programsOf, root, textOf } from "../readme/examples.mjs";

const folder = fileURLToPath(new URL("./", import.meta.url));
const tsc = join(root, "node_modules/.bin/tsc");
const page = textOf("docs/databases.md");
const { code } = programsOf(page).find(({ code }) => code.includes('from "kysely"'));
const [, kysely] = page.split(/^## Kysely$/m);
const declared = [...kysely.split(/^## /m)[0].matchAll(/`id: ([^`]+)`/g)].map(([, type]) => type);

/** Compiles the program of Kysely in TypeScript with a type of the column `id`. Returns what the compiler prints. */
function compile(t, type) {
  // In this folder, where the packages are found.
  const own = mkdtempSync(join(folder, "run-"));
  t.after(() => rmSync(own, { recursive: true }));
  const typed = code.replace("new Kysely(", "new Kysely<Database>(");
  assert.notEqual(typed, code);
  const program = `import type { ColumnType } from "kysely";
interface Database { orders: { id: ${type}; title: string } }
${typed}ids.layout.parse(made[0].id);
`;
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

test("there are two declarations", () => assert.equal(declared.length, 2, `${declared}`));

for (const type of declared)
  test(`Kysely: the program compiles with \`${type}\``, (t) => assert.equal(compile(t, type), ""));

test("a column of which only text can be selected refuses a bigint in where", (t) => {
  assert.match(compile(t, "ColumnType<string, string | bigint, never>"), /error TS2345/);
});
