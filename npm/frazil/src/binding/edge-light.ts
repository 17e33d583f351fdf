/** Vercel's edge runtime: as on Workers, with the suffix that its bundler wants. */

import type { Binding } from "../port.js";
import module from "./frazil.wasm?module";
import { instantiate } from "./wasm.js";

export const load = (): Binding => instantiate(() => module);

/** There are no threads that share a node id without sharing this module's memory. */
export const inWorkerThread = undefined;
