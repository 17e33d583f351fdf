/** WebAssembly from base64 text in the bundle: for hosts that can compile it but may have no file to load it from. */
import text from "../../build/frazil.wasm";
import type { Binding } from "../boundary.js";
import { ConfigError } from "../errors.js";
import { forcedBackend } from "./forced.js";
import { bindExports, instanceOf } from "./wasm.js";

/** The bytes of the module, decoded from the text. */
export const wasmBytes = () => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** @throws {ConfigError} `NATIVE_REQUIRED` if the environment forces the addon, which this entry of the package cannot load. */
export function load(): Binding {
  if (forcedBackend() === "native")
    throw new ConfigError(
      "NATIVE_REQUIRED",
      'FRAZIL_BACKEND asks for the native addon, and this entry of frazil has none: it is the one for browsers and Deno. In Deno, createRequire(import.meta.url)("frazil") loads the addon (deno run -A)',
    );
  return bindExports(() => instanceOf(new WebAssembly.Module(wasmBytes())));
}

/**
 * Capabilities that the host may have, 0 or 1. An enum, because esbuild inlines its numbers and removes the code for
 * capabilities that the host never has.
 */
export enum Host {
  /** A thread may be allowed to block; `canBlock` tells. */
  BLOCKS = 1,
  /** There may be worker threads, each with its own WebAssembly memory. */
  THREADS = 1,
  /** There may be the native addon, and with it state files. */
  FILES = 0,
  /** A program runs in many isolates at a time, which share nothing, and nothing numbers them. */
  ISOLATES = 0,
}

/**
 * Whether this is a worker thread of Node, whose WebAssembly shares no memory with that of the main thread. A browser
 * has no `process`. A bundle for browsers may also run in Node.
 */
export const inWorkerThread = (): boolean =>
  globalThis.process?.getBuiltinModule?.("node:worker_threads")?.isMainThread === false;

/** Does nothing: here other threads and realms cannot be seen. */
export const markProcess = (): void => {};
