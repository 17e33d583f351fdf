// What `scripts/build.mjs` puts into `build/` before the bundles are made.

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
