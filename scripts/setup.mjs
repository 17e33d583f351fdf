// Installs what the builds need, unless it is there: a linker, npm packages and the WebAssembly target.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { ask, root, run, step } from "./shell.mjs";

/** Installs the packages in a folder's lock file, unless that was done since the file last changed. */
export async function installPackages(folder, title, options = []) {
  const marker = `${folder}node_modules/.package-lock.json`;
  if (existsSync(marker) && statSync(marker).mtimeMs >= statSync(`${folder}package-lock.json`).mtimeMs) return;
  // The lock file has the hash of each package: what npm's cache has need not be asked for.
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"];
  await step(title, () => run("npm", ["ci", ...quiet, ...options], { cwd: folder }));
}

/** The reason why Debian packages cannot be installed on this machine, or `undefined`. */
export function whyNoDebian() {
  if (ask("apt-get", ["--version"]) === undefined) return "there is no apt-get here";
  return process.getuid() === 0 ? undefined : "that needs root";
}

/** Installs Debian packages. */
export function installDebian(...packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const quiet = { env, stdio: ["ignore", "ignore", "inherit"] };
  // A mirror that does not answer once is asked again.
  const patient = ["-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=5"];
  run("apt-get", [...patient, "update", "-qq"], quiet);
  run("apt-get", [...patient, "install", "-y", "-qq", "--no-install-recommends", ...packages], quiet);
}

/** Installs packages of PyPI in a folder, without what they need. `options`: more of pip's. */
export function installWheels(folder, packages, options = []) {
  const pip = (...args) => ["-m", "pip", ...args];
  if (ask("python3", pip("--version")) === undefined) {
    const reason = whyNoDebian();
    if (reason !== undefined) throw new Error(`pip is missing (${reason}): apt-get install python3-pip`);
    installDebian("python3-pip");
  }
  const quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
  const plainly = ["--no-deps", "--no-compile", "--target", folder];
  run("python3", pip("install", ...quiet, ...plainly, ...options, ...packages));
}

/** Installs the linker that Rust uses, which a minimal Debian lacks. On Windows Rust finds the one of Visual Studio by itself. */
async function linker() {
  if (process.platform === "win32") return;
  if (ask("cc", ["--version"]) !== undefined) return;
  const reason = whyNoDebian();
  if (reason !== undefined)
    throw new Error(`a C compiler is missing, which Rust needs for linking (${reason}): apt-get install gcc libc6-dev`);
  await step("installing gcc, which Rust needs for linking", () => installDebian("gcc", "libc6-dev"));
}

/** The other systems that the state file code and the addon must compile for. */
export const OTHER_SYSTEMS = ["aarch64-apple-darwin", "x86_64-pc-windows-msvc"];

/** Adds Rust's library for a target. */
export async function rustTarget(target) {
  if (existsSync(`${ask("rustc", ["--print", "sysroot"])}/lib/rustlib/${target}`)) return;
  await step(`adding the Rust target ${target}`, () => run("rustup", ["target", "add", target]));
}

/** Installs the Rust components that the tests run and a minimal toolchain lacks. */
export async function rustTools() {
  for (const [tool, component] of [
    ["fmt", "rustfmt"],
    ["clippy", "clippy"],
  ]) {
    if (ask("cargo", [tool, "--version"]) !== undefined) continue;
    await step(`adding ${component} to Rust`, () => run("rustup", ["component", "add", component]));
  }
}

/** Throws if Node or Rust is missing or too old. */
export function checkTools() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  // As `engines` in package.json.
  if (!((major === 20 && minor >= 16) || (major === 22 && minor >= 3) || major > 22)) {
    throw new Error(`Node ${process.versions.node} is too old: frazil is built with Node 20.16, 22.3 or newer`);
  }
  const env = { ...process.env, RUST_BACKTRACE: "0" };
  const { error, status, stderr } = spawnSync("cargo", ["--version"], { cwd: root, encoding: "utf8", env });
  if (error?.code === "ENOENT")
    throw new Error("cargo is missing: install Rust with rustup (https://rustup.rs), then run this again");
  if (error) throw new Error(`cargo could not be run: ${error.message}`);
  if (status !== 0) throw new Error(`cargo --version failed:\n${stderr}`);
  const wanted = /rust-version = "(.*?)"/.exec(readFileSync(`${root}Cargo.toml`, "utf8"))[1];
  const [, rust] = /^rustc (\d+\.\d+)/.exec(ask("rustc", ["--version"]) ?? "") ?? [];
  if (rust === undefined || Number(rust.split(".")[1]) < Number(wanted.split(".")[1])) {
    throw new Error(`rustc ${rust ?? "is missing"}: frazil is built with Rust ${wanted} or newer; run rustup update`);
  }
}

export async function setUp() {
  checkTools();
  await linker();
  await installPackages(root, "installing npm packages");
  await rustTarget("wasm32-unknown-unknown");
}
