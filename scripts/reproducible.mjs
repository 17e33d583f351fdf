// So that two checkouts build the same bytes: the paths of a machine do not get into what is built. They would otherwise stand in the
// messages of panics.
import { homedir } from "node:os";
import { join } from "node:path";
import { ask, root } from "./shell.mjs";

/** The flags of rustc that give the folders of this machine the same names everywhere. */
function remappedFolders() {
  const sysroot = ask("rustc", ["--print", "sysroot"]);
  const [, commit] = /^commit-hash: (.*)$/m.exec(ask("rustc", ["--version", "--verbose"]) ?? "") ?? [];
  if (sysroot === undefined || commit === undefined)
    throw new Error("rustc does not say what it is: rustc --version --verbose");
  return [
    [root.replace(/[\\/]$/, ""), "/frazil"],
    [process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "/cargo"],
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
