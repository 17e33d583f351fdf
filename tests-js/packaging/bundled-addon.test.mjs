// Bundles of the installed package for Node: where each finds the addon, and `frazil/native`, which includes it.
import assert from "node:assert/strict";
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { addonPackages, bundle, native, needs } from "./installed.mjs";
import { emptyFolder, hasAddon, installConsumer, node, root, run } from "./tarballs.mjs";

const BUN = join(root, "tests-js/node_modules/@oven/bun-linux-x64/bin/bun");
const NFT = join(root, "tests-js/node_modules/@vercel/nft/out/index.js");
const bunNeeds = hasAddon ? needs(BUN) : native;

test("esbuild-node: a bundle uses the addon if node_modules can be reached, and WebAssembly elsewhere", native, () => {
  const folder = installConsumer("esbuild-node");
  const elsewhere = emptyFolder("elsewhere");
  for (const [format, file] of [
    ["esm", "out.mjs"],
    ["cjs", "out.cjs"],
  ]) {
    bundle(folder, { entryPoints: ["main.mjs"], outfile: file, format, platform: "node" });
    assert.deepEqual(node(folder, [file]), { stdout: "native 7", stderr: "" });
    copyFileSync(join(folder, file), join(elsewhere, file));
    const { stdout, stderr } = node(elsewhere, [file]);
    assert.equal(stdout, "wasm 7");
    assert.equal(stderr.match(/FRAZIL_WASM/g)?.length, 1, stderr);
  }
});

/** Bundles `native/main.mjs` with the addon beside the bundle, as `docs/guides/bundling.md` says. */
const withAddon = { entryPoints: ["main.mjs"], platform: "node", loader: { ".node": "copy" } };

const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

test("native: a bundle of frazil/native carries the addon, and runs in a folder that has nothing else", native, () => {
  const folder = installConsumer("native");
  for (const [format, file, banner] of [
    ["cjs", "out.cjs", {}],
    ["esm", "out.mjs", { js: REQUIRE }],
  ]) {
    const out = emptyFolder("out");
    bundle(folder, { ...withAddon, format, banner, outfile: `${format}/${file}` });
    cpSync(join(folder, format), out, { recursive: true });
    assert.deepEqual(node(out, [file]), { stdout: "native 7", stderr: "" });
    // The mutant: the same without the addon.
    for (const addon of readdirSync(out).filter((name) => name.endsWith(".node"))) rmSync(join(out, addon));
    assert.match(node(out, [file]).stderr, /FRAZIL_WASM.*frazil-\w+\.node/);
  }
});

