/** The built-in modules of Node, for the bundles that run there. */

/**
 * Each one by a literal `require`, which every bundler for Node understands. They are called only where `process` has no
 * `getBuiltinModule` (Node 21, and 22 before 22.3): in a bundle that is an ES module, `require` may be a function that throws.
 */
const REQUIRES = {
  "node:buffer": (): unknown => require("node:buffer"),
  "node:fs": (): unknown => require("node:fs"),
  "node:module": (): unknown => require("node:module"),
  "node:path": (): unknown => require("node:path"),
  "node:perf_hooks": (): unknown => require("node:perf_hooks"),
  "node:process": (): unknown => require("node:process"),
  "node:vm": (): unknown => require("node:vm"),
  "node:worker_threads": (): unknown => require("node:worker_threads"),
};

interface Builtins {
  "node:buffer": typeof import("node:buffer");
  "node:fs": typeof import("node:fs");
  "node:module": typeof import("node:module");
  "node:path": typeof import("node:path");
  "node:perf_hooks": typeof import("node:perf_hooks");
  "node:process": typeof import("node:process");
  "node:vm": typeof import("node:vm");
  "node:worker_threads": typeof import("node:worker_threads");
}

/**
 * A built-in module. Where possible, by a call that bundlers do not follow, so they do not try to bundle what it loads.
 *
 * @throws {Error} in a bundle that is an ES module, if Node is older than the package's `engines`.
 */
export function builtin<K extends keyof Builtins>(name: K): Builtins[K] {
  const found = process.getBuiltinModule?.(name);
  if (found) return found as Builtins[K];
  try {
    return REQUIRES[name]() as Builtins[K];
  } catch (cause) {
    const message = `an ES module cannot load ${name} in Node ${process.version}: run Node 22.3 or newer, or 20.16 or newer of 20`;
    throw new Error(message, { cause });
  }
}
