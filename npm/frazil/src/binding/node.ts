/** The binding for Node: the native addon if it loads, and WebAssembly otherwise. */

import type { Binding, Calls, FileCalls } from "../boundary.js";
import { ConfigError } from "../errors.js";
import { type StateFiles, stateFilesOf } from "../files.js";
import { Page } from "../generated/page.js";
import { noAddonError, reasonsOf } from "../native-causes.js";
import { ownOf } from "../own-properties.js";
import { builtin } from "./builtin.js";
import { closeCarriers, registeredCarriers } from "./carriers.js";
import { forcedBackend } from "./forced.js";
import { wasmBytes } from "./inline.js";
import { isWorkerThread } from "./threads.js";
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

/** The options by which Node runs a text instead of a file: then `argv[1]` is an argument of the program. */
const RUNS_TEXT = /^(-e|-p|-pe|--eval|--print)(=|$)/;

/**
 * The files from whose folders `node_modules` are searched for the addon: the file that contains frazil, if it is one (Turbopack writes
 * `/ROOT/` into `__filename`, and an ES module has none), then the program. The working directory counts only where the program is no
 * file: nobody expects a program to load native code from wherever it is started.
 */
function places(): string[] {
  const { statSync } = builtin("node:fs");
  const { isAbsolute, join } = builtin("node:path");
  const isFile = (path: string) => isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  const found: string[] = [];
  if (typeof __filename === "string" && isFile(__filename)) found.push(__filename);
  const [, program] = process.argv;
  if (program !== undefined && isAbsolute(program) && !process.execArgv.some((option) => RUNS_TEXT.test(option)))
    // `node app` runs `app.js`, or `app/index.js`.
    found.push(statSync(program, { throwIfNoEntry: false })?.isDirectory() ? join(program, "index.js") : program);
  else found.push(join(process.cwd(), "program"));
  return [...new Set(found)];
}

/** Loads a package from the program or the bundle that `frazil/native` is a part of. */
function loadRegistered(addonPackage: string): Addon | undefined {
  const loaded = registeredCarriers()?.(addonPackage);
  if (loaded && "error" in loaded) throw loaded.error;
  const addon = loaded?.addon as Addon | undefined;
  if (addon === undefined || typeof addon.abi === "function") return addon;
  // What a bundler gives for a file that it only copies, such as its URL.
  throw new Error(`the bundler gives ${typeof addon} in place of ${addonPackage}: it must load .node files by require`);
}

/** Loads a package from the first of the places that has it. */
function loadFrom(searched: readonly string[], addonPackage: string): Addon {
  const { createRequire } = builtin("node:module");
  for (const place of searched) {
    const require = createRequire(place);
    let path: string;
    try {
      path = require.resolve(addonPackage);
    } catch (error) {
      // With a path, the package is there, and what it names is not.
      const { code, path } = error as { code?: unknown; path?: unknown };
      if (code === "MODULE_NOT_FOUND" && path === undefined) continue;
      throw error;
    }
    return require(path) as Addon;
  }
  throw new Error(`Cannot find module '${addonPackage}' from ${searched.join(" or ")}`);
}

