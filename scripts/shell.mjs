// Runs programs, with progress output, and with an error that names the program.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

// Git sets these for hooks and `git rebase --exec`. Every `git` that is started here would use that repository, whatever its folder.
for (const name of [
  "DIR",
  "WORK_TREE",
  "INDEX_FILE",
  "OBJECT_DIRECTORY",
  "ALTERNATE_OBJECT_DIRECTORIES",
  "COMMON_DIR",
  "PREFIX",
  "CONFIG_PARAMETERS",
])
  delete process.env[`GIT_${name}`];

/** The root of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL("../", import.meta.url));

// Without this, `getReport` resolves the host name of every open connection, which can take long.
process.report.excludeNetwork = true;
/** The name of this machine's platform, as the folders of platform packages in `npm/` have it. */
export const PLATFORM_NAME = [
  process.platform,
  process.arch,
  ...(process.platform === "linux" ? [process.report.getReport().header.glibcVersionRuntime ? "gnu" : "musl"] : []),
].join("-");
/** Whether this machine is the platform on which the tests of the addon run and the other runtimes are installed. */
export const isLinuxX64Gnu = PLATFORM_NAME === "linux-x64-gnu";

/**
 * The command of npm, as a list: of the npm that started this, if one did. Windows cannot start `npm` without a shell, since it is
 * a script there.
 */
const { npm_execpath: npmProgram } = process.env;
export const npm = /npm-cli\.[cm]?js$/.test(npmProgram ?? "") ? [process.execPath, npmProgram] : ["npm"];

/** Runs a program at the root of the repository and shows its output. Throws if it fails. */
export function run(program, args, options = {}) {
  if (program === "npm" && npm.length > 1) return run(npm[0], [...npm.slice(1), ...args], options);
  const { status, error, signal } = spawnSync(program, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    ...options,
  });
  if (error) throw new Error(`${program} could not be run: ${error.message}`, { cause: error });
  if (status !== 0) throw new Error(`${[program, ...args].join(" ")} failed with ${signal ?? `exit code ${status}`}`);
}

/** The output of a program, or `undefined` if it is missing or fails. */
export function ask(program, args, options = {}) {
  const { status, stdout, error } = spawnSync(program, args, { cwd: root, encoding: "utf8", ...options });
  return error || status !== 0 ? undefined : stdout.trim();
}

/** Runs what a command begins with. If it fails, prints why, without where in the scripts that was, and ends the process. */
export async function begin(...steps) {
  try {
    for (const work of steps) await work();
  } catch (error) {
    // Another class than `Error` is a mistake in the scripts.
    process.stderr.write(`${error.constructor === Error ? error.message : error.stack}\n`);
    process.exit(1);
  }
}

/** Runs a step; prints its name before and its duration after it. */
export async function step(name, work) {
  const started = performance.now();
  process.stderr.write(`· ${name} …\n`);
  const result = await work();
  process.stderr.write(`· ${name}: ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
  return result;
}
