/** Vercel's edge runtime: as on Workers, with the suffix that its bundler wants. */
import module from "./frazil.wasm?module";
import type { Binding } from "../port.js";
import { instantiate } from "./wasm.js";

export const load = (): Binding => instantiate(() => module);

/** An isolate has one thread. */
export const inWorkerThread = (): boolean => false;
