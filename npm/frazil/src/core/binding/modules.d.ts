// The modules that `scripts/build/index.mjs` writes: the first before it makes the bundles, the others beside them.

declare module "*/frazil.wasm" {
  /** The module as base64. */
  const text: string;
  export default text;
}

declare module "*/workerd-wasm.mjs" {
  const wasm: import("./wasm.js").ImportedModule;
  export default wasm;
}

declare module "*/workerd-segment-wasm.mjs" {
  const wasm: import("./wasm.js").ImportedModule;
  export default wasm;
}

declare module "*/edge-light-wasm.mjs" {
  const wasm: WebAssembly.Module;
  export default wasm;
}
