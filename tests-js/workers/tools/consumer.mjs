// Projects of people who use the packed tarball with the tools of Cloudflare.
import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tools } from "../../../scripts/tools.mjs";
import { startDevServer } from "../../packaging/dev-server.mjs";
import { installConsumer, run } from "../../packaging/tarballs.mjs";
import { freePort } from "../../stores/kit/server-process.mjs";

const here = fileURLToPath(new URL("./", import.meta.url));
const modules = join(here, "node_modules");

/** The packages of the tools. */
export const packages = {
  /** That of the suites which run Workers. It is newer than those of the plugins. */
  wrangler: fileURLToPath(new URL("../../node_modules/wrangler", import.meta.url)),
  vitePlugin: join(modules, "@cloudflare/vite-plugin"),
  vitestPlugin: join(modules, "@cloudflare/vitest-plugin"),
};
export const WRANGLER = join(packages.wrangler, "bin/wrangler.js");
export const VITE = join(modules, "vite/bin/vite.js");
export const VITEST = join(modules, "vitest/vitest.mjs");

export const OLDEST_DATE = "2024-09-01";
/** The newest date that the workerd of a package accepts, a week after its own, or today: a tool refuses later dates. */
export function newestDate(packageFolder) {
  const require = createRequire(join(packageFolder, "package.json"));
  const { compatibilityDate } = createRequire(require.resolve("miniflare"))("workerd");
  const acceptedMs = Date.parse(compatibilityDate) + 7 * 86_400_000;
  return new Date(Math.min(acceptedMs, Date.now())).toISOString().slice(0, 10);
}

/** Installs the Worker with the files of some folders. The packages of this folder are there as a package manager links them. */
export function installWorker(...folders) {
  const folder = installConsumer("workers-tools");
  for (const name of ["worker", ...folders]) cpSync(join(here, name), folder, { recursive: true });
  for (const name of readdirSync(modules)) {
    if (name.startsWith(".") || name === "frazil") continue;
    symlinkSync(join(modules, name), join(folder, "node_modules", name));
  }
  return folder;
}

/** Writes a compatibility date into the configuration. */
export function setDate(folder, date) {
  const path = join(folder, "wrangler.jsonc");
  const configuration = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...configuration, compatibility_date: date }));
}

/** The environment of a tool: it sends nothing to Cloudflare, fetches nothing from there, asks nothing, and keeps its logs here. */
const environment = (folder) => ({
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  CI: "true",
  NO_COLOR: "1",
  XDG_CONFIG_HOME: join(folder, ".config"),
});

/** Runs a program of a tool to its end, in the Node that the tools need. */
export const runTool = (folder, program, args, options) =>
  run(folder, tools.node24, [program, ...args], { env: environment(folder), ...options });

/** Starts a server of a tool, waits for its first answer, which it returns, and ends it. `args(port)`: its arguments. */
export async function answerOf(folder, program, args) {
  const port = await freePort();
  const { response, stop, log } = await startDevServer(tools.node24, [program, ...(await args(`${port}`))], {
    port,
    cwd: folder,
    env: { ...process.env, ...environment(folder) },
  });
  try {
    const text = await response.text();
    assert.equal(response.status, 200, `${text}\n${log()}`);
    return JSON.parse(text);
  } finally {
    await stop();
  }
}

/** Asserts that an answer of the Worker has IDs that a lease of its own object has allowed. */
export function checkAnswer({ many, ...rest }) {
  assert.deepEqual(rest, { node: rest.node, backend: "wasm", oneCopy: true });
  assert.equal(typeof rest.node, "number");
  const ids = many.map(BigInt);
  assert.equal(ids.length, 1000);
  assert.ok(
    ids.every((id, at) => at === 0 || id > ids[at - 1]),
    "they increase",
  );
}
