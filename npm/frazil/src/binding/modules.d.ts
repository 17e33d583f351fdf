// The modules that `scripts/build.mjs` writes to `build/` before it makes the bundles.

declare module "*/frazil_bg.wasm" {
  /** The module as base64. */
  const text: string;
  export default text;
}

declare module "*/frazil.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "*/frazil.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}
