/** Where TypeScript may swap the word of a state that threads share: the engines in which that is proven to be atomic. */

/**
 * ECMAScript guarantees atomic operations only on a `SharedArrayBuffer`, but the memory of a state is in an `ArrayBuffer`, where the engine
 * decides. So an engine and a processor are listed once `tests-js/generator/swaps` has passed on them, with its mutant caught (suites
 * `swaps` and `swaps-arm64`). By the version of V8, because Electron and Node of one version have different engines. Bun names a V8 that it
 * does not have.
 */
const PROVEN = /^(?:x64|arm64) (11\.3|12\.4|13\.6)\.\d+\.\d+-node\.\d+$/;

/** Whether this is one of them. */
export function swapsAtomically(): boolean {
  try {
    const { arch, versions } = process;
    return versions["bun"] === undefined && PROVEN.test(`${arch} ${versions.v8}`);
  } catch {
    return false; // a program may have replaced them with anything
  }
}
