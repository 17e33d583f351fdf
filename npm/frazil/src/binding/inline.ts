/** WebAssembly from text inside the bundle: for every place that can compile it and none that a file could be loaded from. */
import text from "../../build/frazil_bg.wasm";
import type { Binding } from "../boundary.js";
import { instantiate } from "./wasm.js";

/** The bytes of the module, decoded at the first use. */
export const wasmBytes = () => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

export const load = (): Binding => instantiate(() => new WebAssembly.Module(wasmBytes()));

/**
 * What the host might do, 0 or 1. An enum, because esbuild puts its numbers where they are used: what a host can never do
 * is not in its bundle.
 */
export enum Host {
  /** A thread may block, if `canBlock` finds so. */
  BLOCKS = 1,
  /** There may be worker threads, each with a WebAssembly memory of its own. */
  THREADS = 1,
  /** There may be state files, and the native addon that knows them. */
  FILES = 0,
}

/**
 * Whether this is a worker thread of Node: its WebAssembly shares no memory with the main thread's. A browser has no
 * `process`, and a bundle for browsers may run in Node all the same.
 */
export const inWorkerThread = (): boolean =>
  globalThis.process?.getBuiltinModule?.("node:worker_threads")?.isMainThread === false;

/** Nothing is known of other threads and realms here. */
export const markProcess = (): void => {};
