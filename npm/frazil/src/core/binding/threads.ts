/** Worker threads of Node, Bun and Deno, in which static node ids on WebAssembly are refused. */
import { ConfigError } from "../../base/errors.js";

/** Globals of Deno, and of its workers only. */
interface Global {
  readonly Deno?: unknown;
  readonly DedicatedWorkerGlobalScope?: unknown;
}

/**
 * Whether this is a worker thread of Node, Bun or Deno. A browser has no `process`, or one without the version of Node.
 *
 * @param threads the module `node:worker_threads`, or `undefined` if unavailable
 * @throws {ConfigError} `NATIVE_REQUIRED` if that is unknown
 */
export function isWorkerThread(threads: { readonly isMainThread: boolean } | undefined): boolean {
  const { Deno, DedicatedWorkerGlobalScope } = globalThis as Global;
  // In a web worker of Deno, `isMainThread` is true.
  if (Deno !== undefined && DedicatedWorkerGlobalScope !== undefined) return true;
  if (typeof threads?.isMainThread === "boolean") return !threads.isMainThread;
  if (globalThis.process?.versions?.node === undefined) return false;
  throw new ConfigError(
    "NATIVE_REQUIRED",
    "it is unknown whether this is a worker thread, where WebAssembly allows no static node id\nnode:worker_threads cannot be loaded (Node 21 and 22.0 to 22.2 have no process.getBuiltinModule). Update Node, or pass unshared: true if no other thread has this node id.",
    { field: "node" },
  );
}
