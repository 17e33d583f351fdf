// `frazil/layout`: under each condition it has the classes of `frazil`, and a bundle of its ES module never meets the WebAssembly
// module. In CommonJS and in Node it is a part of `frazil`, which bundlers cannot split.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));
const wasm = join(root, "npm/frazil/dist/frazil.wasm");
const folder = mkdtempSync(join(tmpdir(), "frazil-layout-"));
after(() => rmSync(folder, { recursive: true }));

const require = createRequire(import.meta.url);
const { exports: entries } = require("frazil/package.json");
const NAMES = ["ConfigError", "DecodeError", "FrazilError", "Layout"];

/** How a program can be resolved: by each condition of the manifest, or none of them. */
const WAYS = [...Object.keys(entries["."]).filter((key) => !["import", "require", "default"].includes(key)), "none"];

let bundles = 0;

/** Bundles a program. Returns its text, and the files that were resolved: all that a tool which listens to the bundler sees. */
async function bundle(contents, { condition, format }) {
  const resolved = [];
  const outfile = join(folder, `${++bundles}.${format === "esm" ? "mjs" : "cjs"}`);
  const { warnings } = await esbuild.build({
    stdin: { contents, resolveDir: root },
    outfile,
    bundle: true,
    minify: true,
    format,
    platform: condition === "node" ? "node" : "neutral",
    conditions: condition === "none" ? [] : [condition],
    // The module is loaded from its file, as the runtimes of these conditions do.
    plugins: [
      {
        name: "resolved",
        setup(build) {
          build.onResolve({ filter: /./ }, ({ path }) => {
            resolved.push(path);
            return /frazil\.wasm(\?module)?$/.test(path) ? { path: wasm, namespace: "wasm" } : undefined;
          });
          build.onLoad({ filter: /./, namespace: "wasm" }, () => ({
            contents: "export default new WebAssembly.Module(globalThis.frazilModule)",
          }));
        },
      },
    ],
    tsconfigRaw: "{}", // that of the sources would map frazil to them
    logLevel: "silent",
  });
  assert.deepEqual(warnings, []);
  return { outfile, resolved, text: readFileSync(outfile, "utf8") };
}

globalThis.frazilModule = readFileSync(wasm);
after(() => delete globalThis.frazilModule);

const PROGRAMS = {
  esm: `
    import * as all from "frazil";
    import * as layout from "frazil/layout";
    export { all, layout };
  `,
  cjs: `
    exports.all = require("frazil");
    exports.layout = require("frazil/layout");
  `,
};
/** The mutant: the class of another copy of the package. */
const MUTANT = {
  esm: PROGRAMS.esm.replace("frazil/layout", "frazil/decode"),
  cjs: PROGRAMS.cjs.replace("frazil/layout", "frazil/decode"),
};

/** The names of `frazil` that the other entry has as other values. */
const others = (all, layout) => Object.keys(layout).filter((name) => name in all && layout[name] !== all[name]);

for (const condition of WAYS) {
  for (const format of ["esm", "cjs"]) {
    test(`${condition}, ${format}: a bundle of both entries has one class of each name`, async () => {
      const load = async (program) => {
        const { outfile } = await bundle(program[format], { condition, format });
        return format === "esm" ? import(pathToFileURL(outfile)) : require(outfile);
      };
      const { all, layout } = await load(PROGRAMS);
      assert.deepEqual(Object.keys(layout).sort(), NAMES);
      assert.deepEqual(others(all, layout), []);
      assert.equal(layout.Layout.named("discord").decode("175928847299117063").node, 32);
      const mutant = await load(MUTANT);
      assert.deepEqual(
        others(mutant.all, mutant.layout),
        ["DecodeError", "FrazilError"],
        "the checker must find two classes",
      );
    });

    // What is required under these conditions is an ES module too.
    const isModule = format === "esm" ? condition !== "node" : /^(workerd|edge-light|deno)$/.test(condition);
    const program = {
      esm: (entry) => `export { Layout } from "${entry}"`,
      cjs: (entry) => `exports.Layout = require("${entry}").Layout`,
    }[format];
    // The first bytes of a module, as base64 writes them.
    const meets = ({ resolved, text }) => text.includes("AGFzbQ") || resolved.some((path) => path.includes(".wasm"));
    if (!isModule) {
      test(`${condition}, ${format}: a bundle of frazil/layout has the module as text, as the pages say`, async () => {
        assert.equal(meets(await bundle(program("frazil/layout"), { condition, format })), true);
      });
      continue;
    }
    test(`${condition}, ${format}: a bundle of frazil/layout meets no module, neither as a file nor as text`, async () => {
      assert.equal(meets(await bundle(program("frazil/layout"), { condition, format })), false);
      const whole = await bundle(format === "esm" ? 'export * from "frazil"' : program("frazil"), {
        condition,
        format,
      });
      assert.equal(meets(whole), true, "the checker must find the module of frazil");
    });
  }
}

test("in Node, import and require give the same classes as those of frazil", async () => {
  const formats = [
    [await import("frazil"), await import("frazil/layout")],
    [require("frazil"), require("frazil/layout")],
  ];
  const [[{ Layout }]] = formats;
  for (const [all, layout] of formats) {
    assert.deepEqual(Object.keys(layout).sort(), NAMES);
    assert.deepEqual(others(all, layout), []);
    assert.equal(layout.Layout, Layout);
  }
  assert.deepEqual(others(await import("frazil"), await import("frazil/decode")), ["DecodeError", "FrazilError"]);
});
