/** WebAssembly from text inside the bundle: for every place that can compile it and none that a file could be loaded from. */
import text from "../../build/frazil_bg.wasm";
import type { Binding } from "../port.js";
import { instantiate } from "./wasm.js";

/** The module, decoded and compiled at the first use. */
export function compileInline(): WebAssembly.Module {
  return new WebAssembly.Module(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
}

export const load = (): Binding => instantiate(compileInline);

/**
 * Whether this is a worker thread of Node: its WebAssembly shares no memory with the main thread's. A browser has no
 * `process`, and a bundle for browsers may run in Node all the same. Absent where there can be no such thread.
 */
export const inWorkerThread: (() => boolean) | undefined = () =>
  globalThis.process?.getBuiltinModule?.("node:worker_threads")?.isMainThread === false;
