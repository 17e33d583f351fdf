/** The native addon where one loads, WebAssembly otherwise. */

import type { Binding, Calls, FileCalls } from "../boundary.js";
import { ConfigError } from "../errors.js";
import { type StateFiles, stateFilesOf } from "../files.js";
import { Page } from "../generated/page.js";
import { ownOf } from "../own.js";
import { wasmBytes } from "./inline.js";
import { bindExports, type Exports, wasmUnavailable } from "./wasm.js";

interface Addon extends Calls, FileCalls {
  abi(): number;
  /** A page that is there for as long as its owner is. */
  page(owner: object): { readonly page: number; readonly memory: Uint8Array };
}

/** The packages that may carry the addon for this machine. glibc and musl are not told apart: a wrong one fails to load. */
function addonPackages(): string[] {
  const { platform, arch } = process;
  if (platform === "linux") return [`frazil-linux-${arch}-gnu`, `frazil-linux-${arch}-musl`];
  return [`frazil-${platform}-${arch}`];
}

function loadNative(): { binding?: Binding<StateFiles>; causes: unknown[] } {
  const causes: unknown[] = [];
  for (const addonPackage of addonPackages()) {
    try {
      // Built-in modules by a call that bundlers do not follow: they would try to bundle the addon. In a bundle that is an
      // ES module there is no `__filename`, and the addon is looked for from the working directory.
      const { createRequire } = process.getBuiltinModule("node:module");
      const require = createRequire(typeof __filename === "string" ? __filename : `${process.cwd()}/`);
      const addon = require(addonPackage) as Addon;
      if (addon.abi() !== Page.ABI) throw new Error(`${addonPackage} was built for another version of frazil`);
      const bind = (): Binding<StateFiles> => {
        const files = stateFilesOf(addon);
        // Owned by what the port holds for as long as it is.
        const { page, memory } = addon.page(files);
        // A property of its own: asking a view for its buffer calls into the engine, and this is asked at each crossing.
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
      // Another copy of the addon has states of its own: WebAssembly beside it would repeat them.
      if ((error as { code?: unknown }).code === "STATE_CONFLICT") {
        throw new ConfigError("STATE_CONFLICT", (error as Error).message, { cause: error });
      }
      causes.push(error);
    }
  }
  return { causes };
}

/** Where the realms of a thread find its WebAssembly: an object that all of them have in common. */
const THREAD_WASM = Symbol.for("frazil.wasm");

/**
 * Makes the instance in the main realm of the thread, so that it outlives the realm that asks, and keeps none of it alive.
 * A function for an answer: a copy of `process`, as Jest makes one for each realm, has the same function.
 */
const INSTANTIATE = `(bytes) => {
  const glue = { "./frazil_bg.js": { __wbindgen_init_externref_table() {} } };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), glue);
  exports.__wbindgen_start?.();
  return () => exports;
}`;

/** The one instance of the thread: vm contexts that had one each would repeat each other. */
function loadWasm(): Binding<StateFiles> {
  const thread = process.getBuiltinModule("node:process") as { [THREAD_WASM]?: () => Exports };
  const binding = bindExports(() => {
    if (thread[THREAD_WASM] === undefined) {
      const make = process.getBuiltinModule("node:vm").runInThisContext(INSTANTIATE);
      Object.defineProperty(thread, THREAD_WASM, ownOf({ value: make(wasmBytes()) }));
    }
    return (thread[THREAD_WASM] as () => Exports)();
  });
  // An integer comes out signed.
  const abi = (thread[THREAD_WASM]?.().abi() as number) >>> 0;
  if (abi !== Page.ABI) {
    throw new ConfigError(
      "STATE_CONFLICT",
      `another version of frazil runs on WebAssembly in this thread, and its states cannot be shared (page ${abi}, ours ${Page.ABI}): install one version`,
    );
  }
  return binding;
}

/** The marks of WebAssembly, which the addon reads, and the mark of the addon. See `crates/napi/src/backends.rs`. */
const MARK_FILE = "/proc/self/personality";
const MARK_VARIABLE = "FRAZIL_WASM_PROCESS";
const ADDON_MAPPING = "/memfd:frazil-native";

/** Under this the thread notes that it has claimed the process, for all its realms. */
const MARKED = /* @__PURE__ */ Symbol.for("frazil.marked");

/** Leaves the mark of WebAssembly on the process, and returns what takes it away again. */
function leaveMark(): () => void {
  const { closeSync, openSync } = process.getBuiltinModule("node:fs");
  try {
    // An open file: it is the process's alone, is not inherited, and no program sweeps it away.
    const file = openSync(MARK_FILE, "r");
    return () => closeSync(file);
  } catch {
    // Not Linux, or files may not be read. Only the main thread can set a variable of the process.
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
 * Marks the process as one whose static node ids are WebAssembly's, unless they are the addon's: the two share no state. In the
 * other threads static node ids are refused on WebAssembly.
 *
 * @throws {ConfigError} `STATE_CONFLICT`
 */
export function markProcess(): void {
  const thread = process.getBuiltinModule("node:process") as { [MARKED]?: true };
  if (thread[MARKED]) return;
  // Before the look at the addon's mark, so that of two that start at once at least one sees the other.
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

/** Whether the addon has marked the process. Linux alone shows it. */
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
}

/** What FRAZIL_BACKEND asks for. Deno may forbid reading the environment, and then nothing can be asked for. */
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
  const reasons = causes.map((cause) => (cause as Error).message.split("\n")[0]).join("; ");
  if (forced === "native") {
    throw new ConfigError(
      "NATIVE_REQUIRED",
      `FRAZIL_BACKEND asks for the native addon, and none could be loaded: ${reasons}`,
      {
        cause: new AggregateError(causes, "no native addon could be loaded"),
      },
    );
  }
  const fallback = wasmFallback(causes);
  warnOnce(reasons);
  return fallback;
}

/** WebAssembly in place of the addon. Where it fails too, its error has the causes of both. */
function wasmFallback(causes: readonly unknown[]): Binding<StateFiles> {
  try {
    return { ...loadWasm(), causes };
  } catch (error) {
    if ((error as ConfigError).code === "STATE_CONFLICT") throw error;
    const all = [...causes, (error as Error).cause];
    throw wasmUnavailable(new AggregateError(all, "no backend could be loaded"), all.join("; "));
  }
}

/** One warning a process: threads that start later inherit the note that it was given. */
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
