// What `scripts/build.mjs` puts into `build/` before the bundles are made.

declare module "*/frazil_bg.wasm" {
  /** The module as base64. */
  const text: string;
  export default text;
}

declare module "*/build/frazil_bg.js" {
  export function __wbg_set_wasm(exports: unknown): void;
  export function __wbindgen_init_externref_table(): void;
  export function page(): number;
  export function open(page: number): number;
  export function release(page: number, handle: number): void;
  export function admit(page: number, handle: number, count: number, waitMs: number): number;
  export function reserve(page: number, handle: number, nowMs: number, want: number, confirmed: boolean): number;
  export function next(page: number, handle: number, nowMs: number, confirmed: boolean): bigint;
  export function health(page: number, handle: number, nowMs: number): number;
}

declare module "*/frazil.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "*/frazil.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}
