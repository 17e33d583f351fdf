// The names of the classes as users see them: in `console.log`, `constructor.name` and stack traces, from the bundles of the
// package and from a user's own bundle of them.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import * as esbuild from "esbuild";

const dist = fileURLToPath(new URL("../../npm/frazil/dist/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "frazil-names-"));
after(() => rmSync(folder, { recursive: true }));

/** The entries that Node can run. Those for Workers import the WebAssembly module in a way that Node does not support. */
const ENTRIES = ["node.mjs", "node.cjs", "inline.mjs", "inline.cjs"];
const load = (path) =>
  path.endsWith(".cjs") ? createRequire(import.meta.url)(path) : import(pathToFileURL(path).href);

function frameOf(call) {
  try {
    call();
  } catch (error) {
    return error.stack;
  }
  throw new Error("nothing was thrown");
}

/**
 * Asserts the names. `methods`: whether to check the class name before method names, which a minifier changes in stack traces.
 * `printsContent`: whether generators print what they are, which takes bytes that a Worker would upload.
 */
function checkNames({ Snowflake, Layout }, methods, printsContent = true) {
  const ids = new Snowflake({ node: 1 });
  const layout = Layout.named("twitter");
  assert.equal(ids.constructor.name, "Snowflake");
  assert.equal(layout.constructor.name, "Layout");
  assert.equal(inspect(Snowflake), "[class Snowflake]");
  assert.equal(inspect(Layout), "[class Layout]");
  // Without the methods, which are fields of each generator.
  const content = /^Snowflake \{\n {2}layout: Layout \{[\s\S]*\},\n {2}node: 1,\n {2}backend: '\w+'\n\}$/;
  assert.match(inspect(ids), printsContent ? content : /^Snowflake \{\n {2}layout: Layout \{/);
  assert.match(inspect(layout), /^Layout \{/);
  assert.match(
    frameOf(() => new Snowflake({ node: -1 })),
    /^ +at new Snowflake /m,
  );
  assert.match(
    frameOf(() => new Layout({ epochMs: 0, fields: [] })),
    /^ +at new Layout /m,
  );
  if (!methods) return;
  assert.match(
    frameOf(() => ids.fill(1)),
    /^ +at Snowflake\.fill /m,
  );
  assert.match(
    frameOf(() => layout.minIdAt(-1)),
    /^ +at Layout\.minIdAt /m,
  );
}

for (const entry of ENTRIES) {
  test(`${entry}: the classes have their names`, async () => checkNames(await load(`${dist}${entry}`), true));
  // The bundles for Node load the addon from a file, which a bundle cannot contain.
  if (entry.startsWith("node.")) continue;
  for (const minify of [false, true]) {
    test(`${entry}: the classes have their names in a ${minify ? "minified " : ""}bundle`, async () => {
      const outfile = join(folder, `${minify ? "minified-" : ""}${entry}`);
      const format = entry.endsWith(".cjs") ? "cjs" : "esm";
      esbuild.buildSync({
        entryPoints: [`${dist}${entry}`],
        outfile,
        bundle: true,
        format,
        minify,
        logLevel: "silent",
      });
      checkNames(await load(outfile), !minify);
    });
  }
}

for (const entry of ["workerd.mjs", "edge-light.mjs"]) {
  test(`${entry}: the classes have their names`, async () => {
    const outfile = join(folder, entry);
    // The WebAssembly module is loaded from a file here; the rest of the entry is unchanged.
    const wasm = {
      name: "wasm",
      setup(build) {
        build.onResolve({ filter: /frazil\.wasm/ }, () => ({ path: `${dist}frazil.wasm`, namespace: "wasm" }));
        build.onLoad({ filter: /./, namespace: "wasm" }, ({ path }) => ({
          contents: `import { readFileSync } from "node:fs";
            export default new WebAssembly.Module(readFileSync(${JSON.stringify(path)}));`,
        }));
      },
    };
    await esbuild.build({
      entryPoints: [`${dist}${entry}`],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      plugins: [wasm],
      logLevel: "silent",
    });
    const { warn } = console;
    const printed = [];
    console.warn = (text) => printed.push(text);
    try {
      checkNames(await load(outfile), true, entry !== "workerd.mjs");
    } finally {
      console.warn = warn;
    }
    // Once, of the first static node id, where a program runs in several places that share nothing.
    const place = entry === "workerd.mjs" ? "isolates share nothing" : "in an edge route: it shares nothing";
    assert.equal(printed.length, 1);
    assert.match(printed[0], new RegExp(`^frazil: node is 1:? ${place}`));
  });
}

for (const entry of ["lease.mjs", "lease.cjs"]) {
  for (const minify of [false, true]) {
    test(`${entry}: the class has its name in a ${minify ? "minified " : ""}bundle`, async () => {
      const outfile = join(folder, `${minify ? "minified-" : ""}${entry}`);
      const format = entry.endsWith(".cjs") ? "cjs" : "esm";
      esbuild.buildSync({
        entryPoints: [`${dist}${entry}`],
        outfile,
        bundle: true,
        format,
        minify,
        alias: { frazil: `${dist}inline.${format === "cjs" ? "cjs" : "mjs"}` },
        logLevel: "silent",
      });
      const { LeasedSnowflake } = await load(outfile);
      assert.equal(LeasedSnowflake.name, "LeasedSnowflake");
      assert.equal(inspect(LeasedSnowflake), "[class LeasedSnowflake extends Snowflake]");
    });
  }
}
