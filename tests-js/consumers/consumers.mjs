// The consumers: one entry each, with the versions of its tools, its program, and where it mints.
//
// - `name`: what `npm test -- consumers-long` prints, and the row of the record; `shows`: what its run shows;
// - `fast`: whether `npm run test:all` runs it as well;
// - `packages`: what the project depends on besides frazil; `manifest`: more of its package.json;
// - `under`: the Node that runs its tools, a name of `tools` or a path (default: this one);
// - `tool`: a program of `tools` that it is about, for the record;
// - `files`: the project; `mint.mjs` (runner.mjs) is there already;
// - `install`: in place of `npm install`;
// - `steps`: builds and runs, and resolves to the text of each place that mints;
// - `expect`: the backend in each place; `allowed`: warnings that are expected.
import assert from "node:assert/strict";
import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PLATFORMS } from "../../scripts/platforms/index.mjs";
import { tools } from "../../scripts/tools.mjs";
import {
  BOTH,
  browser,
  FALLS_BACK,
  FRAZIL,
  HTML,
  JEST_TEST,
  MINT_CJS,
  manager,
  moved,
  next,
  nextStandalone,
  nitro,
  node,
  runBoth,
} from "./projects.mjs";

export const CONSUMERS = [
  {
    name: "npm",
    shows: "npm install; `import` and `require` in Node 20",
    fast: true,
    files: { "main.mjs": BOTH },
    install: (project) => project.npm(["install"]),
    steps: runBoth,
    expect: { main: "native" },
  },
  {
    name: "npm-ignore-scripts",
    shows: "`npm install --ignore-scripts`",
    fast: true,
    files: { "main.mjs": BOTH },
    install: (project) => project.npm(["install", "--ignore-scripts"]),
    steps: runBoth,
    expect: { main: "native" },
  },
  {
    name: "npm-omit-optional",
    shows: "`npm install --omit=optional`: no addon, one warning",
    fast: true,
    files: { "main.mjs": BOTH },
    install: (project) => project.npm(["install", "--omit=optional"]),
    async steps(project) {
      const main = await project.inNode(["main.mjs"]);
      assert.equal(main.match(/FRAZIL_WASM/g)?.length, 1, main);
      return { main };
    },
    expect: { main: "wasm" },
    allowed: FALLS_BACK,
  },
  {
    name: "npm-ci-darwin-lock",
    shows: "`npm ci` from a lock file that npm made for darwin-arm64 with its node_modules (npm/cli#4828)",
    fast: true,
    files: { "main.mjs": BOTH },
    async install(project) {
      await project.npm(["install", "--os=darwin", "--cpu=arm64"]);
      rmSync(project.path("package-lock.json"));
      await project.npm(["install", "--os=darwin", "--cpu=arm64"]);
      const { packages } = JSON.parse(project.read("package-lock.json"));
      assert.equal(
        Object.keys(packages).filter((path) => /frazil-/.test(path)).length,
        PLATFORMS.length,
        Object.keys(packages).join(),
      );
      await project.npm(["ci"]);
    },
    steps: runBoth,
    expect: { main: "native" },
  },
  { name: "node-22.3", shows: "the oldest Node 22", ...node("22.3.0") },
  { name: "node-25", shows: "Node 25", ...node("25.9.0") },
  { name: "pnpm", shows: "`pnpm install`", ...manager("pnpm", "12.21.0", "pnpm", {}) },
  {
    name: "pnpm-esbuild",
    shows: "pnpm, bundles by esbuild: frazil inside, frazil external, and with `frazil/native`",
    ...manager("pnpm", "12.21.0", "pnpm", {
      // Otherwise pnpm ends with an error for the script of esbuild, which it does not run.
      args: ["install", "--ignore-scripts"],
      "inside.mjs": 'import { mint } from "./mint.mjs";\nconsole.log(mint());\n',
      "native.mjs": 'import "frazil/native";\nimport { mint } from "./mint.mjs";\nconsole.log(mint());\n',
    }),
    manifest: { dependencies: { ...FRAZIL.dependencies, esbuild: "0.28.2" } },
    async steps(project) {
      const bundle = (name, file, ...how) => {
        const args = [`${file}.mjs`, "--bundle", "--platform=node", "--log-level=warning", ...how];
        return project.bin("esbuild/bin/esbuild", [...args, `--outfile=out/${name}.cjs`]);
      };
      await bundle("inside", "inside");
      await bundle("external", "inside", "--external:frazil");
      await bundle("native", "native", "--loader:.node=copy");
      const inside = await project.inNode(["out/inside.cjs"]);
      // pnpm puts the package of the addon beside that of frazil, and not where the bundle finds it.
      assert.match(inside, /Cannot find module 'frazil-linux-x64-gnu' from .*out\/inside\.cjs/);
      return {
        inside,
        external: await project.inNode(["out/external.cjs"]),
        native: await project.inNode(["out/native.cjs"]),
      };
    },
    expect: { inside: "wasm", external: "native", native: "native" },
    allowed: FALLS_BACK,
  },
  {
    name: "yarn-node-modules",
    shows: "yarn, `nodeLinker: node-modules`",
    ...manager("@yarnpkg/cli-dist", "4.18.1", "bin/yarn.js", { ".yarnrc.yml": "nodeLinker: node-modules\n" }),
  },
  {
    name: "yarn-pnp",
    shows: "yarn Plug'n'Play, with the ESM loader",
    ...manager("@yarnpkg/cli-dist", "4.18.1", "bin/yarn.js", {
      ".yarnrc.yml": "nodeLinker: pnp\n",
      run: ["--require", "./.pnp.cjs", "--import", "./register.mjs", "main.mjs"],
      "register.mjs":
        'import { register } from "node:module";\nimport { pathToFileURL } from "node:url";\nregister("./.pnp.loader.mjs", pathToFileURL("./"));\n',
    }),
  },
  {
    name: "bun",
    shows: "`bun install`; run by Bun and by Node",
    tool: "bun",
    fast: true,
    files: { "main.mjs": BOTH },
    install: (project) => project.run(tools.bun, ["install"]),
    steps: async (project) => ({ bun: await project.run(tools.bun, ["main.mjs"]), ...(await runBoth(project)) }),
    expect: { bun: "native", main: "native" },
  },
  {
    name: "bun-compile",
    shows: "`bun build --compile` with `frazil/native`, moved away from node_modules",
    tool: "bun",
    files: { "main.mjs": `import "frazil/native";\nimport { mint } from "./mint.mjs";\nconsole.log(mint());\n` },
    async steps(project) {
      await project.run(tools.bun, ["build", "--compile", "main.mjs", "--outfile", "out/app"]);
      return { app: await moved(project, "out", (cwd) => project.run(join(cwd, "app"), [], { cwd })) };
    },
    expect: { app: "native" },
  },
  {
    name: "vite",
    shows: "`vite build`, in Chromium",
    ...browser({ vite: "8.3.8" }, (project) => project.bin("vite/bin/vite.js", ["build"])),
  },
  {
    name: "rollup",
    shows: "Rollup with node-resolve, in Chromium",
    fast: true,
    ...browser(
      { rollup: "4.68.7", "@rollup/plugin-node-resolve": "16.0.3" },
      (project) => project.bin("rollup/dist/bin/rollup", ["-c"]),
      {
        folder: ".",
        "index.html": HTML("/dist/page.js"),
        "rollup.config.mjs":
          'import resolve from "@rollup/plugin-node-resolve";\nexport default { input: "page.mjs", output: { file: "dist/page.js" }, plugins: [resolve({ browser: true })] };\n',
      },
    ),
  },
  {
    name: "rollup-node",
    shows: "Rollup for Node: frazil inside, external, and where Rollup is not told that it is for Node",
    fast: true,
    packages: { rollup: "4.68.7", "@rollup/plugin-node-resolve": "16.0.3", "@rollup/plugin-commonjs": "29.0.3" },
    under: "node24",
    files: {
      "main.mjs": 'import { mint } from "./mint.mjs";\nconsole.log(mint());\n',
      "rollup.config.mjs": `import commonjs from "@rollup/plugin-commonjs";
import resolve from "@rollup/plugin-node-resolve";
const bundle = (name, how, external) => ({
  input: "main.mjs", external, output: { file: "out/" + name + ".mjs" }, plugins: [resolve(how), commonjs()],
});
const told = { exportConditions: ["node"] };
export default [bundle("inside", told), bundle("external", told, [/^frazil(-|\\/|$)/]), bundle("untold", { preferBuiltins: true })];
`,
    },
    async steps(project) {
      await project.bin("rollup/dist/bin/rollup", ["-c", "--silent"]);
      const untold = await project.inNode(["out/untold.mjs"]);
      assert.match(untold, /this is its entry for browsers, in Node/);
      return {
        inside: await project.inNode(["out/inside.mjs"]),
        external: await project.inNode(["out/external.mjs"]),
        untold,
      };
    },
    expect: { inside: "native", external: "native", untold: "wasm" },
    allowed: FALLS_BACK,
  },
  {
    name: "rolldown",
    shows: "Rolldown, in Chromium",
    fast: true,
    ...browser(
      { rolldown: "1.3.2" },
      (project) => project.bin("rolldown/bin/cli.mjs", ["page.mjs", "--file", "dist/page.js", "--platform", "browser"]),
      { folder: ".", "index.html": HTML("/dist/page.js") },
    ),
  },
  {
    name: "webpack",
    shows: "webpack 5 without settings, in Chromium",
    ...browser(
      { webpack: "5.112.2", "webpack-cli": "7.3.1" },
      (project) => project.bin("webpack/bin/webpack.js", ["--mode", "production", "--entry", "./page.mjs"]),
      { folder: ".", "index.html": HTML("/dist/main.js") },
    ),
  },
  {
    name: "lambda",
    shows: "one file by esbuild, moved: alone, and with `frazil/native` and `--loader:.node=copy`",
    fast: true,
    packages: { esbuild: "0.28.2" },
    files: {
      "alone.mjs": 'import { mint } from "./mint.mjs";\nconsole.log(mint());\n',
      "native.mjs": 'import "frazil/native";\nimport { mint } from "./mint.mjs";\nconsole.log(mint());\n',
    },
    async steps(project) {
      const how = ["--bundle", "--platform=node", "--loader:.node=copy", "--log-level=warning"];
      for (const file of ["alone", "native"])
        await project.bin("esbuild/bin/esbuild", [`${file}.mjs`, ...how, `--outfile=out/${file}.cjs`]);
      return moved(project, "out", async (cwd) => ({
        alone: await project.inNode(["alone.cjs"], { cwd }),
        native: await project.inNode(["native.cjs"], { cwd }),
      }));
    },
    expect: { alone: "wasm", native: "native" },
    allowed: FALLS_BACK,
  },
  {
    name: "sea",
    shows: "a single executable application of Node: where node_modules is in reach of it, and moved away",
    packages: { esbuild: "0.28.2", postject: "1.0.0-alpha.6" },
    under: "node24",
    files: {
      "main.mjs": 'import { mint } from "./mint.mjs";\nconsole.log(mint());\n',
      "sea.json": '{ "main": "out.cjs", "output": "sea.blob", "disableExperimentalSEAWarning": true }',
    },
    async steps(project) {
      await project.bin("esbuild/bin/esbuild", ["main.mjs", "--bundle", "--platform=node", "--outfile=out.cjs"]);
      await project.inNode(["--experimental-sea-config", "sea.json"]);
      cpSync(project.node, project.path("bin/app"));
      const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
      await project.bin("postject/dist/cli.js", ["bin/app", "NODE_SEA_BLOB", "sea.blob", "--sentinel-fuse", fuse]);
      const beside = await project.run(project.path("bin/app"), []);
      return { beside, moved: await moved(project, "bin", (cwd) => project.run(join(cwd, "app"), [], { cwd })) };
    },
    expect: { beside: "native", moved: "wasm" },
    allowed: [...FALLS_BACK, /warning: Can't find string offset for section name/],
  },
  {
    name: "frazil-wasm",
    shows: '`import "frazil/frazil.wasm"` in Node 24',
    fast: true,
    under: "node24",
    files: {
      "main.mjs":
        'import * as wasm from "frazil/frazil.wasm";\nimport { mint } from "./mint.mjs";\nif (typeof wasm.frame !== "function") throw new Error(Object.keys(wasm).join());\nconsole.log(mint());\n',
    },
    steps: runBoth,
    expect: { main: "native" },
    allowed: [/ExperimentalWarning: Importing WebAssembly/, /node --trace-warnings/],
  },
  {
    name: "next-16-turbopack",
    shows: "Next 16, Turbopack: a node route, an edge route, a client component",
    ...next("16.4.6", ["--turbopack"]),
  },
  {
    name: "next-16-turbopack-standalone",
    shows: 'Next 16, Turbopack: `output: "standalone"` moved, with `frazil/native` and `serverExternalPackages`',
    ...nextStandalone("16.4.6", ["--turbopack"]),
  },
  {
    name: "next-16-webpack",
    shows: "Next 16, webpack: a node route, an edge route, a client component",
    ...next("16.4.6", ["--webpack"]),
    // Where package.json has a "type", an edge route beside a client component does not build, with or without frazil: Next looks for a
    // file that it did not write (ENOENT, route_client-reference-manifest.js).
    manifest: { type: undefined },
  },
  {
    name: "next-16-webpack-standalone",
    shows: 'Next 16, webpack: `output: "standalone"` moved, with `frazil/native` and `serverExternalPackages`',
    ...nextStandalone("16.4.6", ["--webpack"]),
  },
  {
    name: "next-15-turbopack",
    shows: "Next 15, Turbopack: a node route, an edge route, a client component",
    ...next("15.5.29", ["--turbopack"]),
  },
  {
    name: "next-15-turbopack-standalone",
    shows: 'Next 15, Turbopack: `output: "standalone"` moved, with `frazil/native` and `serverExternalPackages`',
    ...nextStandalone("15.5.29", ["--turbopack"]),
  },
  {
    name: "next-15-webpack",
    shows: "Next 15, webpack: a node route, an edge route, a client component",
    ...next("15.5.29", []),
  },
  {
    name: "next-15-webpack-standalone",
    shows: 'Next 15, webpack: `output: "standalone"` moved, with `frazil/native` and `serverExternalPackages`',
    ...nextStandalone("15.5.29", []),
  },
  {
    name: "nitro",
    shows: "Nitro: `node-server` moved, `cloudflare_module` in workerd, `vercel` moved",
    ...nitro(
      { nitropack: "2.13.6" },
      (project, preset) => project.bin("nitropack/dist/cli/index.mjs", ["build", "--preset", preset]),
      {
        "nitro.config.mjs":
          'export default { compatibilityDate: "2026-10-01", experimental: { wasm: true }, cloudflare: { deployConfig: true, nodeCompat: true } };\n',
      },
      "routes",
    ),
  },
  {
    name: "nuxt",
    shows: "Nuxt: `node-server` moved, `cloudflare_module` in workerd, `vercel` moved",
    ...nitro(
      { nuxt: "4.5.2" },
      (project, preset) => project.bin("nuxt/bin/nuxt.mjs", ["build", "--preset", preset]),
      {
        "nuxt.config.mjs":
          'export default { compatibilityDate: "2026-10-01", telemetry: false, nitro: { experimental: { wasm: true }, cloudflare: { deployConfig: true, nodeCompat: true } } };\n',
        "app/app.vue": "<template><p>mint</p></template>\n",
      },
      "server/routes",
    ),
  },
  {
    name: "sveltekit",
    shows: "SvelteKit: a server route of adapter-node, and a page in Chromium",
    packages: {
      "@sveltejs/kit": "3.2.0",
      "@sveltejs/adapter-node": "6.0.1",
      "@sveltejs/vite-plugin-svelte": "7.3.1",
      svelte: "5.57.3",
      vite: "8.3.8",
    },
    under: "node24",
    files: {
      "vite.config.js":
        'import adapter from "@sveltejs/adapter-node";\nimport { sveltekit } from "@sveltejs/kit/vite";\nexport default { plugins: [sveltekit({ adapter: adapter() })] };\n',
      "src/app.html":
        '<!doctype html><html lang="en"><head><link rel="icon" href="data:,">%sveltekit.head%</head><body><div>%sveltekit.body%</div></body></html>\n',
      "src/routes/+page.svelte":
        '<script>\nimport { onMount } from "svelte";\nimport { mint } from "../../mint.mjs";\nlet text = $state("");\nonMount(() => { text = mint(); });\n</script>\n<p>{text}</p>\n',
      "src/routes/mint/+server.js":
        'import { mint } from "../../../mint.mjs";\nexport const GET = () => new Response(mint());\n',
    },
    async steps(project) {
      await project.bin("vite/bin/vite.js", ["build"]);
      const [server, page] = await project.serve(() => ["build/index.js"], ["/mint", "page:/"]);
      return { server, page };
    },
    expect: { server: "native", page: "wasm" },
  },
  {
    name: "astro",
    shows: "Astro: a server route of @astrojs/node, and a page in Chromium",
    packages: { astro: "7.3.5", "@astrojs/node": "11.1.6" },
    under: "node24",
    files: {
      "astro.config.mjs":
        'import node from "@astrojs/node";\nexport default { output: "server", adapter: node({ mode: "standalone" }) };\n',
      "src/pages/mint.js": 'import { mint } from "../../mint.mjs";\nexport const GET = () => new Response(mint());\n',
      "src/pages/index.astro":
        '<html lang="en"><head><link rel="icon" href="data:,"></head><body><p></p><script>\nimport { mint } from "../../mint.mjs";\ndocument.querySelector("p").innerText = mint();\n</script></body></html>\n',
    },
    async steps(project) {
      await project.bin("astro/bin/astro.mjs", ["build"]);
      const [server, page] = await project.serve(() => ["dist/server/entry.mjs"], ["/mint", "page:/"]);
      return { server, page };
    },
    expect: { server: "native", page: "wasm" },
  },
  {
    name: "jest",
    shows: "Jest, environments node and jsdom",
    packages: { jest: "30.5.2", "jest-environment-jsdom": "30.5.2" },
    files: {
      "mint.cjs": MINT_CJS,
      "node.test.cjs": JEST_TEST("node"),
      "jsdom.test.cjs": JEST_TEST("jsdom"),
      "jest.config.json": '{ "testMatch": ["**/*.test.cjs"] }',
    },
    async steps(project) {
      await project.bin("jest/bin/jest.js", []);
      return { node: project.read("node.txt"), jsdom: project.read("jsdom.txt") };
    },
    expect: { node: "native", jsdom: "wasm" },
  },
  {
    name: "vitest",
    shows: "Vitest, pools forks, threads and vmThreads",
    packages: { vitest: "5.1.1", vite: "8.3.8" },
    under: "node24",
    files: {
      "a.test.mjs":
        'import { writeFileSync } from "node:fs";\nimport { test } from "vitest";\nimport { mint } from "./mint.mjs";\ntest("mints", () => writeFileSync(process.env.POOL + ".txt", mint()));\n',
    },
    async steps(project) {
      const texts = {};
      for (const pool of ["forks", "threads", "vmThreads"]) {
        await project.bin("vitest/vitest.mjs", ["run", `--pool=${pool}`], { env: { POOL: pool } });
        texts[pool] = project.read(`${pool}.txt`);
      }
      return texts;
    },
    expect: { forks: "native", threads: "native", vmThreads: "native" },
  },
  {
    name: "metro",
    shows: "Metro with the conditions of React Native; the bundle runs in Node",
    packages: { metro: "0.87.1" },
    under: "node24",
    files: {
      "main.mjs": 'import { mint } from "./mint.mjs";\nconsole.log(mint());\n',
      // Metro does not make the folder.
      "out/empty": "",
      "metro.config.cjs":
        'module.exports = { resolver: { sourceExts: ["mjs", "cjs", "js", "json"], unstable_enablePackageExports: true, unstable_conditionNames: ["require", "import", "react-native"] }, transformer: { getTransformOptions: async () => ({ transform: { experimentalImportSupport: true } }) } };\n',
    },
    async steps(project) {
      await project.bin("metro/src/cli.js", [
        "build",
        "main.mjs",
        "--out",
        "out/bundle",
        "--config",
        "metro.config.cjs",
      ]);
      renameSync(project.path("out/bundle.js"), project.path("out/bundle.cjs"));
      return { bundle: await project.inNode(["out/bundle.cjs"]) };
    },
    expect: { bundle: "wasm" },
    // React Native has neither Node nor a warning.
    allowed: FALLS_BACK,
  },
];
