/**
 * Random numbers from the kernel: for grants, nonces and attempts where the core is WebAssembly (the native addon asks the kernel
 * itself), for who asks for ranges, and for the marker of an old table.
 *
 * Two copies of a virtual machine that was cloned must not draw the same numbers. `crypto.getRandomValues` of Node draws from
 * a generator in the memory of the process, which a clone copies, so the kernel is asked where there is `/dev/urandom`. On
 * Workers and in browsers nobody clones a running isolate. On Windows without the addon the promise about clones does not
 * hold (docs/leases.md).
 */
import type { Backend } from "./boundary.js";
import { hostRandom } from "./host-random.js";

const WORDS = 8;

/** Eight random numbers for a call of the core, if it needs some. Only one that asks the store must have them from the kernel. */
export function randomFor(backend: Backend, isAsking: boolean): Uint32Array | undefined {
  if (backend !== "wasm") return undefined;
  // Jitter must not fail.
  return isAsking ? drawRandom() : hostRandom(WORDS);
}

/** Eight random numbers of 32 bits. */
export function drawRandom(): Uint32Array {
  const words = new Uint32Array(WORDS);
  return readUrandom(words) ? words : hostRandom(WORDS);
}

/**
 * Fills the array from the kernel's device. Returns whether there is one. workerd runs microtasks where an isolate reads `process` for
 * the first time, outside of a microtask (seen with 2026-11-17).
 */
function readUrandom(words: Uint32Array): boolean {
  const files = globalThis.process?.getBuiltinModule?.("node:fs");
  if (files === undefined) return false;
  let device: number;
  try {
    device = files.openSync("/dev/urandom", "r");
  } catch (error) {
    // Numbers of this process instead would go unnoticed: the attempt fails, and is repeated.
    if (/^E[MN]FILE$/.test((error as { code?: string }).code ?? "")) throw error;
    return false; // no such device: another system, or a sandbox
  }
  try {
    return files.readSync(device, words) === words.byteLength;
  } finally {
    files.closeSync(device);
  }
}
