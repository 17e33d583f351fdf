// What the builds need: npm's packages and the WebAssembly target. Does nothing where they are there.
import { existsSync, readFileSync, statSync } from "node:fs";
import { ask, root, run, step } from "./shell.mjs";

/** Installs what the lock file of a folder names, unless that was done since the file last changed. */
export async function installPackages(folder, title, options = []) {
  const marker = `${folder}node_modules/.package-lock.json`;
  if (existsSync(marker) && statSync(marker).mtimeMs >= statSync(`${folder}package-lock.json`).mtimeMs) return;
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  await step(title, () => run("npm", ["ci", ...quiet, ...options], { cwd: folder }));
}

export async function setUp() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 16)) {
    throw new Error(`Node ${process.versions.node} is too old: frazil is built with Node 20.16 or newer`);
  }
  if (ask("cargo", ["--version"]) === undefined) {
    throw new Error("cargo is missing: install Rust with rustup (https://rustup.rs), then run this again");
  }
  const wanted = /rust-version = "(.*?)"/.exec(readFileSync(`${root}Cargo.toml`, "utf8"))[1];
  const [, rust] = /^rustc (\d+\.\d+)/.exec(ask("rustc", ["--version"]) ?? "") ?? [];
  if (rust === undefined || Number(rust.split(".")[1]) < Number(wanted.split(".")[1])) {
    throw new Error(`rustc ${rust ?? "is missing"}: frazil is built with Rust ${wanted} or newer; run rustup update`);
  }
  await installPackages(root, "installing npm packages");
  const target = "wasm32-unknown-unknown";
  if (!existsSync(`${ask("rustc", ["--print", "sysroot"])}/lib/rustlib/${target}`)) {
    await step(`adding the Rust target ${target}`, () => run("rustup", ["target", "add", target]));
  }
}
