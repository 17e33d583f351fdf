// Packs the packages as npm would publish them, and installs them into fresh copies of the consumer projects, outside the
// workspace.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isLinuxX64Gnu as hasAddon } from "../../scripts/shell.mjs";

export { hasAddon };

/** The root of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL("../../", import.meta.url));
const consumers = fileURLToPath(new URL(".", import.meta.url));

const scratch = mkdtempSync(join(tmpdir(), "frazil-packaging-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

/** The environment of a user: without the variables of npm, the test runner and the backend of this process. */
export const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|node_|frazil_|force_color)/i.test(name)),
);

/** Runs a program in a folder and returns what it printed. Its exit code must be `status`. */
export function run(folder, program, args, { status = 0, env = {} } = {}) {
  const result = spawnSync(program, args, { cwd: folder, encoding: "utf8", env: { ...inherited, ...env } });
  if (result.error) throw result.error;
  const output = `${[program, ...args].join(" ")} in ${folder}:\n${result.stdout}${result.stderr}`;
  assert.equal(result.status, status, `exit code ${result.status}, not ${status}, of ${output}`);
  return { stdout: result.stdout, stderr: result.stderr };
}

export const node = (folder, args, options) => run(folder, process.execPath, args, options);

/** An empty folder that lasts as long as this process. */
export const emptyFolder = (name) => mkdtempSync(join(scratch, `${name}-`));

let packed;

/** Packs every package that this machine builds, once. Returns the path of each tarball and npm's report on it. */
export function pack() {
  if (packed !== undefined) return packed;
  const names = hasAddon ? ["frazil", "linux-x64-gnu"] : ["frazil"];
  const folder = emptyFolder("tarballs");
  const args = ["pack", "--json", "--pack-destination", folder, ...names.map((name) => join(root, "npm", name))];
  const reports = JSON.parse(run(root, "npm", args).stdout);
  packed = names.map((name, at) => ({ name, tarball: join(folder, reports[at].filename), report: reports[at] }));
  return packed;
}

/** Folders with the tarballs installed, with the addon and without it: npm installs once, and consumers are copies. */
const installed = new Map();

/** The folder in which npm has installed the tarballs, without a registry. */
function installedOnce(addon) {
  if (installed.has(addon)) return installed.get(addon);
  const folder = emptyFolder("installed");
  const [frazil, addonPackage] = pack().map(({ tarball }) => `file:${tarball}`);
  const manifest = {
    name: "consumer",
    private: true,
    type: "module",
    dependencies: { frazil },
    // The addon that npm would otherwise fetch from the registry for frazil.
    optionalDependencies: addonPackage === undefined ? {} : { "frazil-linux-x64-gnu": addonPackage },
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const quietly = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"];
  run(folder, "npm", ["install", ...quietly, ...(addon ? [] : ["--omit=optional"])]);
  installed.set(addon, folder);
  return folder;
}

/** Copies the folder of a consumer, if there is one, and what npm has installed. Returns the copy, which a test may change. */
export function installConsumer(name, { addon = hasAddon } = {}) {
  const folder = emptyFolder(name);
  if (existsSync(join(consumers, name))) cpSync(join(consumers, name), folder, { recursive: true });
  cpSync(installedOnce(addon), folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}
