// What the tests of tiny projects need: the tools that this machine has, and bundles by esbuild.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { hasAddon } from "./tarballs.mjs";

export const native = { skip: !hasAddon && "needs the native addon" };

/** Skips a test if a path does not exist. */
export const needs = (path) => ({ skip: !existsSync(path) && `needs ${path}` });

/** The packages that the loader looks for, in order: without an addon, an error has one cause for each. */
export const addonPackages =
  process.platform === "linux"
    ? ["gnu", "musl"].map((libc) => `frazil-linux-${process.arch}-${libc}`)
    : [`frazil-${process.platform}-${process.arch}`];

/** Bundles the entry of a consumer, and returns the text of the bundle. A warning is a failure. */
export function bundle(folder, options) {
  const { warnings } = esbuild.buildSync({
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    logLevel: "silent",
    ...options,
  });
  assert.deepEqual(warnings, []);
  return readFileSync(join(folder, options.outfile), "utf8");
}
