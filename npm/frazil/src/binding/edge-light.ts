/** Vercel's edge runtime. As on Cloudflare Workers, but with the import suffix that its bundler requires. */

import type { Binding } from "../boundary.js";
import module from "./frazil.wasm?module";
import { instantiate } from "./wasm.js";

export const load = (): Binding => instantiate(() => module);

/** An isolate has one thread. See `inline.ts`. */
export enum Host {
  BLOCKS = 1,
  THREADS = 0,
  FILES = 0,
}

export const inWorkerThread = (): boolean => false;
export const markProcess = (): void => {};
