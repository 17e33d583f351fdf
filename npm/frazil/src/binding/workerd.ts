/** Cloudflare Workers. The module is imported, since a Worker may not compile one during a request. */

import type { Binding } from "../boundary.js";
import { instantiate } from "./wasm.js";
import module from "./workerd-wasm.mjs";

export const load = (): Binding => instantiate(() => module);

/** An isolate has one thread, and it may not block. See `inline.ts`. */
export enum Host {
  BLOCKS = 0,
  THREADS = 0,
  FILES = 0,
}

export const inWorkerThread = (): boolean => false;
export const markProcess = (): void => {};
