/** Where TypeScript may swap the word of a state that threads share: the engines in which that is proven to be atomic. */

/**
 * ECMAScript promises atomic operations on a `SharedArrayBuffer` alone, and the memory of a state is in an `ArrayBuffer`: there it is the
 * choice of the engine. So an engine and a processor are here once `tests-js/generator/swaps` has passed on them, with its mutant caught
 * (suites `swaps` and `swaps-arm64`). By the version of V8, since Electron and Node of one number have other engines; Bun names a V8 that
 * it does not have.
 */
const PROVEN = /^(?:x64|arm64) (11\.3|12\.4|13\.6)\.\d+\.\d+-node\.\d+$/;

/** Whether this is one of them. */
export function swapsAtomically(): boolean {
  const { arch, versions } = process;
  return versions["bun"] === undefined && PROVEN.test(`${arch} ${versions.v8}`);
}
