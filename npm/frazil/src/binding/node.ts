/** The binding for Node: the native addon if it loads, and WebAssembly otherwise. */

import type { Binding, Calls, FileCalls } from "../boundary.js";
import { ConfigError } from "../errors.js";
import { type StateFiles, stateFilesOf } from "../files.js";
import { Page } from "../generated/page.js";
import { noAddonError, reasonsOf } from "../native-causes.js";
import { ownOf } from "../own-properties.js";
import { closeCarriers, registeredCarriers } from "./carriers.js";
import { wasmBytes } from "./inline.js";
import { bindExports, type Exports, wasmUnavailable } from "./wasm.js";

interface Addon extends Calls, FileCalls {
  abi(): number;
  /** A page that lives as long as its owner. */
  page(owner: object): { readonly page: number; readonly memory: Uint8Array };
}

/** The packages that may contain the addon for this machine. For both glibc and musl: the wrong one fails to load. */
function addonPackages(): string[] {
  const { platform, arch } = process;
  if (platform === "linux") return [`frazil-linux-${arch}-gnu`, `frazil-linux-${arch}-musl`];
  return [`frazil-${platform}-${arch}`];
}

/** Loads a package from where this file is. */
function requireFromHere(addonPackage: string): Addon {
  // Loads built-in modules by a call that bundlers do not follow, so that they do not try to bundle the addon. A
  // bundle that is an ES module has no `__filename`, so there the addon is searched from the working directory.
  const { createRequire } = process.getBuiltinModule("node:module");
  const require = createRequire(typeof __filename === "string" ? __filename : `${process.cwd()}/`);
  return require(addonPackage) as Addon;
}

/** Loads a package from the program that `frazil/native` is a part of. */
function requireRegistered(addonPackage: string): Addon | undefined {
  const loaded = registeredCarriers()?.(addonPackage);
  if (loaded && "error" in loaded) throw loaded.error;
  return loaded?.addon as Addon | undefined;
}

function loadNative(): { binding?: Binding<StateFiles>; causes: unknown[] } {
  const causes: unknown[] = [];
  const ways = addonPackages().flatMap((addonPackage) =>
    [requireRegistered, requireFromHere].map((load) => ({ addonPackage, load })),
  );
  for (const { addonPackage, load } of ways) {
    try {
      const addon = load(addonPackage);
      if (addon === undefined) continue;
      if (addon.abi() !== Page.ABI) throw new Error(`${addonPackage} was built for another version of frazil`);
      const bind = (): Binding<StateFiles> => {
        const files = stateFilesOf(addon);
        // `files` owns the page, since the port refers to it as long as the port lives.
        const { page, memory } = addon.page(files);
        // Read once: reading the buffer of a view calls into the engine, and the buffer is needed at each call of the
        // core.
        const { buffer } = memory;
        return {
          backend: "native",
          calls: addon,
          files,
          page,
          memory: { buffer },
          buffer: () => buffer,
          offset: 0,
          causes,
          anotherPage: bind,
        };
      };
      return { binding: bind(), causes };
    } catch (error) {
      // Another copy of the addon has its own states, and WebAssembly beside it would issue the same IDs.
      if ((error as { code?: unknown }).code === "STATE_CONFLICT") {
        throw new ConfigError("STATE_CONFLICT", (error as Error).message, { cause: error });
      }
      causes.push(error);
    }
  }
  return { causes };
}

/** The key under which the realms of a thread find its WebAssembly, on an object that they all share. */
const THREAD_WASM = Symbol.for("frazil.wasm");

/**
 * Makes the instance in the main realm of the thread, so that it outlives the realm that asks for it and does not keep
 * that realm alive. Returns a function, because a copy of `process`, which Jest makes for each realm, then holds the
 * same function.
 */
const INSTANTIATE = `(bytes) => {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  return () => exports;
}`;

/** The one instance of the thread. If each vm context had its own, they would issue the same IDs. */
function loadWasm(): Binding<StateFiles> {
  const thread = process.getBuiltinModule("node:process") as { [THREAD_WASM]?: () => Exports };
  const binding = bindExports(() => {
    if (thread[THREAD_WASM] === undefined) {
      const make = process.getBuiltinModule("node:vm").runInThisContext(INSTANTIATE);
      Object.defineProperty(thread, THREAD_WASM, ownOf({ value: make(wasmBytes()) }));
    }
    return (thread[THREAD_WASM] as () => Exports)();
  });
  // WebAssembly returns a signed integer.
  const abi = (thread[THREAD_WASM]?.().abi() as number) >>> 0;
  if (abi !== Page.ABI) {
    throw new ConfigError(
      "STATE_CONFLICT",
      `another version of frazil runs on WebAssembly in this thread, and its states cannot be shared (page ${abi}, ours ${Page.ABI}): install one version`,
    );
  }
  return binding;
}

/**
 * The marks of WebAssembly, which the addon looks for, and the mark of the addon. See `crates/napi/src/backends.rs`.
 */
const MARK_FILE = "/proc/self/personality";
const MARK_VARIABLE = "FRAZIL_WASM_PROCESS";
const ADDON_MAPPING = "/memfd:frazil-native";