function loadNative(): { binding?: Binding<StateFiles>; causes: unknown[] } {
  const causes: unknown[] = [];
  const ways: ((addonPackage: string) => Addon | undefined)[] = [loadRegistered];
  try {
    const searched = places();
    ways.push((addonPackage) => loadFrom(searched, addonPackage));
  } catch (error) {
    causes.push(error);
  }
  const attempts = addonPackages().flatMap((addonPackage) => ways.map((load) => ({ addonPackage, load })));
  for (const { addonPackage, load } of attempts) {
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
  const thread = builtin("node:process") as { [THREAD_WASM]?: () => Exports };
  const binding = bindExports(() => {
    if (thread[THREAD_WASM] === undefined) {
      const make = builtin("node:vm").runInThisContext(INSTANTIATE);
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
 * The marks of WebAssembly, which the addon looks for, and those of the addon. See `crates/napi/src/backends.rs`.
 */
const MARK_FILE = "/proc/self/personality";
const MARK_VARIABLE = "FRAZIL_WASM_PROCESS";
const ADDON_MAPPING = "/memfd:frazil-native";
const ADDON_PIPE = "\\\\.\\pipe\\frazil-native-";
const ADDON_FILE_TEXT = "frazil-native";

/** The key under which a thread records, for all its realms, that it has marked the process. */
const MARKED = /* @__PURE__ */ Symbol.for("frazil.marked");

/** Marks the process as one that uses WebAssembly, and returns a function that removes the mark. */
const leaveMark = (): (() => void) => openMarkFile() ?? setMarkVariable();

/** An open file: it belongs to this process alone, is not inherited, and no clean-up program removes it. */
function openMarkFile(): (() => void) | undefined {
  if (process.platform !== "linux") return undefined;
  const { closeSync, openSync } = builtin("node:fs");
  try {
    const file = openSync(MARK_FILE, "r");
    return () => closeSync(file);
  } catch {
    // No permission to read files.
    return undefined;
  }
}

/** An environment variable of the process, which only the main thread can set. */
function setMarkVariable(): () => void {
  const { env, pid } = builtin("node:process");
  const { timeOrigin } = builtin("node:perf_hooks").performance;
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

/**
 * Marks the process as one that uses static node ids on WebAssembly. Refuses if the process uses them on the native
 * addon, because the two backends share no state. Only the main thread calls this: in worker threads static node ids
 * are refused on WebAssembly.
 *
 * @throws {ConfigError} `STATE_CONFLICT`
 */
export function markProcess(): void {
  const thread = builtin("node:process") as { [MARKED]?: true };
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

/** Whether the addon has marked the process. */
function addonIsInUse(): boolean {
  return process.platform === "win32" ? hasAddonPipe() : hasAddonMapping() || hasAddonFile();
}

/** Linux: memory with a name. */
function hasAddonMapping(): boolean {
  try {
    return builtin("node:fs").readFileSync("/proc/self/maps", "latin1").includes(ADDON_MAPPING);
  } catch {
    return false;
  }
}

/** macOS, and Linux where that memory is refused: an open file that was removed, with a text of its own. */
function hasAddonFile(): boolean {
  const { fstatSync, readdirSync, readSync } = builtin("node:fs");
  const found = new Uint8Array(ADDON_FILE_TEXT.length);
  const isMark = (descriptor: number) => {
    try {
      const file = fstatSync(descriptor);
      if (!file.isFile() || file.nlink !== 0 || file.size !== found.length) return false;
      // At a position, which leaves the position of the file as it is.
      return readSync(descriptor, found, 0, found.length, 0) === found.length && text(found) === ADDON_FILE_TEXT;
    } catch {
      // Closed by another thread meanwhile, or not open for reading.
      return false;
    }
  };
  const text = (bytes: Uint8Array) => String.fromCharCode(...bytes);
  try {
    return readdirSync("/dev/fd").some((name) => isMark(Number(name)));
  } catch {
    return false;
  }
}

/** Windows: a pipe whose name contains the process id. It ends with the process. */
function hasAddonPipe(): boolean {
  const { closeSync, openSync } = builtin("node:fs");
  try {
    closeSync(openSync(`${ADDON_PIPE}${process.pid}`, "r"));
    return true;
  } catch (error) {
    // Any other refusal is that of a pipe that exists, such as EBUSY for one that was opened already. The permissions of Node
    // (ERR_ACCESS_DENIED) do not tell.
    const { code } = error as NodeJS.ErrnoException;
    return code !== "ENOENT" && code !== "ERR_ACCESS_DENIED";
  }
}

/** Whether this is a worker thread. Node 21 and 22.0 to 22.2 have no `getBuiltinModule`. */
export function inWorkerThread(): boolean {
  let threads: typeof import("node:worker_threads") | undefined;
  try {
    threads = builtin("node:worker_threads");
  } catch {
    // There is no `require` in a bundle that is an ES module. Then it is not known.
  }
  return isWorkerThread(threads);
}

/** See `inline.ts`. */
export enum Host {
  BLOCKS = 1,
  THREADS = 1,
  FILES = 1,
  ISOLATES = 0,
}

export function load(): Binding<StateFiles> {
  const forced = forcedBackend();
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

/** The note that the warning was given, for threads that start later. */
const NOTE = "FRAZIL_WASM";
/**
 * A file that hardly any program opens. An open one is the same note for threads that run already, until the thread that opened it ends.
 * Linux only.
 */
const NOTE_FILE = "/proc/self/coredump_filter";

/**
 * Whether no thread of the process has given the warning. The descriptors of a process belong to all its threads. Two threads that
 * ask at the same time may both be the first.
 */
function isFirstToWarn(): boolean {
  const { getEnvironmentData, setEnvironmentData } = builtin("node:worker_threads");
  if (getEnvironmentData(NOTE) !== undefined) return false;
  setEnvironmentData(NOTE, true);
  const { openSync, readdirSync, readlinkSync } = builtin("node:fs");
  try {
    const noted = `/proc/${process.pid}/${NOTE_FILE.slice("/proc/self/".length)}`;
    const isNote = (name: string) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`) === noted;
      } catch {
        return false; // closed meanwhile
      }
    };
    if (readdirSync("/proc/self/fd").some(isNote)) return false;
    openSync(NOTE_FILE, "r");
    return true;
  } catch {
    return true; // not Linux, or no permission to read files
  }
}

const ADVICE =
  'WebAssembly shares no state between worker threads, and has no Snowflake.local(). Install without --omit=optional; in a bundle keep frazil external, or write import "frazil/native" first (docs/bundlers.md). FRAZIL_BACKEND=wasm chooses WebAssembly without this warning.';

/** Warns once in a process. */
function warnOnce(reasons: string): void {
  if (!isFirstToWarn()) return;
  process.emitWarning(`frazil runs on WebAssembly, because no native addon could be loaded: ${reasons}`, {
    code: NOTE,
    detail: ADVICE,
  });
}
