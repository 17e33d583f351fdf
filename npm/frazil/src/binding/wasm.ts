/** The WebAssembly module, made ready synchronously from a compiled module. */
import { ConfigError } from "../errors.js";
import type { Binding, Calls } from "../port.js";

/** What the module exports. */
export interface Exports extends Calls {
  readonly memory: WebAssembly.Memory;
  abi(): number;
  page(): number;
  __wbindgen_start?(): void;
}

/**
 * What the module imports from wasm-bindgen's glue: a function that fills the table of JavaScript values. Only numbers
 * cross (see `crates/core/src/page.rs`), so the table stays empty, and the glue is left out of every bundle.
 */
const GLUE = { "./frazil_bg.js": { __wbindgen_init_externref_table() {} } };

/** The error where WebAssembly cannot be had. */
export const unavailable = (cause: unknown, reasons = String(cause)): ConfigError =>
  new ConfigError(
    "WASM_UNAVAILABLE",
    `WebAssembly is forbidden or missing here (a page allows it with script-src 'wasm-unsafe-eval'): ${reasons}`,
    { cause },
  );

/** @throws {ConfigError} `WASM_UNAVAILABLE` with the cause. */
export const instantiate = (compile: () => WebAssembly.Module): Binding =>
  bindTo(() => {
    const exports = new WebAssembly.Instance(compile(), GLUE).exports as unknown as Exports;
    exports.__wbindgen_start?.();
    return exports;
  });

/** @throws {ConfigError} `WASM_UNAVAILABLE` with the cause. */
export function bindTo(make: () => Exports): Binding {
  try {
    const exports = make();
    const page = exports.page();
    // An integer comes out signed. Statuses and addresses are below 2^31; an ID is not below 2^63.
    const next: Calls["next"] = (...given) => BigInt.asUintN(64, exports.next(...given));
    return { backend: "wasm", calls: { ...exports, next }, page, memory: exports.memory, offset: page, causes: [] };
  } catch (error) {
    throw unavailable(error);
  }
}
