/** WebAssembly from text inside the bundle: for every place that can compile it and none that a file could be loaded from. */
import text from "../../build/frazil_bg.wasm";
import type { Binding } from "../port.js";
import { instantiate } from "./wasm.js";

/** The module, decoded and compiled at the first use. */
export function compileInline(): WebAssembly.Module {
  return new WebAssembly.Module(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
}

export const load = (): Binding => instantiate(compileInline);

/** There are no threads that share a node id without sharing this module's memory. */
export const inWorkerThread = undefined;
