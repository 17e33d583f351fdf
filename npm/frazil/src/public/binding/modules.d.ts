// The modules that `scripts/build/index.mjs` writes, as those of `core/binding/modules.d.ts`.

declare module "*/public.wasm" {
  /** The module as base64. */
  const text: string;
  export default text;
}

declare module "*/keys.wasm" {
  const text: string;
  export default text;
}

declare module "*/workerd-public-wasm.mjs" {
  const wasm: import("../../core/binding/wasm.js").ImportedModule<import("../exports.js").Exports>;
  export default wasm;
}

declare module "*/edge-light-public-wasm.mjs" {
  const wasm: WebAssembly.Module;
  export default wasm;
}
