// The modules that `scripts/build.mjs` writes: the first before it makes the bundles, the others beside them.

declare module "*/frazil.wasm" {
  /** The module as base64. */
  const text: string;
  export default text;
}

declare module "*-wasm.mjs" {
  const module: WebAssembly.Module;
  export default module;
}
