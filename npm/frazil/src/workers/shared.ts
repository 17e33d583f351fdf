/**
 * What `frazil/workers` and `frazil/workers/segment` share: a file in the package, which both import. It does not import `frazil`, and
 * with it the WebAssembly module of the generators. No program can import it.
 */
// biome-ignore-all assist/source/organizeImports: what a Worker calls comes before what those use, which compresses better
export * from "../stores/durable-object/index.js";
export * from "./segmented.js";
export * from "./runtime.js";
export * from "./request-context.js";
export * from "./leases-object.js";

export * from "../asking/attempt.js";
export * from "../asking/digits.js";
export * from "../asking/kernel-random.js";
export * from "../asking/store-errors.js";
export * from "../asking/timer.js";
export * from "../asking/weak.js";
export * from "../base/outside-text.js";
export * from "../core/host-random.js";
export * from "../generator/request.js";
export * from "../stores/kit/argument-errors.js";
export * from "../stores/kit/clients.js";
export * from "../stores/kit/errors.js";
export * from "../stores/kit/lease/layout-text.js";
export * from "../stores/kit/limits.js";
export * from "../stores/kit/tables.js";
