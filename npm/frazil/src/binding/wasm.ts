/** The WebAssembly module, made ready synchronously from a compiled module. */

import type { Binding, Calls } from "../boundary.js";
import { ConfigError } from "../errors.js";

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
export const wasmUnavailable = (cause: unknown, reasons = String(cause)): ConfigError =>
  new ConfigError(
    "WASM_UNAVAILABLE",
    `WebAssembly is forbidden or missing here (a page allows it with script-src 'wasm-unsafe-eval'): ${reasons}`,
    { cause },
  );

/** @throws {ConfigError} `WASM_UNAVAILABLE` with the cause. */
export const instantiate = (compile: () => WebAssembly.Module): Binding =>
  bindExports(() => {
    const exports = new WebAssembly.Instance(compile(), GLUE).exports as unknown as Exports;
    exports.__wbindgen_start?.();
    return exports;
  });

/** @throws {ConfigError} `WASM_UNAVAILABLE` with the cause. */
export function bindExports(make: () => Exports): Binding {
  try {
    const exports = make();
    const page = exports.page();
    const { open, release, admit, reserve, health } = exports;
    // An integer comes out signed. Statuses and addresses are below 2^31; an ID is not below 2^63.
    const asUint = BigInt.asUintN;
    const next: Calls["next"] = (page, handle, nowMs, confirmed) =>
      asUint(64, exports.next(page, handle, nowMs, confirmed));
    const calls = { open, release, admit, reserve, next, health };
    let stopped: unknown;
    // A stack that overflows inside the module leaves it in the middle of a call: then the next call ends in a trap, and it is
    // stopped for good. One that overflows on the way in leaves it whole.
    const halt = (cause: unknown) => {
      if ((cause as Error).name === "RangeError") throw cause;
      const said = `WebAssembly was stopped inside a call and cannot go on: ${cause}`;
      stopped = new ConfigError("WASM_UNAVAILABLE", said, { cause });
    };
    for (const name of Object.keys(calls) as (keyof Calls)[]) {
      const call = calls[name] as (...given: unknown[]) => never;
      // Without a list of arguments, whose iterator could be the user's.
      calls[name] = (a?: unknown, b?: unknown, c?: unknown, d?: unknown, e?: unknown) => {
        try {
          if (stopped === undefined) return call(a, b, c, d, e);
        } catch (error) {
          if (name !== "release") halt(error);
        }
        // Nobody could catch what comes out of a collector's callback, and there is nothing left to give back.
        if (name !== "release") throw stopped;
        return undefined as never;
      };
    }
    // Read by the getter of now: one that is replaced later is user code.
    const { get } = Object.getOwnPropertyDescriptor(WebAssembly.Memory.prototype, "buffer") as PropertyDescriptor;
    const apply = Reflect.apply;
    const { memory } = exports;
    const buffer = () => apply(get as () => ArrayBuffer, memory, []);
    // All of a binding's fields are its own: what a program puts into `Object.prototype` is none of them.
    return {
      backend: "wasm",
      calls,
      files: undefined,
      anotherPage: undefined,
      page,
      memory,
      buffer,
      offset: page,
      causes: [],
    };
  } catch (error) {
    throw wasmUnavailable(error);
  }
}
