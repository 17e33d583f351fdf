/** Cloudflare Workers. The module is imported, since a Worker may not compile one during a request. */

import type { Binding } from "../boundary.js";
import { bindExports, instanceOf } from "./wasm.js";
import wasm from "./workerd-wasm.mjs";

/**
 * workerd, and the bundlers that are made for it, give the compiled module. Bundlers that follow the ES module integration of
 * WebAssembly give the exports of an instance. This is a function, since some of those refuse to build if they see that an
 * imported name does not exist.
 */
const exportsOf = (imported: typeof wasm) => ("memory" in imported ? imported : instanceOf(imported.default));

export const load = (): Binding => bindExports(() => exportsOf(wasm));

/** See `inline.ts`. */
export const wrongEntry = (): string => "";

/** An isolate has one thread, and it may not block. See `inline.ts`. */
export enum Host {
  BLOCKS = 0,
  THREADS = 0,
  FILES = 0,
  ISOLATES = 1,
  PAGES = 0,
  MOVING_CLOCK = 0,
}

export const inWorkerThread = (): boolean => false;
export const markProcess = (): void => {};
