/** Where a program may compile WebAssembly: the module as base64 text in the bundle. */

import text from "../../../build/public.wasm";
import { bytesOf, checkByteOrder, instanceOf } from "../../core/binding/wasm.js";
import type { Exports } from "../exports.js";

export const load = (): Exports => {
  checkByteOrder();
  return instanceOf(new WebAssembly.Module(bytesOf(text)));
};

export const HINT = "A page allows it with script-src 'wasm-unsafe-eval'.";
