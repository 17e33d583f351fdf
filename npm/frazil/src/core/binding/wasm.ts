/** The WebAssembly binding: a compiled module, or the exports of its instance. */

import { ConfigError } from "../../base/errors.js";
import type { Binding, Calls } from "../boundary.js";

/** The exports of the module. */
export interface Exports extends Calls {
  readonly memory: WebAssembly.Memory;
  abi(): number;
  frame(): number;
}

/** The error if WebAssembly is not available. */
export const wasmUnavailable = (cause: unknown, reasons = String(cause), hint = ""): ConfigError =>
  new ConfigError(
    "WASM_UNAVAILABLE",
    `WebAssembly cannot be used here: ${reasons.replace(/\s*\n\s*/g, " ")}\n${hint}`,
    { cause },
  );

const CALLS = "open release admit reserve health lease ceiling segment";

/** The bytes of a module from base64 text. */
export const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** The exports of a new instance. The modules have no imports: see `crates/xtask/src/module.rs`. */
export const instanceOf = <E = Exports>(module: WebAssembly.Module): E =>
  new WebAssembly.Instance(module).exports as unknown as E;

/** The result of importing a module in workerd. */
export type ImportedModule<E = Exports> = { readonly default: WebAssembly.Module } | E;

/**
 * workerd and bundlers for it give the compiled module. Bundlers with the ES module integration of WebAssembly give the exports of an
 * instance. A function, because some of those refuse to build if they see that an imported name is missing.
 */
export const exportsOf = <E extends { readonly memory: unknown } = Exports>(imported: ImportedModule<E>): E =>
  "memory" in imported ? imported : instanceOf(imported.default);

/**
 * The module's memory is little-endian, and views of it have the byte order of the processor. Not needed on Workers and edge runtimes,
 * which run on no other processors.
 *
 * @throws {Error} on a big-endian processor
 */
export function checkByteOrder(): void {
  if (new Uint8Array(new Uint16Array([1]).buffer)[0] === 0)
    throw new Error("this processor is big-endian: frazil decodes on it, and mints on little-endian ones only");
}

/** @throws {ConfigError} `WASM_UNAVAILABLE` with the cause. `hint`: how to allow it there. */
export function bindExports(make: () => Exports, hint?: string): Binding {
  try {
    const exports = make();
    const frame = exports.frame();
    const calls = {} as Record<keyof Calls, (...given: unknown[]) => unknown>;
    let stopped: unknown;
    // A stack overflow inside the module ends a call halfway. The next call then traps, and the module is stopped for
    // good. A stack overflow before the module is entered leaves it intact.
    const halt = (cause: unknown) => {
      if ((cause as Error).name === "RangeError") throw cause;
      const said = `WebAssembly was stopped inside a call and cannot go on: ${cause}\nRestart the process or the worker.`;
      stopped = new ConfigError("WASM_UNAVAILABLE", said, { cause });
    };
    for (const name of CALLS.split(" ") as (keyof Calls)[]) {
      const call = exports[name] as (...given: unknown[]) => unknown;
      // Five parameters instead of a rest parameter with spread: a program can replace the iterator that spread calls.
      calls[name] = (a?: unknown, b?: unknown, c?: unknown, d?: unknown, e?: unknown) => {
        try {
          // A signed integer: statuses and addresses are below 2^31.
          if (stopped === undefined) return call(a, b, c, d, e);
        } catch (error) {
          if (name !== "release") halt(error);
        }
        // `release` does not throw: an error in a finalization callback cannot be caught, and a stopped module holds nothing.
        if (name !== "release") throw stopped;
        return undefined;
      };
    }
    // The getter is captured now: a later replacement is user code.
    const { get } = Object.getOwnPropertyDescriptor(WebAssembly.Memory.prototype, "buffer") as PropertyDescriptor;
    const apply = Reflect.apply;
    const { memory } = exports;
    const buffer = () => apply(get as () => ArrayBuffer, memory, []);
    // All fields are own properties, so that none is read from a polluted `Object.prototype`.
    return {
      backend: "wasm",
      calls: calls as unknown as Calls,
      files: undefined,
      arrays: undefined,
      anotherFrame: undefined,
      frame,
      memory,
      buffer,
      offset: frame,
      causes: [],
    };
  } catch (error) {
    throw wasmUnavailable(error, undefined, hint);
  }
}
