// Builds the addon, the WebAssembly module and the npm package. Each step is skipped where its inputs have not changed.
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { posix } from "node:path";
import { PLATFORM_HERE, PLATFORMS } from "../platforms/index.mjs";
import { ask, root, run, step } from "../shell.mjs";
import { BUNDLES, CONTRACTS, ENTRIES, NATIVE_FILES, sourceOf, WASM_IMPORTS } from "./bundles.mjs";
import { compact } from "./compact.mjs";
import { writeReadme } from "./readme.mjs";
import { releaseEnvironment } from "./reproducible.mjs";
import { sharing } from "./sharing.mjs";

const target = process.env.CARGO_TARGET_DIR ?? `${root}target`;
const frazil = `${root}npm/frazil`;
const bin = `${root}node_modules/.bin`;

/** The WebAssembly features that binaryen may use: exactly those that rustc enables for the target. */
const FEATURES = [
  "bulk-memory",
  "nontrapping-float-to-int",
  "sign-ext",
  "mutable-globals",
  "reference-types",
  "multivalue",
];

/** The WebAssembly modules, each with what it exports besides its memory; all that the core has, if nothing is named. */
const WASM_MODULES = {
  "frazil.wasm": [],
  "segment.wasm": ["abi", "frame", "release", "segment"],
};
/** Those of public IDs and of the audit, which are built from crates of their own. */
const PUBLIC_MODULE = "public.wasm";
const AUDIT_MODULE = "audit.wasm";

function digest(paths) {
  const hash = createHash("sha256");
  const add = (path) => {
    if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path).sort()) add(`${path}/${name}`);
    } else hash.update(`${path.slice(root.length)}\0`).update(readFileSync(path));
  };
  paths.forEach(add);
  return hash.digest("hex");
}

const stampOf = (name) => name.replaceAll(" ", "-");

/** Runs a step unless its inputs are the same as in the last run. */
async function cached(name, inputs, outputs, work) {
  const stamp = `${root}.cache/${stampOf(name)}`;
  const now = `${digest(inputs.map((input) => `${root}${input}`))} ${process.version} ${ask("rustc", ["--version"])}`;
  const fresh =
    existsSync(stamp) &&
    readFileSync(stamp, "utf8") === now &&
    outputs.every((output) => existsSync(`${root}${output}`));
  if (fresh) return;
  await step(name, work);
  mkdirSync(`${root}.cache`, { recursive: true });
  writeFileSync(stamp, now);
}

function buildAddon() {
  run("cargo", ["build", "--locked", "--quiet", "--release", "-p", "frazil-napi"], { env: releaseEnvironment() });
  copyFileSync(`${target}/release/${PLATFORM_HERE.built}`, `${root}npm/${PLATFORM_HERE.name}/frazil.node`);
}

/**
 * The passes of wasm-opt. Fast code is made small afterwards, from code without nested expressions: the compressed modules of the core have
 * 115 bytes less than by `-Oz` alone.
 */
const PASSES = ["-O4", "--flatten", "--rereloop", "-Oz", "-Oz"];
/** For public IDs, whose compressed module has 65 bytes less if functions with one caller stay functions. */
const PUBLIC_PASSES = ["-Oz", "--one-caller-inline-max-function-size=0"];
/** For the audit. It is as fast as by `-O4`, which takes minutes. */
const AUDIT_PASSES = ["-O2"];

/** Builds a crate as one module or several. */
function buildWasm(crate, modules, passes, flags) {
  const triple = "wasm32-unknown-unknown";
  // Not `cargo build`, which would also make the library that the tests use: Cargo optimises a module together with its libraries (LTO)
  // only if it is not a library as well.
  const what = ["-p", crate, "--crate-type", "cdylib", "--target", triple, "--profile", "release-wasm"];
  run("cargo", ["rustc", "--locked", "--quiet", ...what], { env: releaseEnvironment(flags) });
  const built = `${target}/${triple}/release-wasm/${crate.replaceAll("-", "_")}.wasm`;
  for (const [file, exports] of Object.entries(modules)) {
    const module = `${frazil}/build/${file}`;
    run("cargo", ["run", "--locked", "--quiet", "-p", "xtask", "--", "module", built, module, ...exports]);
    optimise(module, passes);
  }
}

