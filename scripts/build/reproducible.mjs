// So that two checkouts build the same bytes: the paths of a machine do not get into what is built. They would otherwise stand in the
// messages of panics.
import { homedir } from "node:os";
import { join } from "node:path";
import { ask, root } from "../shell.mjs";

const cargoHome = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
const checkout = root.replace(/[\\/]$/, "");

/**
 * The folders of this machine that bytes contain. None is looked for that has one name only, such as `/src`: other paths contain
 * that.
 */
export function foldersIn(bytes) {
  const sysroot = ask("rustc", ["--print", "sysroot"]);
  const folders = [checkout, process.env.CARGO_TARGET_DIR, cargoHome, sysroot].filter(Boolean);
  return folders.filter((folder) => /[^\\/][\\/]/.test(folder) && bytes.includes(folder));
}

/** The flags of rustc that give the folders of this machine the same names everywhere. */
function remappedFolders() {
  const sysroot = ask("rustc", ["--print", "sysroot"]);
  const [, commit] = /^commit-hash: (.*)$/m.exec(ask("rustc", ["--version", "--verbose"]) ?? "") ?? [];
  if (sysroot === undefined || commit === undefined)
    throw new Error("rustc does not say what it is: rustc --version --verbose");
  return [
    [checkout, "/frazil"],
    [cargoHome, "/cargo"],
    // Where the component rust-src is installed, rustc names its folder in place of the name that it has otherwise.
    [join(sysroot, "lib/rustlib/src/rust"), `/rustc/${commit}`],
  ].map(([from, to]) => `--remap-path-prefix=${from}=${to}`);
}

/**
 * The environment of a build that is released, with more flags for rustc, if there are any. The flags of the environment are left out:
 * they are none of a release.
 */
export function releaseEnvironment(flags = []) {
  // A path can have a space, so not in RUSTFLAGS.
  return { ...process.env, CARGO_ENCODED_RUSTFLAGS: [...flags, ...remappedFolders()].join("\x1f") };
}
