/** The WebAssembly module, made ready synchronously from a compiled module. */
import {
  __wbg_set_wasm,
  __wbindgen_init_externref_table,
  admit,
  health,
  next,
  open,
  page,
  release,
  reserve,
} from "../../build/frazil_bg.js";
import { ConfigError } from "../errors.js";
import type { Binding } from "../port.js";

interface Exports {
  readonly memory: WebAssembly.Memory;
  __wbindgen_start?(): void;
}

/** @throws {ConfigError} `WASM_UNAVAILABLE` with the cause, and with those of the backends tried before. */
export function instantiate(compile: () => WebAssembly.Module, causes: readonly unknown[] = []): Binding {
  try {
    // By name, and not the whole of the glue: a bundle that mints nothing leaves it out.
    const instance = new WebAssembly.Instance(compile(), { "./frazil_bg.js": { __wbindgen_init_externref_table } });
    const exports = instance.exports as unknown as Exports;
    __wbg_set_wasm(exports);
    exports.__wbindgen_start?.();
    const address = page();
    const calls = { open, release, admit, reserve, next, health };
    return { backend: "wasm", calls, page: address, memory: exports.memory, offset: address, causes };
  } catch (error) {
    const all = [...causes, error];
    throw new ConfigError(
      "WASM_UNAVAILABLE",
      `WebAssembly is forbidden or missing here (a page allows it with script-src 'wasm-unsafe-eval'): ${all.join("; ")}`,
      { cause: all.length === 1 ? error : new AggregateError(all, "no backend could be loaded") },
    );
  }
}
