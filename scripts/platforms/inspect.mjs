// Refuses a platform package whose addon does not fit its platform: `cargo run -p xtask -- inspect` reads the facts, and the rules are
// here.
import { existsSync, readFileSync } from "node:fs";
import { foldersIn } from "../build/reproducible.mjs";
import { ask, root } from "../shell.mjs";

const FORMATS = { linux: "elf", darwin: "mach-o", win32: "pe" };

/** The symbols that the addon offers: the entry for Node-API. */
const EXPORTS = ["napi_register_module_v1"];

/**
 * The libraries that every such system has. Not libgcc_s: images without a compiler lack it. The DLLs of Windows are those of
 * Windows 10, the oldest that Node 20 runs on.
 */
const SYSTEM_LIBRARIES = {
  glibc: /^(lib(c|m|dl|rt|pthread)\.so\.\d|ld-linux-(x86-64\.so\.2|aarch64\.so\.1))$/,
  musl: /^libc\.so$/,
  darwin: /^\/usr\/lib\/(libSystem\.B|libiconv\.2|libcharset\.1)\.dylib$/,
  win32: /^(kernel32|ntdll|advapi32|bcryptprimitives|userenv|ws2_32|ucrtbase|api-ms-win-(core|crt)-[a-z0-9-]+)\.dll$/i,
};

/** Whether a version such as "2.17" is above another. */
function isAbove(version, limit) {
  const [mine, theirs] = [version, limit].map((text) => text.split(".").map(Number));
  for (let at = 0; at < Math.max(mine.length, theirs.length); at++) {
    const difference = (mine[at] ?? 0) - (theirs[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/** The versions of glibc are numbers. Others are of one glibc only (GLIBC_PRIVATE), or of features of the loader (GLIBC_ABI_…). */
const NUMBERED = /^GLIBC_[\d.]+$/;

/** The highest version of glibc that a file of Linux names, such as "2.17". */
export const glibcOf = ({ versions }) =>
  versions
    .filter((version) => NUMBERED.test(version))
    .map((version) => version.slice("GLIBC_".length))
    .reduce((highest, version) => (isAbove(version, highest) ? version : highest), "0");

/** Why a file with these facts must not be the addon of a platform. A list of sentences, which is empty if it may be. */
export function problemsOf({ os, cpu, libc, floor }, facts) {
  const format = FORMATS[os];
  if (facts.format !== format) return [`it is a file of format ${facts.format}, not ${format}`];
  const problems = [];
  const rule = (holds, problem) => {
    if (!holds) problems.push(problem);
  };
  rule(facts.library, "it is no library");
  rule(facts.cpu === cpu, `it is for ${facts.cpu}, not ${cpu}`);
  const foreign = facts.needs.filter((name) => !SYSTEM_LIBRARIES[libc ?? os].test(name));
  rule(foreign.length === 0, `it needs ${foreign.join(", ")}, which not every such system has`);
  const missing = EXPORTS.filter((name) => !facts.exports.includes(name));
  rule(missing.length === 0, `it does not export ${missing.join(", ")}`);
  if (os !== "win32")
    rule(facts.visibleToCopies, "another copy in the process does not see it (crates/napi/src/copies)");
  rule(facts.folders.length === 0, `it contains folders of this machine: ${facts.folders.join(", ")}`);
  if (os === "linux") {
    // Zig leaves names of Rust's library in the files of the other systems, where a name is looked up in a library and not in all.
    const stray = facts.exports.filter((name) => !EXPORTS.includes(name));
    rule(stray.length === 0, `it exports ${stray.join(", ")}, which nothing needs`);
    rule(facts.neverUnloaded, "it can be unloaded, and its states with it (link with -z nodelete)");
    // glibc 2.41 loads no such library.
    rule(!facts.executableStack, "it asks for an executable stack (link with -z noexecstack)");
    rule(facts.bindsOwnSymbols, "another copy can replace its symbols (link with -Bsymbolic)");
    rule(facts.searches.length === 0, `it has libraries looked for in ${facts.searches.join(", ")}`);
    rule(facts.loaderTags.length === 0, `not every loader takes a file with ${facts.loaderTags.join(", ")}`);
    rule(!facts.newerProcessor, "it says that it needs a newer processor");
  }
  if (libc === "glibc") {
    const glibc = glibcOf(facts);
    rule(!isAbove(glibc, floor.glibc), `it needs glibc ${glibc}, and the floor is ${floor.glibc}`);
    const special = facts.versions.filter((version) => version.startsWith("GLIBC_") && !NUMBERED.test(version));
    rule(special.length === 0, `it needs versions that not every glibc has: ${special.join(", ")}`);
    // The linker knows the functions of the floor, and gives each its version. It leaves open what it does not know.
    const unknown = facts.required.filter(({ hasVersion }) => !hasVersion).map(({ name }) => name);
    rule(unknown.length === 0, `it needs ${unknown.join(", ")}, which glibc ${floor.glibc} lacks`);
  }
  if (libc === "musl")
    rule(facts.versions.length === 0, `it needs versions of a library: ${facts.versions.join(", ")}`);
  if (os === "darwin") {
    const minimum = facts.minimumMacos;
    rule(
      minimum !== null && !isAbove(minimum, floor.macos),
      `it needs macOS ${minimum}, and the floor is ${floor.macos}`,
    );
    // Systems on Apple silicon load signed code only.
    if (cpu === "arm64") rule(facts.signature === "ad hoc", `its signature is ${facts.signature}, not ad hoc`);
  }
  return problems;
}

/** The path of a platform package's addon. */
export const addonOf = ({ name }) => `${root}npm/${name}/frazil.node`;

/** The facts of files, in their order. */
export function factsOf(files) {
  const facts = ask("cargo", ["run", "--locked", "--quiet", "-p", "xtask", "--", "inspect", ...files], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (facts === undefined) throw new Error(`cargo run -p xtask -- inspect ${files.join(" ")} failed`);
  return JSON.parse(facts).map((each, at) => ({ ...each, folders: foldersIn(readFileSync(files[at])) }));
}

/** Throws if the addon of a platform package is missing or does not fit its platform. A release calls this for each. */
export function inspectPlatformPackages(platforms) {
  const absent = platforms.filter((platform) => !existsSync(addonOf(platform))).map(({ name }) => name);
  if (absent.length > 0) {
    throw new Error(`not built: ${absent.join(", ")}; to build them: npm run build:platforms -- ${absent.join(" ")}`);
  }
  const facts = factsOf(platforms.map(addonOf));
  const bad = platforms.flatMap((platform, at) => {
    return problemsOf(platform, facts[at]).map((problem) => `npm/${platform.name}/frazil.node: ${problem}`);
  });
  if (bad.length > 0) throw new Error(`addons that must not be released:\n${bad.join("\n")}`);
  return facts;
}