/** The key under which a thread records, for all its realms, that it has marked the process. */
const MARKED = /* @__PURE__ */ Symbol.for("frazil.marked");

/** Marks the process as one that uses WebAssembly, and returns a function that removes the mark. */
function leaveMark(): () => void {
  const { closeSync, openSync } = process.getBuiltinModule("node:fs");
  try {
    // An open file: it belongs to this process alone, is not inherited, and no clean-up program removes it.
    const file = openSync(MARK_FILE, "r");
    return () => closeSync(file);
  } catch {
    // Not Linux, or no permission to read files. Only the main thread can set an environment variable of the process.
    const { env, pid } = process.getBuiltinModule("node:process");
    const { timeOrigin } = process.getBuiltinModule("node:perf_hooks").performance;
    try {
      env[MARK_VARIABLE] = `${pid}:${timeOrigin}`;
    } catch (cause) {
      throw new ConfigError(
        "STATE_CONFLICT",
        "WebAssembly cannot tell the native addon in other threads that it is used, because process.env cannot be written: leave it as it is until the first generator is made, or pass unshared: true if no other thread has this node id",
        { field: "node", cause },
      );
    }
    return () => {
      delete env[MARK_VARIABLE];
    };
  }
}

/**
 * Marks the process as one that uses static node ids on WebAssembly. Refuses if the process uses them on the native
 * addon, because the two backends share no state. Only the main thread calls this: in worker threads static node ids
 * are refused on WebAssembly.
 *
 * @throws {ConfigError} `STATE_CONFLICT`
 */
export function markProcess(): void {
  const thread = process.getBuiltinModule("node:process") as { [MARKED]?: true };
  if (thread[MARKED]) return;
  // Before the check for the addon's mark, so that of two backends that start at the same time at least one sees the
  // other.
  const unmark = leaveMark();
  if (!addonIsInUse()) {
    Object.defineProperty(thread, MARKED, ownOf({ value: true }));
    return;
  }
  unmark();
  throw new ConfigError(
    "STATE_CONFLICT",
    "the native addon of frazil is used in another thread or realm of this process, and WebAssembly shares no state with it, so a node id is refused here: use one backend in all of them. Install frazil and its addon where each finds them (a bundler must leave frazil external), or set FRAZIL_BACKEND for the whole process; or pass unshared: true if no other thread has this node id",
    { field: "node" },
  );
}

/** Whether the addon has marked the process. Only Linux shows that. */
function addonIsInUse(): boolean {
  try {
    return process.getBuiltinModule("node:fs").readFileSync("/proc/self/maps", "latin1").includes(ADDON_MAPPING);
  } catch {
    return false;
  }
}

export { inWorkerThread } from "./inline.js";

/** See `inline.ts`. */
export enum Host {
  BLOCKS = 1,
  THREADS = 1,
  FILES = 1,
  ISOLATES = 0,
}

/** The value of FRAZIL_BACKEND. Deno may forbid reading the environment, and then no backend is forced. */
function forcedBackend(): string | undefined {
  try {
    return process.env["FRAZIL_BACKEND"];
  } catch {
    return undefined;
  }
}

export function load(): Binding<StateFiles> {
  const forced = forcedBackend();
  if (forced && forced !== "native" && forced !== "wasm") {
    throw new ConfigError("INVALID_OPTION", `FRAZIL_BACKEND is ${JSON.stringify(forced)}: must be native or wasm`, {
      field: "FRAZIL_BACKEND",
      value: forced,
      rule: "must be native or wasm",
    });
  }
  if (forced === "wasm") return loadWasm();
  const { binding, causes } = loadNative();
  if (binding !== undefined) return binding;
  const reasons = reasonsOf(causes);
  if (forced === "native") {
    throw new ConfigError(
      "NATIVE_REQUIRED",
      `FRAZIL_BACKEND asks for the native addon, and none could be loaded: ${reasons}`,
      { cause: noAddonError(causes) },
    );
  }
  const fallback = wasmFallback(causes);
  closeCarriers();
  warnOnce(reasons);
  return fallback;
}

/** WebAssembly in place of the addon. If it fails too, the error has the causes of both. */
function wasmFallback(causes: readonly unknown[]): Binding<StateFiles> {
  try {
    return { ...loadWasm(), causes };
  } catch (error) {
    if ((error as ConfigError).code === "STATE_CONFLICT") throw error;
    const all = [...causes, (error as Error).cause];
    throw wasmUnavailable(new AggregateError(all, "no backend could be loaded"), all.join("; "));
  }
}

/** Warns once in a process. Threads that start later inherit the note that the warning was given. */
function warnOnce(reasons: string): void {
  const note = "FRAZIL_WASM";
  const { getEnvironmentData, setEnvironmentData } = process.getBuiltinModule("node:worker_threads");
  if (getEnvironmentData(note) !== undefined) return;
  setEnvironmentData(note, true);
  process.emitWarning(`frazil runs on WebAssembly, because no native addon could be loaded: ${reasons}`, {
    code: note,
    detail: "WebAssembly shares no state between worker threads. FRAZIL_BACKEND=wasm chooses it without this warning.",
  });
}
