/** WebAssembly from text inside the bundle: for every place that can compile it and none that a file could be loaded from. */
import text from "../../build/frazil_bg.wasm";
import type { Binding } from "../port.js";
import { instantiate } from "./wasm.js";

/** The module, decoded and compiled at the first use. */
export function compileInline(): WebAssembly.Module {
  return new WebAssembly.Module(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
}

export const load = (): Binding => instantiate(compileInline);

/** Whether this is a thread that does not share its memory with the one that started it, as Node's workers are. */
export const inWorkerThread = (): boolean => false;
