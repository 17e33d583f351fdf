// Checks the declarations: the files of this folder must compile, in every kind of module, and a line after `@ts-expect-error`
// must not.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("./", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url));
const projects = {
  "Node, ES modules and CommonJS": "tsconfig.json",
  "a bundler, in a browser": "tsconfig.bundler.json",
  "a program without the types of a host": "tsconfig.hostless.json",
};

/** Compiles a project: exit code and output of the compiler. */
function compile(project) {
  const { status, stdout, stderr, error } = spawnSync(tsc, ["--noEmit", "--pretty", "false", "-p", project], {
    encoding: "utf8",
  });
  if (error) throw error;
  return { status, output: `${stdout}${stderr}` };
}

for (const [name, project] of Object.entries(projects)) {
  test(`the types hold for ${name}`, () => {
    assert.deepEqual(compile(join(folder, project)), { status: 0, output: "" });
  });
}

test("every file of type tests is compiled", () => {
  const files = ["tsconfig.json", "tsconfig.hostless.json"].flatMap(
    (project) => JSON.parse(readFileSync(join(folder, project), "utf8")).files,
  );
  const sources = readdirSync(folder).filter((file) => /\.[mc]?ts$/.test(file) && file !== "equal.ts");
  assert.deepEqual(sources.sort(), files.sort());
});

test("the program without the types of a host imports every entry", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../npm/frazil/package.json", import.meta.url), "utf8"));
  const entries = Object.keys(manifest.exports).filter((path) => !/\.(json|wasm)$/.test(path));
  const program = readFileSync(join(folder, "hostless.mts"), "utf8");
  const imported = [...program.matchAll(/^import .*"(frazil.*)";$/gm)].map(([, name]) => name);
  assert.deepEqual(imported.sort(), entries.map((path) => `frazil${path.slice(1)}`).sort());
});

test("the programs in TypeScript of docs/reference/api.md compile, and the compiler refuses what they say it does", (t) => {
  const page = readFileSync(new URL("../../docs/reference/api.md", import.meta.url), "utf8");
  const programs = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, program]) => program);
  assert.ok(programs.length >= 1 && programs.some((program) => program.includes("@ts-expect-error")));
  // In this folder, so that `frazil` resolves to the same package.
  const copy = mkdtempSync(join(folder, ".page-"));
  t.after(() => rmSync(copy, { recursive: true }));
  const files = programs.map((program, at) => {
    writeFileSync(join(copy, `${at}.ts`), program);
    return `${at}.ts`;
  });
  writeFileSync(join(copy, "tsconfig.json"), JSON.stringify({ extends: "../tsconfig.json", files }));
  assert.deepEqual(compile(join(copy, "tsconfig.json")), { status: 0, output: "" });
});

test("a type that is not the expected one, and an expected error that does not occur, are detected", (t) => {
  // In this folder, so that `frazil` resolves to the same package.
  const copy = mkdtempSync(join(folder, ".broken-"));
  t.after(() => rmSync(copy, { recursive: true }));
  cpSync(join(folder, "equal.ts"), join(copy, "equal.ts"));
  const source = `
    import { Snowflake } from "frazil";
    import { check, type Equal } from "./equal.js";
    const ids = new Snowflake({ node: 7 });
    check<Equal<ReturnType<typeof ids.next>, number>>();
    check<Equal<any, bigint>>();
    // @ts-expect-error: this is right
    ids.nextMany(3);
  `;
  writeFileSync(join(copy, "broken.ts"), source);
  writeFileSync(join(copy, "tsconfig.json"), JSON.stringify({ extends: "../tsconfig.json", files: ["broken.ts"] }));
  const lines = compile(join(copy, "tsconfig.json")).output.trim().split("\n");
  assert.deepEqual(
    lines.map((line) => /broken\.ts\((\d+),.*error (TS\d+)/.exec(line)?.slice(1)),
    [
      ["5", "TS2344"],
      ["6", "TS2344"],
      ["7", "TS2578"],
    ],
    lines.join("\n"),
  );
});