function optimise(module, passes) {
  run(`${bin}/wasm-opt`, [
    ...passes,
    "--converge",
    // 36 bytes of the compressed module.
    "--reorder-functions",
    // Notes for tools, which the package does not need.
    "--strip-producers",
    "--strip-target-features",
    ...FEATURES.map((feature) => `--enable-${feature}`),
    module,
    "-o",
    module,
  ]);
}

/** Deletes the declarations that no entry imports, directly or indirectly. */
function keepReachable(folder, entries) {
  const reached = new Set();
  const visit = (name) => {
    if (reached.has(name)) return;
    reached.add(name);
    const text = readFileSync(`${folder}/${name}.d.ts`, "utf8");
    for (const [, from] of text.matchAll(/from "(\..*?)\.js"/g)) visit(posix.join(posix.dirname(name), from));
  };
  entries.forEach(visit);
  for (const file of readdirSync(folder, { recursive: true })) {
    const name = file.replaceAll("\\", "/");
    if (name.endsWith(".d.ts") && !reached.has(name.slice(0, -".d.ts".length))) rmSync(`${folder}/${file}`);
  }
  for (const name of readdirSync(folder)) {
    if (statSync(`${folder}/${name}`).isDirectory() && readdirSync(`${folder}/${name}`).length === 0)
      rmSync(`${folder}/${name}`, { recursive: true });
  }
}

/** The names that a file of CommonJS in `dist` exports. */
const exportsOf = (file) => Object.keys(createRequire(import.meta.url)(`${frazil}/dist/${file}`)).sort();

/** The CommonJS files of the entries whose file has another name. */
const REQUIRED = { index: "node.cjs", workers: "workers-elsewhere.cjs", "workers/segment": "workers-elsewhere.cjs" };

/**
 * Completes the declarations that the compiler wrote into `dist/types`, and writes those of each entry, which export what is there. They
 * are there once, as CommonJS, which both kinds of module can import; the nearest package.json says so to the compiler. Reads the bundles.
 */
