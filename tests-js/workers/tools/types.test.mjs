// The types of `frazil/workers` in the packed tarball, with `skipLibCheck` off: against the output of `wrangler types`, against
// @cloudflare/workers-types, and alone. In types/wrong.ts the compiler must refuse each line after `@ts-expect-error`.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { root } from "../../packaging/tarballs.mjs";
import { installWorker, runTool, WRANGLER } from "./consumer.mjs";

const tsc = join(root, "node_modules/.bin/tsc");
const GENERATED = "./worker-configuration.d.ts";
const PACKAGE = "@cloudflare/workers-types";
const ALL = ["worker.ts", "using.ts", "wrong.ts"];

let folder;
before(() => {
  folder = installWorker("types");
  cpSync(join(root, "tests-js/types/equal.ts"), join(folder, "equal.ts"));
  runTool(folder, WRANGLER, ["types"]);
});

/** Compiles files, and returns what the compiler printed. */
function compile(files, { types = [], lib = ["ES2024", "ESNext.Disposable"], ...options }) {
  const compilerOptions = {
    ...{
      target: "ES2022",
      module: "ESNext",
      moduleResolution: "Bundler",
      noEmit: true,
      allowImportingTsExtensions: true,
    },
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, verbatimModuleSyntax: true },
    ...{ skipLibCheck: false, types, lib, ...options },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const { stdout, stderr, error } = spawnSync(tsc, ["--pretty", "false"], { cwd: folder, encoding: "utf8" });
  if (error) throw error;
  return `${stdout}${stderr}`;
}

test("wrangler types writes a namespace of the class, and one without a parameter for a class of another Worker", () => {
  const text = readFileSync(join(folder, GENERATED), "utf8");
  assert.match(text, /\bFRAZIL: DurableObjectNamespace<import\("\.\/worker"\)\.FrazilLeases>;/);
  assert.match(text, /\bELSEWHERE: DurableObjectNamespace( \/\*.*\*\/)?;/);
});

test("the types hold with those that wrangler writes", () => {
  assert.equal(compile(ALL, { types: [GENERATED] }), "");
});

test("the types hold with @cloudflare/workers-types", () => {
  assert.equal(compile([...ALL, "env.d.ts"], { types: [PACKAGE] }), "");
});

test("the types hold without those of Workers, in a program with the types of a browser", () => {
  assert.equal(compile(["no-types.ts"], { lib: ["ES2023", "DOM", "ESNext.Disposable"] }), "");
});

test("a Worker compiles without esnext.disposable in lib, and without the types of Workers or a browser", () => {
  const [types, lib] = [[GENERATED], ["ES2024"]];
  for (const skipLibCheck of [true, false])
    assert.equal(compile(["worker.ts", "wrong.ts"], { types, lib, skipLibCheck }), "", `${skipLibCheck}`);
  // This one has `using` in it.
  assert.equal(compile(["no-types.ts"], { types: [], lib: ["ES2023", "ESNext.Disposable"] }), "");
});

test("a class without the brand of the runtime is refused as the class of a namespace", () => {
  const path = join(folder, "node_modules/frazil/dist/types/workers/leases-object.d.ts");
  const declared = readFileSync(path, "utf8");
  const broken = declared.replace("readonly __DURABLE_OBJECT_BRAND: never;", "");
  assert.notEqual(broken, declared);
  writeFileSync(path, broken);
  try {
    assert.match(compile(ALL, { types: [GENERATED] }), /error TS\d+.*\n.*__DURABLE_OBJECT_BRAND/);
  } finally {
    writeFileSync(path, declared);
  }
});