test("native: an ES module by esbuild without a require says that the bundle needs one", native, () => {
  const folder = installConsumer("native");
  bundle(folder, { ...withAddon, format: "esm", outfile: "esm/out.mjs" });
  const out = emptyFolder("out");
  cpSync(join(folder, "esm"), out, { recursive: true });
  const { stdout, stderr } = node(out, ["out.mjs"]);
  assert.equal(stdout, "wasm 7");
  assert.match(stderr, /Dynamic require of .* is not supported/);
  assert.match(stderr, /Give the bundle a require\. With esbuild: --banner:js='import \{ createRequire \}/);
  assert.doesNotMatch(stderr, /frazil\/native/);
});

test("native: bun build --compile makes one file that runs natively in an empty folder", bunNeeds, () => {
  const folder = installConsumer("native");
  const elsewhere = emptyFolder("elsewhere");
  for (const [entry, printed] of [
    ["main.mjs", "native 7"],
    ["without.mjs", "wasm 7"],
  ]) {
    const program = join(elsewhere, entry.replace(".mjs", ""));
    run(folder, BUN, ["build", "--compile", entry, "--outfile", program]);
    assert.equal(run(elsewhere, program, []).stdout, printed);
  }
});

test("native: file tracing finds the addon", needs(NFT), async () => {
  const folder = installConsumer("native");
  const { nodeFileTrace } = await import(NFT);
  const traced = async (entry) => [...(await nodeFileTrace([join(folder, entry)], { base: folder })).fileList];
  const addons = (files) => files.filter((file) => file.endsWith(".node"));
  assert.equal(addons(await traced("main.mjs")).length, hasAddon ? 1 : 0);
  assert.deepEqual(addons(await traced("without.mjs")), [], "the mutant: without frazil/native");
  // What is traced is enough.
  const elsewhere = emptyFolder("elsewhere");
  for (const file of await traced("main.mjs")) cpSync(join(folder, file), join(elsewhere, file));
  assert.equal(node(elsewhere, ["main.mjs"]).stdout, hasAddon ? "native 7" : "wasm 7");
});

test("native: import and require of it give the same frazil, and nothing is loaded before it is needed", native, () => {
  const folder = installConsumer("native");
  const loaded = node(folder, ["loaded.cjs"]).stdout;
  assert.deepEqual(JSON.parse(loaded), {
    exported: [],
    before: [],
    after: ["frazil.node"],
    backend: "native",
    one: true,
  });
});

test("native: after the first generator it is refused if that runs on WebAssembly, and only then", native, () => {
  const without = installConsumer("native", { addon: false });
  const installed = installConsumer("native");
  // Both are handled by the program: Node 20 ended the process where an ES module imported CommonJS that threw.
  for (const program of ["late.cjs", "late.mjs"]) {
    const late = (folder, env) => JSON.parse(node(folder, [program], { env }).stdout);
    assert.deepEqual(late(without), { backend: "wasm", refused: "NATIVE_REQUIRED" });
    assert.deepEqual(late(without, { FRAZIL_BACKEND: "wasm" }), { backend: "wasm" });
    assert.deepEqual(late(installed), { backend: "native" });
  }
});

test("native: without an addon it is no error, and the warning has one cause for each way", () => {
  const { stdout, stderr } = node(installConsumer("native", { addon: false }), ["main.mjs"]);
  assert.equal(stdout, "wasm 7");
  for (const name of addonPackages) assert.equal(stderr.split(`Cannot find module '${name}'`).length, 3, stderr);
});

test("native: it has a package for each that frazil may install, as a literal", () => {
  const manifest = JSON.parse(readFileSync(join(root, "npm/frazil/package.json"), "utf8"));
  const text = readFileSync(join(root, "npm/frazil/dist/native-addons.cjs"), "utf8").replace(/\s/g, "");
  const literals = [...text.matchAll(/try\{return\{addon:require\("([^"]+)"\)\}\}catch/g)].map(([, name]) => name);
  assert.equal(literals.length, 8);
  for (const name of Object.keys(manifest.optionalDependencies)) assert.ok(literals.includes(name), name);
  for (const name of literals) assert.ok(text.includes(`case"${name}":`), name);
});

/** A bundle that Turbopack made: the file that it names does not exist. */
const OF_TURBOPACK = { __filename: '"/ROOT/node_modules/frazil/dist/node.cjs"' };

test("esbuild-node: the addon is found from the program where the bundle does not know its own file", native, () => {
  const folder = installConsumer("esbuild-node");
  bundle(folder, {
    entryPoints: ["main.mjs"],
    outfile: "out.cjs",
    format: "cjs",
    platform: "node",
    define: OF_TURBOPACK,
  });
  const elsewhere = emptyFolder("elsewhere");
  assert.deepEqual(node(elsewhere, [join(folder, "out.cjs")]), { stdout: "native 7", stderr: "" });
});

test("esbuild-node: native code of the working directory is loaded by no program that is a file", native, () => {
  const folder = installConsumer("esbuild-node");
  const elsewhere = emptyFolder("elsewhere");
  for (const [format, file, define] of [
    ["esm", "out.mjs", {}],
    ["cjs", "out.cjs", OF_TURBOPACK],
  ]) {
    bundle(folder, { entryPoints: ["main.mjs"], outfile: file, format, platform: "node", define });
    copyFileSync(join(folder, file), join(elsewhere, file));
    const program = join(elsewhere, file);
    const { stdout, stderr } = node(folder, [program]);
    assert.equal(stdout, "wasm 7");
    assert.ok(stderr.includes(`from ${program}`) && !stderr.includes(folder), stderr);
    // A text is no file, whatever its arguments are.
    const text = `import(${JSON.stringify(program)})`;
    for (const args of [[], [program], ["word"]])
      assert.deepEqual(node(folder, ["-e", text, ...args]), { stdout: "native 7", stderr: "" });
  }
});

test(
  "native code of the working directory is loaded by no thread without a file, and by no program with other arguments",
  native,
  () => {
    const program = installConsumer("no-addon", { addon: false });
    const evil = installConsumer("esbuild-node");
    const mint = `require(${JSON.stringify(join(program, "node_modules/frazil"))})`;
    const thread = `const { Snowflake } = ${mint};
    try { process.stdout.write(new Snowflake({ node: 7, unshared: true }).backend); } catch (error) { process.stdout.write(error.code); }`;
    const data = `import { createRequire } from "node:module"; const require = createRequire(${JSON.stringify(program)});${thread}`;
    for (const [name, text] of Object.entries({
      "eval.cjs": `new (require("node:worker_threads").Worker)(${JSON.stringify(thread)}, { eval: true });`,
      "data.cjs": `new (require("node:worker_threads").Worker)(new URL("data:text/javascript," + encodeURIComponent(${JSON.stringify(data)})));`,
      "shifted.cjs": `process.argv.splice(1, 1); ${thread}`,
      "none.cjs": `process.argv = []; ${thread}`,
    })) {
      writeFileSync(join(program, name), text);
      assert.equal(node(evil, [join(program, name)]).stdout, "wasm", name);
    }
  },
);

test("esbuild-node: a place that cannot be looked at leaves the others", native, () => {
  const folder = installConsumer("node-require");
  for (const change of [
    'process.argv[1] = "/a\\0b"',
    `process.argv[1] = "/" + "x".repeat(300)`,
    `process.argv[1] = ${JSON.stringify(join(folder, "package.json", "x"))}`,
    "process.argv[1] = 5",
    "process.argv = undefined",
    "process.execArgv = undefined",
    'process.cwd = () => { throw new Error("gone"); }',
  ]) {
    const text = `${change}; process.stdout.write(new (require("frazil").Snowflake)({ node: 7 }).backend);`;
    assert.deepEqual(node(folder, ["-e", text]), { stdout: "native", stderr: "" }, change);
  }
});

test("esbuild-node: a global command is a link, and the addon is beside the program that it leads to", native, () => {
  const folder = installConsumer("esbuild-node");
  bundle(folder, { entryPoints: ["main.mjs"], outfile: "cli.mjs", format: "esm", platform: "node" });
  const bin = join(emptyFolder("bin"), "tool");
  symlinkSync(join(folder, "cli.mjs"), bin);
  assert.deepEqual(node(emptyFolder("elsewhere"), [bin]), { stdout: "native 7", stderr: "" });
});

test("esbuild-node: in Node 22.2 CommonJS has the addon, and an ES module says which Node it needs", native, () => {
  const folder = installConsumer("esbuild-node");
  // What 22.2 lacks.
  const text = "for (const owner of [process, Object.getPrototypeOf(process)]) delete owner.getBuiltinModule;";
  writeFileSync(join(folder, "old.cjs"), text);
  const old = (...args) => node(folder, ["-r", "./old.cjs", ...args]);
  assert.equal(old("-p", "process.getBuiltinModule").stdout, "undefined\n");
  assert.deepEqual(old("main.mjs"), { stdout: "native 7", stderr: "" });
  const esm = { entryPoints: ["main.mjs"], outfile: "out.mjs", format: "esm", platform: "node", minify: false };
  bundle(folder, esm);
  const { stderr } = run(folder, process.execPath, ["-r", "./old.cjs", "out.mjs"], { status: 1 });
  assert.match(stderr, /WASM_UNAVAILABLE: .*cannot load node:\w+ in Node v[\d.]+: run Node 22\.3 or newer/);
});

test("native: a bundler that gives a name in place of the addon is named", native, () => {
  const folder = installConsumer("esbuild-node");
  writeFileSync(join(folder, "named.mjs"), 'import "frazil/native";\nimport "./main.mjs";\n');
  bundle(folder, { entryPoints: ["named.mjs"], outfile: "out.cjs", platform: "node", loader: { ".node": "file" } });
  const elsewhere = emptyFolder("elsewhere");
  copyFileSync(join(folder, "out.cjs"), join(elsewhere, "out.cjs"));
  const { stdout, stderr } = node(elsewhere, ["out.cjs"]);
  assert.equal(stdout, "wasm 7");
  assert.match(stderr, /the bundler gives string in place of frazil-linux-x64-gnu/);
});

test("native: a bundler that gives the name of the file is told which loader it needs", native, () => {
  const folder = installConsumer("native");
  bundle(folder, { ...withAddon, loader: { ".node": "file" }, format: "cjs", outfile: "file/out.cjs" });
  const out = emptyFolder("out");
  cpSync(join(folder, "file"), out, { recursive: true });
  const { stderr } = node(out, ["out.cjs"]);
  assert.match(stderr, /the bundler gives string in place of/);
  assert.match(stderr, /Let the bundler copy \.node files/);
});
