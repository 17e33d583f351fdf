/** Cloudflare Workers. The module is imported, because a Worker may not compile one during a request. */

import type { Binding } from "../boundary.js";
import { bindExports, exportsOf } from "./wasm.js";
import wasm from "./workerd-wasm.mjs";

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
