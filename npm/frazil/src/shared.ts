/**
 * What the entries `frazil` and `frazil/layout` share: a file of its own in the package, which the ES modules of both import, so
 * that they have the same classes. A program that imports `frazil/layout` alone then meets no import of the WebAssembly module.
 * Cloudflare's wrangler uploads the module if it meets its import, although the bundler drops what is not used. No program can import
 * this file. `frazil/workers` imports it too, so that a Worker has nothing of it twice.
 */
export * from "./arrays.js";
export * from "./clock.js";
export * from "./dates.js";
export * from "./errors.js";
export * from "./keys.js";
export * from "./layout.js";
export * from "./lists.js";
export * from "./options.js";
export * from "./own-properties.js";
export * from "./printing.js";
export * from "./value-text.js";
export * from "./wait.js";
