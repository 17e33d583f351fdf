/**
 * What the entries `frazil` and `frazil/layout` share: a file of its own in the package, which the ES modules of both import, so
 * that they have the same classes. A program that imports `frazil/layout` alone then meets no import of the WebAssembly module.
 * Cloudflare's wrangler uploads the module if it meets its import, although the bundler drops what is not used. No program can import
 * this file. `frazil/workers` imports it too, so that a Worker has nothing of it twice.
 */
export * from "./base/arrays.js";
export * from "./base/clock.js";
export * from "./base/dates.js";
export * from "./base/errors.js";
export * from "./base/lists.js";
export * from "./base/option-keys.js";
export * from "./base/own-properties.js";
export * from "./base/printing.js";
export * from "./base/value-text.js";
export * from "./base/wait.js";
export * from "./generator/options.js";
export * from "./layout/index.js";
