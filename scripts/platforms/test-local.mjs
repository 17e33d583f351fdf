// `npm run test:local-platform [-- NAME…]`: runs the tests of the state file (crates/local) on this machine's platform, or on the
// platforms named, and writes docs/proofs/local-platforms.json if they pass. It needs Rust and this Node, and no npm package, so it
// runs on a bare Mac, Windows or Alpine.
//
// On a real system all tests of the crate run; those that need Linux are compiled on Linux only. Under an emulator the part runs
// that every system must pass, and the record says so: it proves nothing (crates/local/src/platforms.rs).
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { release, type } from "node:os";
import { parseArgs } from "node:util";
import { rustTarget } from "../setup.mjs";
import { ask, PLATFORM_NAME, root, step } from "../shell.mjs";
import { refuseToReplace } from "./record.mjs";
import { installWine } from "./wine.mjs";
import { installZig, zig } from "./zig.mjs";

const RECORD = `${root}docs/proofs/local-platforms.json`;
/** The tests that every system must pass. The others need Linux: forks, mounts, other descriptors of a file. */
const PORTABLE = ["--lib", ...["portable", "kinds", "retried_openings"].flatMap((name) => ["--test", name])];
const ALL = ["--lib", "--tests"];

/** How the tests of another platform run on Linux x64. A program for musl is static, and runs on a kernel as it is. */
const FROM_LINUX_X64 = {
  "linux-x64-musl": { target: "x86_64-unknown-linux-musl" },
  "win32-x64": { target: "x86_64-pc-windows-gnullvm", emulator: installWine },
};

/** How the tests of a platform run on this machine. */
function waysOf(name) {
  if (name === PLATFORM_NAME) return {};
  const way = PLATFORM_NAME === "linux-x64-gnu" ? FROM_LINUX_X64[name] : undefined;
  if (way !== undefined) return way;
  const known = PLATFORM_NAME === "linux-x64-gnu" ? [PLATFORM_NAME, ...Object.keys(FROM_LINUX_X64)] : [PLATFORM_NAME];
  throw new Error(`the tests of ${JSON.stringify(name)} cannot run here: must be one of ${known.join(", ")}`);
}

/** Runs the tests, shows their output, and returns it. Throws if one fails. */
function runTests(program, args, env) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (error) throw new Error(`${program} could not be run: ${error.message}`, { cause: error });
  process.stdout.write(stdout + stderr);
  if (status !== 0) throw new Error(`the tests failed: ${program} ${args.join(" ")}`);
  return stdout + stderr;
}

/** The commit of the code that is tested; with a mark if the code differs from it. */
function commit() {
  const changed = ask("git", ["status", "--porcelain", "--", "crates", "Cargo.toml", "Cargo.lock"]);
  const head = ask("git", ["rev-parse", "--short=12", "HEAD"]);
  if (changed === undefined || head === undefined)
    throw new Error(`git does not tell the commit of ${root}, which the record names`);
  return head + (changed === "" ? "" : "-changed");
}

/** Runs the tests of a platform, and returns the record of the run. */
async function prove(name) {
  const { target, emulator: install } = waysOf(name);
  const emulator = await install?.();
  const env = { ...emulator?.env, ...(emulator && { FRAZIL_EMULATOR: emulator.name }) };
  let program = "cargo";
  if (target !== undefined) await rustTarget(target);
  if (emulator !== undefined) {
    await installZig();
    program = zig.cargoZigbuild;
    env.CARGO_ZIGBUILD_ZIG_PATH = zig.program;
    env[`CARGO_TARGET_${target.replaceAll("-", "_").toUpperCase()}_RUNNER`] = emulator.program;
  }
  const command = ["test", ...(target === undefined ? [] : ["--target", target])];
  const what = ["--locked", "--no-fail-fast", "-p", "frazil-local", ...(emulator ? PORTABLE : ALL)];
  const started = performance.now();
  const output = runTests(program, [...command, ...what, "--", "--nocapture"], env);
  const results = [...output.matchAll(/^test result: ok\. (\d+) passed; 0 failed/gm)];
  const [, storm] = /^storm: (.*)$/m.exec(output.replaceAll(/.*(?=storm: )/g, "")) ?? [];
  if (storm === undefined) throw new Error("the storm did not run");
  return {
    emulator: emulator?.name ?? null,
    date: new Date().toISOString().slice(0, 10),
    system: `${type()} ${release()}`,
    rust: ask("rustc", ["--version"]),
    commit: commit(),
    tests: results.reduce((sum, [, passed]) => sum + Number(passed), 0),
    seconds: Math.round((performance.now() - started) / 1000),
    storm,
  };
}

const { positionals } = parseArgs({ allowPositionals: true });
for (const name of positionals.length > 0 ? positionals : [PLATFORM_NAME]) {
  const record = JSON.parse(readFileSync(RECORD, "utf8"));
  const run = await step(`the tests of state files on ${name}`, () => prove(name));
  refuseToReplace(name, record.runs[name]?.emulator, run.emulator);
  record.runs[name] = run;
  record.runs = Object.fromEntries(Object.entries(record.runs).sort(([one], [other]) => (one < other ? -1 : 1)));
  writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`);
  process.stdout.write(
    `${name}: ${run.tests} tests passed${run.emulator ? ` under ${run.emulator}` : ""}. Recorded in ${RECORD}.\n`,
  );
  process.stdout.write(
    "The lists in crates/local/src/platforms.rs must agree with it: cargo test -p frazil-local --lib platforms\n",
  );
}