function writeDeclarations(dist) {
  const entries = ["index", ...ENTRIES];
  const declarationsOf = (entry) => (entry === "index" ? entry : `${entry}/index`);
  keepReachable(`${dist}/types`, entries.map(declarationsOf));
  // With a `#private` field no mock could implement the class. `code` is declared as a property, as the other details are: a derived
  // class may not redeclare an accessor as one (TS2610).
  for (const name of ["layout/decoded", "base/errors"]) {
    const path = `${dist}/types/${name}.d.ts`;
    const declared = readFileSync(path, "utf8").replace(/^ +#private;\n/m, "");
    const bare = declared.replace("get code(): ErrorCode;", "readonly code: ErrorCode;");
    if (bare.includes("#private") || bare.includes(" get code()"))
      throw new Error(`${path}: it is written otherwise now`);
    writeFileSync(path, bare);
  }
  writeFileSync(`${dist}/types/package.json`, '{ "type": "commonjs" }\n');
  // As in the files that they describe. Without it the compiler takes a default import for the whole module, and what runs finds
  // `undefined`. `native` has no exports, and none of these files where there is no addon.
  const mark = "/** There is no default export. */\nexport declare const __esModule: true;\n";
  for (const entry of entries) {
    const from = posix.relative(posix.dirname(entry), `types/${declarationsOf(entry)}.js`);
    const path = JSON.stringify(from.startsWith(".") ? from : `./${from}`);
    // With the names of what is no type, but for internal ones: the compiler suggests a name to a program with a default import if it is
    // in this file.
    const declared = readFileSync(`${dist}/types/${declarationsOf(entry)}.d.ts`, "utf8").replace(
      /\/\*\*[\s\S]*?\*\/|from ".*"/g,
      "",
    );
    const values = entry === "native" ? [] : exportsOf(REQUIRED[entry] ?? `${entry}.cjs`);
    const names = values.filter((name) => new RegExp(`\\b${name}\\b`).test(declared)).join(", ");
    const all = `export * from ${path};\n${names && `export { ${names} } from ${path};\n`}`;
    writeFileSync(`${dist}/${entry}.d.mts`, all);
    writeFileSync(`${dist}/${entry}.d.cts`, entry === "native" ? all : all + mark);
  }
}

/** The subpaths of the package with what an ES module imports where no condition of a runtime holds, both without `./`. */
function subpaths() {
  const { exports } = JSON.parse(readFileSync(`${frazil}/package.json`, "utf8"));
  const modules = Object.entries(exports).filter(([subpath, { import: found }]) => subpath !== "." && found);
  return modules.map(([subpath, { import: found }]) => [subpath.slice(2), found.default.slice(2)]);
}

async function buildPackage() {
  const esbuild = await import("esbuild");
  const dist = `${frazil}/dist`;
  rmSync(dist, { recursive: true, force: true });
  run(`${bin}/tsc`, ["-p", frazil]);
  for (const file of [...Object.keys(WASM_MODULES), PUBLIC_MODULE, AUDIT_MODULE])
    copyFileSync(`${frazil}/build/${file}`, `${dist}/${file}`);
  // `binding/wasm-text.ts` in CommonJS. It is loaded late, perhaps after a program has changed what all objects inherit. esbuild's
  // helpers for exports would break then.
  const text = readFileSync(`${dist}/frazil.wasm`, "base64");
  writeFileSync(`${dist}/wasm-text.cjs`, `exports.wasmText = "${text}";\n`);
  // A program that does not mint uses nothing of these files, so bundlers drop them, and with them the module.
  for (const [file, imported] of Object.entries(WASM_IMPORTS))
    writeFileSync(`${dist}/${file}`, `${imported}\nexport default wasm;\n`);
  for (const bundle of BUNDLES) {
    const { file, entry, binding, format, platform = "neutral" } = bundle;
    await esbuild.build({
      entryPoints: [`${frazil}/${sourceOf(entry)}`],
      outfile: `${dist}/${file}`,
      bundle: true,
      format,
      platform,
      target: ["es2022", "node20.16"],
      mainFields: ["module", "main"],
      alias: {
        ...(binding && { "#binding": `${frazil}/src/core/binding/${binding}.ts` }),
        "#public": `${frazil}/src/public/binding/${binding ?? "inline"}.ts`,
        "#decoding": `${frazil}/src/layout/${binding === "node" ? "fast" : "small"}.ts`,
      },
      plugins: [sharing(bundle)],
      loader: { ".wasm": "base64" },
      // These stay imports: the WebAssembly module where the host compiles it, and the package itself for the command line.
      // The platform packages of `frazil/native` and the built-in modules stay as well.
      external: [
        ...Object.keys(WASM_IMPORTS).map((file) => `./${file}`),
        "frazil",
        "frazil-*",
        "cloudflare:workers",
        "node:*",
      ],
      legalComments: "none",
      // Removes constants and dead branches, but keeps names, so that stack traces stay readable.
      // Not of files that bundlers take apart: it would take the marks off what may be left out, where it inlines a function.
      minifySyntax: !/^workers(\/segment)?$|\bshared$/.test(entry),
      // The command line catches its errors, so its names are in no stack trace, and no bundler reads it.
      minifyIdentifiers: entry === "cli",
      logLevel: "warning",
    });
    await compact(`${dist}/${file}`, esbuild);
  }
  const reexport = async (file, names, from, note = "") => {
    const text = `${note}export { ${names.join(", ")} } from "./${from}";\n`;
    const commonJs = file.endsWith(".cjs") && (await esbuild.transform(text, { format: "cjs", platform: "node" }));
    writeFileSync(`${dist}/${file}`, commonJs ? commonJs.code : text);
  };
  const note = "// CommonJS holds the one instance of the package in Node, so that import and require share it.\n";
  // Node reads all of a CommonJS file that is imported for the names of its exports, which takes 7 ms of the whole bundle.
  const inNode = exportsOf("node.cjs");
  const assigned = inNode.map((name) => `exports.${name} = frazil.${name};\n`).join("");
  writeFileSync(`${dist}/node-names.cjs`, `"use strict";\nconst frazil = require("./node.cjs");\n${assigned}`);
  await reexport("node.mjs", inNode, "node-names.cjs", note);
  const layout = {
    entryPoints: [`${frazil}/${sourceOf("layout")}`],
    bundle: true,
    format: "esm",
    write: false,
    external: ["node:*"],
    metafile: true,
  };
  const [{ exports: names }] = Object.values((await esbuild.build(layout)).metafile.outputs);
  await reexport("layout.mjs", names, "shared.mjs");
  await reexport("layout.cjs", names, "inline.cjs");
  await reexport("layout-node.cjs", names, "node.cjs");
  await reexport("layout-node.mjs", names, "node-names.cjs", note);
  for (const entry of CONTRACTS)
    await reexport(`${entry}.mjs`, exportsOf(`${entry}.cjs`), posix.basename(`${entry}.cjs`));
  writeDeclarations(dist);
  // For tools that ignore `exports`, such as Parcel and older Metro: a file under the name of each subpath.
  for (const [subpath, file] of subpaths()) {
    const from = posix.relative(posix.dirname(subpath), file);
    mkdirSync(posix.dirname(`${frazil}/${subpath}`), { recursive: true });
    writeFileSync(`${frazil}/${subpath}.js`, `export * from "${from.startsWith(".") ? from : `./${from}`}";\n`);
  }
  for (const [file, text] of Object.entries(NATIVE_FILES)) writeFileSync(`${dist}/${file}`, `${text}\n`);
  const platformPackages = PLATFORMS.map(({ name }) => `${root}npm/${name}`);
  for (const platformPackage of platformPackages)
    copyFileSync(`${frazil}/THIRD-PARTY.md`, `${platformPackage}/THIRD-PARTY.md`);
  for (const folder of [frazil, ...platformPackages]) {
    for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(`${root}${licence}`, `${folder}/${licence}`);
  }
}

const PACKAGE_STEP = "building the package";

/** Whether this clone was ever built. */
export const isBuilt = () => existsSync(`${root}.cache/${stampOf(PACKAGE_STEP)}`);

export async function build() {
  const scripts = ["scripts/build/index.mjs", "scripts/build/reproducible.mjs"];
  const rust = ["Cargo.toml", "Cargo.lock", "crates/core/Cargo.toml", "crates/core/src", ...scripts];
  const audit = ["crates/audit/Cargo.toml", "crates/audit/src"];
  if (PLATFORM_HERE !== undefined) {
    const addon = [...rust, ...audit, "crates/local/Cargo.toml", "crates/local/src", "crates/napi"];
    await cached("building the native addon", addon, [`npm/${PLATFORM_HERE.name}/frazil.node`], buildAddon);
  } else {
    process.stderr.write(`· there is no native addon for ${process.platform}-${process.arch}: WebAssembly is used\n`);
  }
  const wasm = Object.keys(WASM_MODULES).map((file) => `npm/frazil/build/${file}`);
  await cached(
    "building the WebAssembly module",
    [...rust, "crates/wasm", "crates/xtask", "package-lock.json"],
    wasm,
    () => buildWasm("frazil-wasm", WASM_MODULES, PASSES),
  );
  await cached(
    "building the WebAssembly module of public IDs",
    [...rust, "crates/wasm-public", "crates/xtask", "package-lock.json"],
    [`npm/frazil/build/${PUBLIC_MODULE}`],
    () =>
      buildWasm("frazil-wasm-public", { [PUBLIC_MODULE]: [] }, PUBLIC_PASSES, [
        "--cfg",
        'aes_backend_soft="compact"',
        "--cfg",
        'cpubits="32"',
      ]),
  );
  await cached(
    "building the WebAssembly module of the audit",
    [...rust, ...audit, "crates/wasm-audit", "crates/xtask", "package-lock.json"],
    [`npm/frazil/build/${AUDIT_MODULE}`],
    () => buildWasm("frazil-wasm-audit", { [AUDIT_MODULE]: [] }, AUDIT_PASSES),
  );
  const sources = [
    "npm/frazil/package.json",
    "npm/frazil/src",
    "npm/frazil/build",
    "npm/frazil/tsconfig.json",
    "npm/frazil/THIRD-PARTY.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "scripts/build/index.mjs",
    "scripts/build/bundles.mjs",
    "scripts/build/sharing.mjs",
    "scripts/build/compact.mjs",
    "scripts/platforms/index.mjs",
    "package-lock.json",
  ];
  await cached(PACKAGE_STEP, sources, ["npm/frazil/dist/node.cjs", "npm/frazil/decode.js"], buildPackage);
  const readme = ["README.md", "package.json", "scripts/build/readme.mjs", "scripts/release/repository.mjs"];
  await cached("copying the README", readme, ["npm/frazil/README.md"], writeReadme);
  // npm links the command of a package only if its file is there, and it was not when npm installed the packages.
  if (!existsSync(`${bin}/frazil`))
    run("npm", ["rebuild", "frazil", "--ignore-scripts", "--loglevel=error"], {
      stdio: ["ignore", "ignore", "inherit"],
    });
}
