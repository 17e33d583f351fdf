/**
 * Random numbers for grants and nonces where the core is WebAssembly. (The native addon asks the kernel itself.)
 *
 * Two copies of a virtual machine that was cloned must not draw the same numbers. `crypto.getRandomValues` of Node draws from
 * a generator in the memory of the process, which a clone copies, so the kernel is asked where there is `/dev/urandom`. On
 * Workers and in browsers nobody clones a running isolate. On Windows without the addon the promise about clones does not
 * hold (docs/leases.md).
 */
export const WORDS = 8;

/** Eight random numbers of 32 bits. */
export function drawRandom(): Uint32Array {
  const words = new Uint32Array(WORDS);
  return readUrandom(words) ? words : crypto.getRandomValues(words);
}

/** Fills the array from the kernel's device. Returns whether there is one. */
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
