/** WebAssembly from base64 text in the bundle: for hosts that can compile it but may have no file to load it from. */
import text from "../../build/frazil.wasm";
import type { Binding } from "../boundary.js";
import { ConfigError } from "../errors.js";
import { forcedBackend } from "./forced.js";
import { MARK_VARIABLE, type MarkHost, mark } from "./marks.js";
import { isWorkerThread } from "./threads.js";
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
 * Whether this is a worker thread, whose WebAssembly shares no memory with that of the main thread. A bundle for browsers
 * may also run in Node, Bun and Deno. The workers of a browser are not told from its main thread.
 */
export const inWorkerThread = (): boolean =>
  isWorkerThread(globalThis.process?.getBuiltinModule?.("node:worker_threads"));

/** Of Deno: what the program may do without asking its user. */
type Permissions = { querySync(permission: { name: string; variable?: string }): { state: string } };

/**
 * Marks the process in Deno, where `require` loads the addon in other threads. Without the permission for native code there is none,
 * and no thread has more permissions than the main thread. Elsewhere this does nothing: other threads and realms cannot be seen.
 *
 * @throws {ConfigError} `STATE_CONFLICT`. See `marks.ts`.
 */
export function markProcess(): void {
  const permissions = (globalThis as { Deno?: { permissions?: Permissions } }).Deno?.permissions;
  const builtin = globalThis.process?.getBuiltinModule as MarkHost["builtin"] | undefined;
  if (permissions === undefined || builtin === undefined) return;
  const may = (name: string, variable?: string) =>
    permissions.querySync(variable === undefined ? { name } : { name, variable }).state === "granted";
  if (may("ffi")) mark({ builtin, mayRead: may("read"), maySet: may("env", MARK_VARIABLE) });
}
