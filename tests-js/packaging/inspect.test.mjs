// The refusals of `scripts/platforms/inspect.mjs`: for each rule, an addon that breaks it. The facts of sound addons are written here in
// short; the libraries at the end are linked and read.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { PLATFORMS, platformNamed } from "../../scripts/platforms/index.mjs";
import { factsOf, glibcOf, problemsOf } from "../../scripts/platforms/inspect.mjs";
import { ask, PLATFORM_NAME } from "../../scripts/shell.mjs";
import { root } from "./tarballs.mjs";

const scratch = mkdtempSync(join(tmpdir(), "frazil-inspect-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

const ENTRY = "napi_register_module_v1";
const ELF = {
  format: "elf",
  library: true,
  required: [{ name: "memcpy", hasVersion: true }],
  exports: [ENTRY],
  neverUnloaded: true,
  executableStack: false,
  bindsOwnSymbols: true,
  visibleToCopies: true,
  searches: [],
  loaderTags: [],
  newerProcessor: false,
};
/** The facts of an addon that may be released, by system. */
const SOUND = {
  gnu: { ...ELF, needs: ["libc.so.6", "libpthread.so.0", "libdl.so.2"], versions: ["GLIBC_2.2.5", "GLIBC_2.17"] },
  musl: { ...ELF, needs: ["libc.so"], versions: [], required: [{ name: "memcpy", hasVersion: false }] },
  darwin: {
    format: "mach-o",
    library: true,
    needs: ["/usr/lib/libSystem.B.dylib", "/usr/lib/libiconv.2.dylib"],
    exports: [ENTRY, "_mh_dylib_header"],
    visibleToCopies: true,
    minimumMacos: "11.0",
    signature: "ad hoc",
  },
  win32: { format: "pe", library: true, needs: ["KERNEL32.dll", "api-ms-win-crt-heap-l1-1-0.dll"], exports: [ENTRY] },
};
const soundFor = ({ name, os, cpu }) => ({ ...SOUND[os === "linux" ? name.split("-")[2] : os], cpu, folders: [] });

/** For each rule: a platform, what differs from a sound addon, and the sentence that refuses it. */
const MUTANTS = {
  format: ["linux-x64-gnu", { format: "pe" }, "it is a file of format pe, not elf"],
  library: ["win32-x64", { library: false }, "it is no library"],
  processor: ["darwin-arm64", { cpu: "x64" }, "it is for x64, not arm64"],
  libraries: ["linux-x64-gnu", { needs: ["libgcc_s.so.1"] }, "it needs libgcc_s.so.1, which not every such system has"],
  entry: ["win32-arm64", { exports: [] }, `it does not export ${ENTRY}`],
  folders: ["win32-x64", { folders: ["/root/.cargo"] }, "it contains folders of this machine: /root/.cargo"],
  copies: ["darwin-x64", { visibleToCopies: false }, /^another copy in the process does not see it/],
  exports: ["linux-arm64-musl", { exports: [ENTRY, "malloc"] }, "it exports malloc, which nothing needs"],
  unloading: ["linux-x64-musl", { neverUnloaded: false }, /^it can be unloaded, .*-z nodelete/],
  stack: ["linux-x64-gnu", { executableStack: true }, /^it asks for an executable stack .*-z noexecstack/],
  symbols: ["linux-arm64-gnu", { bindsOwnSymbols: false }, /^another copy can replace its symbols .*-Bsymbolic/],
  searches: ["linux-x64-gnu", { searches: ["/opt/lib"] }, "it has libraries looked for in /opt/lib"],
  tags: ["linux-x64-musl", { loaderTags: ["RELR"] }, "not every loader takes a file with RELR"],
  newer: ["linux-x64-gnu", { newerProcessor: true }, "it says that it needs a newer processor"],
  special: [
    "linux-x64-gnu",
    { versions: ["GLIBC_2.17", "GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR"] },
    "it needs versions that not every glibc has: GLIBC_PRIVATE, GLIBC_ABI_DT_RELR",
  ],
  glibc: ["linux-arm64-gnu", { versions: ["GLIBC_2.9", "GLIBC_2.18"] }, "it needs glibc 2.18, and the floor is 2.17"],
  functions: [
    "linux-x64-gnu",
    { required: [{ name: "getrandom", hasVersion: false }] },
    "it needs getrandom, which glibc 2.17 lacks",
  ],
  musl: ["linux-x64-musl", { versions: ["GLIBC_2.17"] }, "it needs versions of a library: GLIBC_2.17"],
  macos: ["darwin-x64", { minimumMacos: "15.0" }, "it needs macOS 15.0, and the floor is 11.0"],
  signature: ["darwin-arm64", { signature: "of other content" }, "its signature is of other content, not ad hoc"],
};

test("sound addons of every platform are not refused", () => {
  for (const platform of PLATFORMS) assert.deepEqual(problemsOf(platform, soundFor(platform)), [], platform.name);
});

for (const [rule, [name, difference, sentence]] of Object.entries(MUTANTS)) {
  test(`${rule}: refused for this reason alone`, () => {
    const platform = platformNamed(name);
    const [problem, ...more] = problemsOf(platform, { ...soundFor(platform), ...difference });
    if (typeof sentence === "string") assert.equal(problem, sentence);
    else assert.match(problem ?? "nothing", sentence);
    assert.deepEqual(more, []);
  });
}

test("every rule has an addon that breaks it", () => {
  // The first is the format, which ends the inspection.
  const rules = 1 + problemsOf.toString().match(/\brule\(/g).length;
  assert.equal(Object.keys(MUTANTS).length, rules);
});

test("the libraries of a system are its own: those of another system are refused", () => {
  for (const [name, foreign] of [
    ["linux-x64-gnu", "libc.so"],
    ["linux-x64-gnu", "libstdc++.so.6"],
    ["linux-arm64-musl", "libc.so.6"],
    ["linux-arm64-musl", "libgcc_s.so.1"],
    ["darwin-x64", "@rpath/libunwind.dylib"],
    ["darwin-arm64", "/usr/local/lib/libiconv.2.dylib"],
    ["win32-x64", "libunwind.dll"],
    ["win32-arm64", "VCRUNTIME140.dll"],
  ]) {
    const platform = platformNamed(name);
    const problems = problemsOf(platform, { ...soundFor(platform), needs: [foreign] });
    assert.deepEqual(problems, [`it needs ${foreign}, which not every such system has`], name);
  }
});

test("versions are compared by number: 2.4 is below 2.17, a third part is above none", () => {
  const highest = (...versions) => glibcOf({ versions: versions.map((version) => `GLIBC_${version}`) });
  assert.equal(highest("2.4", "2.17", "2.9"), "2.17");
  assert.equal(highest("2.2", "2.2.5"), "2.2.5");
  assert.equal(highest("PRIVATE"), "0");
});

test("a file without a minimum of macOS is refused", () => {
  const platform = platformNamed("darwin-x64");
  const problems = problemsOf(platform, { ...soundFor(platform), minimumMacos: null });
  assert.deepEqual(problems, ["it needs macOS null, and the floor is 11.0"]);
});

const platform = PLATFORMS.find(({ name, libc }) => name === PLATFORM_NAME && libc === "glibc");
const onLinux = { skip: platform === undefined && "needs the C compiler of a Linux with glibc" };

test("the addon that `npm start` links with gcc is refused for what it needs alone", onLinux, () => {
  const file = `${process.env.CARGO_TARGET_DIR ?? join(root, "target")}/release/libfrazil_napi.so`;
  const problems = problemsOf(platform, factsOf([file])[0]);
  const [libraries, glibc, ...more] = problems;
  assert.equal(libraries, "it needs libgcc_s.so.1, which not every such system has");
  assert.match(glibc ?? "nothing", /^it needs glibc 2\.\d+, and the floor is 2\.17$/);
  for (const problem of more) assert.match(problem, /^it needs \w+(, \w+)*, which glibc 2\.17 lacks$/);
});

test("a library with no precaution is refused for each; with them, for none of these", onLinux, () => {
  const link = (name, source, ...options) => {
    const [from, to] = [join(scratch, `${name}.c`), join(scratch, `${name}.so`)];
    writeFileSync(from, source);
    const { status, stderr } = spawnSync("cc", ["-shared", "-fPIC", ...options, "-o", to, from], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    return to;
  };
  const note = (owner, type) =>
    `__asm__(".pushsection .note.frazil, \\"a\\", %note\\n.balign 4\\n.long 7, 4, ${type}\\n.asciz \\"${owner}\\"\\n.balign 4\\n.long 0\\n.popsection");\n`;
  const entry = `void *${ENTRY}(void) { return 0; }\n`;
  const sysroot = ask("rustc", ["--print", "sysroot"]);
  const careful = ["-Wl,-z,nodelete", "-Wl,-Bsymbolic"];
  const files = [
    link(
      "careless",
      `static const char here[] __attribute__((used)) = "${sysroot}"; int unknown(void); int stray(void) { return unknown(); }\n`,
      "-Wl,-z,execstack",
    ),
    link("careful", note("frazil", 1) + entry, ...careful),
    link("other-owner", note("lizarf", 1) + entry, ...careful),
    link("other-type", note("frazil", 2) + entry, ...careful),
  ];
  const [careless, sound, ...unseen] = factsOf(files).map((facts) => problemsOf(platform, facts));
  const source = note("frazil", 1) + entry;
  const address = `${source}static char here[8]; char *there[] = {here, here + 1, here + 2, here + 3};\n`;
  const text = `${source}__asm__(".text\\n.quad ${ENTRY}\\n.previous");\n`;
  const refusals = [
    ["runpath", source, "-Wl,-rpath,/opt/lib", "it has libraries looked for in /opt/lib"],
    ["old-rpath", source, "-Wl,--disable-new-dtags,-rpath,/opt/lib", "it has libraries looked for in /opt/lib"],
    ["relr", address, "-Wl,-z,pack-relative-relocs", "not every loader takes a file with RELR"],
    ["textrel", text, "-Wl,-z,notext", "not every loader takes a file with TEXTREL"],
    ["filter", source, "-Wl,-F,libother.so", "not every loader takes a file with FILTER"],
    ["auxiliary", source, "-Wl,-f,libother.so", "not every loader takes a file with AUXILIARY"],
    ["noopen", source, "-Wl,-z,nodlopen", "not every loader takes a file with NOOPEN"],
    ...(process.arch === "x64" ? [["isa", source, "-Wl,-z,x86-64-v4", "it says that it needs a newer processor"]] : []),
  ];
  const linked = refusals.map(([name, source, option]) => link(name, source, ...careful, option));
  for (const [at, facts] of factsOf(linked).entries()) {
    const [name, , , sentence] = refusals[at];
    // Special symbols of the linker, which a packed table and text relocations bring along, are no rule here.
    const problems = problemsOf(platform, facts).filter((problem) => !problem.startsWith("it exports"));
    assert.deepEqual(problems, [sentence], name);
  }
  const expected = [
    `it does not export ${ENTRY}`,
    "another copy in the process does not see it (crates/napi/src/copies)",
    `it contains folders of this machine: ${sysroot}`,
    "it exports stray, which nothing needs",
    "it can be unloaded, and its states with it (link with -z nodelete)",
    "it asks for an executable stack (link with -z noexecstack)",
    "another copy can replace its symbols (link with -Bsymbolic)",
    "it needs unknown, which glibc 2.17 lacks",
  ];
  assert.deepEqual(careless, expected);
  assert.deepEqual(sound, []);
  for (const problems of unseen) assert.deepEqual(problems, [expected[1]]);
});
