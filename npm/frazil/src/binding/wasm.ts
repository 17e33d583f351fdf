/** The WebAssembly module, made ready synchronously from a compiled module. */
import * as glue from "../../build/frazil_bg.js";
import { errorOf } from "../errors.js";
import type { Binding, Calls } from "../port.js";

interface Exports {
  readonly memory: WebAssembly.Memory;
  __wbindgen_start?(): void;
}

/** @throws {ConfigError} `WASM_UNAVAILABLE` with the cause, and with those of the backends tried before. */
export function instantiate(compile: () => WebAssembly.Module, causes: readonly unknown[] = []): Binding {
  try {
    const instance = new WebAssembly.Instance(compile(), { "./frazil_bg.js": glue as never });
    const exports = instance.exports as unknown as Exports;
    glue.__wbg_set_wasm(exports);
    exports.__wbindgen_start?.();
    const page = glue.page();
    return { backend: "wasm", calls: glue as Calls, page, memory: exports.memory, offset: page, causes };
  } catch (error) {
    const all = [...causes, error];
    throw errorOf(
      "WASM_UNAVAILABLE",
      `WebAssembly is forbidden or missing here (a page allows it with script-src 'wasm-unsafe-eval'): ${all.join("; ")}`,
      { cause: all.length === 1 ? error : new AggregateError(all, "no backend could be loaded") },
    );
  }
}
