/** Vercel's edge runtime. The module is imported with the suffix that its bundler requires. `canBlock` finds out whether it can block. */

import type { Binding } from "../boundary.js";
import wasm from "./edge-light-wasm.mjs";
import { bindExports, instanceOf } from "./wasm.js";

export const load = (): Binding => bindExports(() => instanceOf(wasm));

/** See `inline.ts`. */
export const wrongEntry = (): string => "";

/** An isolate has one thread. See `inline.ts`. */
export enum Host {
  BLOCKS = 1,
  THREADS = 0,
  FILES = 0,
  ISOLATES = 0,
  PAGES = 0,
  MOVING_CLOCK = 1,
}

export const inWorkerThread = (): boolean => false;
export const markProcess = (): void => {};
