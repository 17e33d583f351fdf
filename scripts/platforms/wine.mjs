// Wine, which runs programs for Windows on Linux. It is no proof for Windows: file systems, locks and mapped memory are those of
// Linux.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { installDebian, whyNoDebian } from "../setup.mjs";
import { ask, root, run, step } from "../shell.mjs";
import { installZig, zig } from "./zig.mjs";

const program = "/usr/lib/wine/wine64";
const folder = `${root}.cache/wine/`;

/** The library that Rust draws random numbers from, and that wine 8 lacks. */
const BCRYPT_PRIMITIVES = `#include <stddef.h>
__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *bytes, unsigned long count);
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *bytes, size_t count) { return SystemFunction036(bytes, (unsigned long)count); }
int __stdcall DllMain(void *module, unsigned long reason, void *reserved) { return 1; }
`;

/** Installs it. Returns the program, its name with the version, and the environment that it takes. */
export async function installWine() {
  if (!existsSync(program)) {
    const reason = whyNoDebian();
    if (reason !== undefined) throw new Error(`wine is missing (${reason}): apt-get install wine64`);
    await step("installing wine", () => installDebian("wine64", "wine"));
  }
  const env = { WINEPREFIX: `${folder}prefix`, WINEDEBUG: "-all", WINEPATH: folder.slice(0, -1) };
  if (!existsSync(`${folder}bcryptprimitives.dll`)) {
    await installZig();
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}bcryptprimitives.c`, BCRYPT_PRIMITIVES);
    const output = ["-shared", "-O1", "-o", `${folder}bcryptprimitives.dll`, `${folder}bcryptprimitives.c`];
    run(zig.program, ["cc", "-target", "x86_64-windows-gnu", ...output, "-ladvapi32"]);
  }
  // Made by the first program otherwise, which then takes a minute.
  await step("starting wine", () =>
    run("wineboot", ["--update"], { env: { ...process.env, ...env }, stdio: "ignore" }),
  );
  const [, version] = /^wine-(\d+\.\d+)/.exec(ask(program, ["--version"]) ?? "") ?? [];
  return { program, name: `wine ${version}`, env };
}
