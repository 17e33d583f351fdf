/**
 * Random numbers from the kernel: for grants, nonces and attempts where the core is WebAssembly (the native addon asks the kernel
 * itself), for who asks for ranges, and for the marker of an old table.
 *
 * Two copies of a virtual machine that was cloned must not draw the same numbers. `crypto.getRandomValues` of Node draws from
 * a generator in the memory of the process, which a clone copies, so the kernel is asked where there is `/dev/urandom`. On
 * Workers and in browsers nobody clones a running isolate. Elsewhere without that device, or where it may not be read, the guarantee
 * about clones does not hold, and `health()` of a lease says so (docs/concepts/leases.md).
 */
import type { Backend } from "../core/boundary.js";
import { hostRandom } from "../core/host-random.js";

const WORDS = 8;

/** Why the last numbers are not the kernel's: undefined if they are, `""` where nobody clones a process. */
let whyCopied: string | undefined;

/** What is wrong with the numbers that were drawn last, if a clone of this process can draw them too. */
export const copiedHint = (): string | undefined =>
  whyCopied &&
  `a clone of this process can repeat its IDs, since /dev/urandom cannot be read (${whyCopied}). Let this process read it, or install the native addon.`;

/** Eight random numbers for a call of the core, if it needs some. Only one that asks the store must have them from the kernel. */
export function randomFor(backend: Backend, isAsking: boolean): Uint32Array | undefined {
  if (backend !== "wasm") return undefined;
  // Jitter must not fail.
  return isAsking ? drawRandom() : hostRandom(WORDS);
}

/** Eight random numbers of 32 bits. */
export function drawRandom(): Uint32Array {
  const words = new Uint32Array(WORDS);
  whyCopied = readUrandom(words);
  return whyCopied === undefined ? words : hostRandom(WORDS);
}

/**
 * Fills the array from the kernel's device. Returns why it did not; `""` where nobody clones a process. workerd runs microtasks where an
 * isolate reads `process` for the first time, outside of a microtask (seen with 2026-11-17).
 */
function readUrandom(words: Uint32Array): string | undefined {
  const { process } = globalThis;
  const files = process?.getBuiltinModule?.("node:fs");
  // Node 21, and 22 before 22.3.
  if (files === undefined) return process?.versions?.node ? "no node:fs" : "";
  let device: number;
  try {
    device = files.openSync("/dev/urandom", "r");
  } catch (error) {
    const { code } = error as { code?: string };
    // Numbers of this process instead would go unnoticed: the attempt fails, and is repeated.
    if (/^E[MN]FILE$/.test(code ?? "")) throw error;
    return `${code}`; // no such device: another system, or a sandbox
  }
  try {
    return files.readSync(device, words) === words.byteLength ? undefined : "too short";
  } finally {
    files.closeSync(device);
  }
}
