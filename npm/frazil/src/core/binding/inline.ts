/** WebAssembly from base64 text in the bundle. */
import { ConfigError } from "../../base/errors.js";
import type { Binding } from "../boundary.js";
import { MARK_VARIABLE, type MarkHost, mark } from "./backend-marks.js";
import { forcedBackend } from "./forced-backend.js";
import { isWorkerThread } from "./threads.js";
import { bindExports, bytesOf, checkByteOrder, instanceOf } from "./wasm.js";
import { wasmText } from "./wasm-text.js";

/** The part of the global object that is read here. */
interface Global {
  readonly Deno?: { readonly permissions?: Permissions };
  readonly document?: unknown;
}

/** Deno's permissions: what the program may do without a prompt. */
type Permissions = { querySync(permission: { name: string; variable?: string }): { state: string } };

/**
 * Whether this is Node or Bun, where this entry is wrong. Bundlers choose it if not told the platform (Rollup, esbuild). Test environments
 * that simulate a browser, such as jsdom, have a document.
 */
function isServer(): boolean {
  const { Deno, document } = globalThis as Global;
  const { versions, getBuiltinModule } = globalThis.process ?? {};
  return Deno === undefined && document === undefined && versions?.node !== undefined && getBuiltinModule !== undefined;
}

const REMEDY =
  'Tell the bundler that the program runs on Node (esbuild: --platform=node; Rollup: resolve({ exportConditions: ["node"] })), or keep frazil external.';

/** The text of a refusal if this entry is the wrong one. */
export const wrongEntry = (): string => (isServer() ? `This is the entry of frazil for browsers. ${REMEDY}` : "");

/**
 * Warns in Node and Bun, where the addon would be expected.
 *
 * @throws {ConfigError} `NATIVE_REQUIRED` if the environment forces the addon, which this entry of the package cannot load.
 */
export function load(): Binding {
  const forced = forcedBackend();
  if (forced === "native")
    throw new ConfigError(
      "NATIVE_REQUIRED",
      `FRAZIL_BACKEND asks for the native addon, and this entry of frazil, for browsers and Deno, has none\n${
        isServer() ? REMEDY : 'In Deno, createRequire(import.meta.url)("frazil") loads the addon (deno run -A).'
      }`,
    );
  const binding = bindExports(() => {
    checkByteOrder();
    return instanceOf(new WebAssembly.Module(bytesOf(wasmText)));
  }, "A page allows it with script-src 'wasm-unsafe-eval'.");
  if (isServer() && forced === undefined)
    globalThis.process?.emitWarning("frazil runs on WebAssembly, because this is its entry for browsers, in Node", {
      code: "FRAZIL_WASM",
      detail: `WebAssembly shares no state between worker threads, and has no Snowflake.local(). To have the addon: ${REMEDY} FRAZIL_BACKEND=wasm chooses WebAssembly without this warning.`,
    });
  return binding;
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
  /** A program runs in many isolates at a time, which share nothing and have no numbers. */
  ISOLATES = 0,
  /** A program may run in browser pages, and a user has several. */
  PAGES = 1,
  /** The clock moves while a program runs. On Cloudflare Workers it stands still in a turn of the event loop. */
  MOVING_CLOCK = 1,
}

/**
 * Whether this is a worker thread, whose WebAssembly shares no memory with that of the main thread. A bundle for browsers
 * may also run in Node, Bun and Deno. Browser workers are not distinguished from the main thread.
 */
export const inWorkerThread = (): boolean =>
  isWorkerThread(globalThis.process?.getBuiltinModule?.("node:worker_threads"));

/**
 * Marks the process in Node, Bun and Deno, where `require` loads the addon in other threads. Without Deno's permission for native code
 * there is no addon, and no thread has more permissions than the main thread. Elsewhere this does nothing: other threads and realms are
 * invisible.
 *
 * @throws {ConfigError} `STATE_CONFLICT`. See `backend-marks.ts`.
 */
export function markProcess(): void {
  const builtin = globalThis.process?.getBuiltinModule as MarkHost["builtin"];
  const { permissions } = (globalThis as Global).Deno ?? {};
  if (isServer()) mark({ builtin, mayRead: true, maySet: true });
  else if (permissions !== undefined && builtin !== undefined) {
    const may = (name: string, variable?: string) =>
      permissions.querySync(variable === undefined ? { name } : { name, variable }).state === "granted";
    if (may("ffi")) mark({ builtin, mayRead: may("read"), maySet: may("env", MARK_VARIABLE) });
  }
}
