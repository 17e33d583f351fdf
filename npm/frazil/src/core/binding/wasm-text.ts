/** The WebAssembly module as base64, for hosts that can compile it but may have no file to load it from. */
export { default as wasmText } from "../../../build/frazil.wasm";
