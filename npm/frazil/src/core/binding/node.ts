/** The binding for Node: the native addon if it loads, and WebAssembly otherwise. */

import { ConfigError } from "../../base/errors.js";
import { ownOf } from "../../base/own-properties.js";
import { Frame } from "../../generated/abi.js";
import type { ArrayCalls, Binding, Calls, FileCalls, LineCalls } from "../boundary.js";
import { noAddonError, noneFor, ofAnotherSystem, reasonsOf, remedyOf } from "../no-addon.js";
import { type StateFiles, stateFilesOf } from "../state-files.js";
import { closeAddons, registeredAddons } from "./addons.js";
import { mark } from "./backend-marks.js";
import { builtin } from "./builtin.js";
import { forcedBackend } from "./forced-backend.js";
import { swapsAtomically } from "./proven-engines.js";
import { isWorkerThread } from "./threads.js";
import { bindExports, checkByteOrder, type Exports, wasmUnavailable } from "./wasm.js";

interface Addon extends Calls, ArrayCalls, FileCalls, LineCalls {
  abi(): number;
  /** A frame that lives as long as its owner. `hasLines`: whether its generators have lines. */
  frame(owner: object, hasLines: boolean): { readonly frame: number; readonly memory: Uint8Array };
}

/** The systems that have an addon, as `process` names them. */
const SYSTEMS = /^(linux|darwin|win32)-(x64|arm64)$/;

/**
 * The packages that may contain the addon for this machine. On Linux both glibc's and musl's: the wrong one fails to load.
 *
 * @throws {Error} if the system has none
 */
function addonPackages(): string[] {
  const { platform, arch } = process;
  if (!SYSTEMS.test(`${platform}-${arch}`)) throw noneFor(`${platform}-${arch}`);
  if (platform === "linux") return [`frazil-linux-${arch}-gnu`, `frazil-linux-${arch}-musl`];
  return [`frazil-${platform}-${arch}`];
}

/** The options that make Node run text instead of a file: then `argv[1]` is an argument of the program. */
const RUNS_TEXT = /^(-e|-p|-pe|--eval|--print)(=|$)/;

/**
 * The files whose `node_modules` are searched for the addon: the file that contains frazil, if it exists, then the program. (Turbopack
 * writes `/ROOT/` into `__filename`, and an ES module has none.) The working directory counts only for `node -e` and `-p`, which are typed
 * there. Any other program must not load native code from wherever it is started.
 *
 * If one place fails, the others are still searched; the failure goes to `causes`.
 */
function places(causes: unknown[]): string[] {
  const { realpathSync, statSync } = builtin("node:fs");
  const { isAbsolute, join } = builtin("node:path");
  const found = new Set<string>();
  const look = (place: () => string | undefined) => {
    try {
      const path = place();
      if (path !== undefined) found.add(path);
    } catch (error) {
      causes.push(error);
    }
  };
  const isFile = (path: string) => isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  look(() => (typeof __filename === "string" && isFile(__filename) ? __filename : undefined));
  // A program may have replaced the list with anything.
  const options: unknown = process.execArgv;
  // The module of threads takes 2 ms to load, so only such a program loads it. A worker has the options of its program.
  const runsText =
    Array.isArray(options) &&
    options.some((option) => RUNS_TEXT.test(`${option}`)) &&
    builtin("node:worker_threads").isMainThread;
  look(() => {
    // In a worker, or if a program has changed its arguments, this may be anything.
    const program: unknown = process.argv?.[1];
    if (typeof program !== "string" || !isAbsolute(program) || runsText) return undefined;
    const isFolder = statSync(program, { throwIfNoEntry: false })?.isDirectory() === true;
    // `node app` runs `app.js`, or `app/index.js`. A global command is a link to its program.
    return isFolder ? join(program, "index.js") : isFile(program) ? realpathSync(program) : program;
  });
  if (runsText) look(() => join(process.cwd(), "program"));
  return [...found];
}

/** Loads a package from the program or the bundle that `frazil/native` is a part of. */
function loadRegistered(addonPackage: string): Addon | undefined {
  const loaded = registeredAddons()?.(addonPackage);
  if (loaded && "error" in loaded) throw loaded.error;
  const addon = loaded?.addon as Addon | undefined;
  if (addon === undefined || typeof addon.abi === "function") return addon;
  // A bundler's result for a file that it only copies, such as its URL.
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
      // With a path, the package exists, but the file that it names does not.
      const { code, path } = error as { code?: unknown; path?: unknown };
      if (code === "MODULE_NOT_FOUND" && path === undefined) continue;
      throw error;
    }
    return require(path) as Addon;
  }
  throw new Error(`Cannot find module '${addonPackage}' from ${searched.join(" or ") || "any file: none is known"}`);
}

const NAME_OF_ADDON = /^frazil-(linux|darwin|win32)-/;

/** The packages of the addon in the searched `node_modules`, if none is for this system. */
function foundForOthers(searched: readonly string[]): string[] {
  if (searched.length === 0) return [];
  const { createRequire } = builtin("node:module");
  const { readdirSync } = builtin("node:fs");
  const folders = searched.flatMap((place) => createRequire(place).resolve.paths("frazil") ?? []);
  const found = folders.flatMap((folder) => {
    try {
      return readdirSync(folder).filter((name) => NAME_OF_ADDON.test(name));
    } catch {
      return []; // there is no such folder, or no permission to list it
    }
  });
  return addonPackages().some((ours) => found.includes(ours)) ? [] : [...new Set(found)];
}

/** `admit`, but the core is asked only once for a count and all smaller ones of a generator: admitted counts stay admitted. */
function admitOnce(admit: Calls["admit"]): Calls["admit"] {
  let ofHandle = NaN;
  let ofWaitMs = NaN;
  let admitted = -1;
  return (frame, handle, count, waitMs) => {
    if (handle === ofHandle && waitMs === ofWaitMs && count >>> 0 === count && count <= admitted) return 0;
    const status = admit(frame, handle, count, waitMs);
    if (status === 0) {
      // Not as a list: a program can replace its iterator.
      ofHandle = handle;
      ofWaitMs = waitMs;
      admitted = count;
    }
    return status;
  };
}

function loadNative(): { binding?: Binding<StateFiles>; causes: unknown[] } {
  const causes: unknown[] = [];
  const ways: ((addonPackage: string) => Addon | undefined)[] = [loadRegistered];
  let searched: string[] = [];
  let names: string[] = [];
  try {
    names = addonPackages();
    searched = places(causes);
    ways.push((addonPackage) => loadFrom(searched, addonPackage));
  } catch (error) {
    causes.push(error);
  }
  const attempts = names.flatMap((addonPackage) => ways.map((load) => ({ addonPackage, load })));
  for (const { addonPackage, load } of attempts) {
    try {
      const addon = load(addonPackage);
      if (addon === undefined) continue;
      if (addon.abi() !== Frame.ABI) throw new Error(`${addonPackage} was built for another version of frazil`);
      const bind = (): Binding<StateFiles> => {
        const files = stateFilesOf(addon);
        // `files` owns the frame, because the port refers to it for its whole life.
        const hasLines = swapsAtomically();
        const { frame, memory } = addon.frame(files, hasLines);
        // Read once: reading the buffer of a view calls into the engine, and the buffer is needed at each call of the
        // core.
        const { buffer } = memory;
        return {
          backend: "native",
          calls: { ...addon, admit: admitOnce(addon.admit) },
          files,
          arrays: addon,
          lines: hasLines ? addon : undefined,
          frame,
          memory: { buffer },
          buffer: () => buffer,
          offset: 0,
          causes,
          anotherFrame: bind,
        };
      };
      return { binding: bind(), causes };
    } catch (error) {
      // Another copy of the addon has its own states, so WebAssembly beside it would issue the same IDs.
      if ((error as { code?: unknown }).code === "STATE_CONFLICT") {
        throw new ConfigError("STATE_CONFLICT", (error as Error).message, { cause: error });
      }
      causes.push(error);
    }
  }
  const others = foundForOthers(searched);
  if (others.length > 0) causes.push(ofAnotherSystem(others));
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

/**
 * The bytes of the module. Its text is a file that is loaded only here, by a literal `require`, which every bundler for Node follows. No
 * `Buffer`: a vm context has none.
 */
function wasmBytes() {
  const { wasmText } = require("./wasm-text.js") as typeof import("./wasm-text.js");
  return builtin("node:buffer").Buffer.from(wasmText, "base64");
}

/** The one instance of the thread. If each vm context had its own, they would issue the same IDs. */
function loadWasm(): Binding<StateFiles> {
  const thread = builtin("node:process") as { [THREAD_WASM]?: () => Exports };
  const binding = bindExports(() => {
    checkByteOrder();
    if (thread[THREAD_WASM] === undefined) {
      const make = builtin("node:vm").runInThisContext(INSTANTIATE);
      Object.defineProperty(thread, THREAD_WASM, ownOf({ value: make(wasmBytes()) }));
    }
    return (thread[THREAD_WASM] as () => Exports)();
  });
  // WebAssembly returns a signed integer.
  const abi = (thread[THREAD_WASM]?.().abi() as number) >>> 0;
  if (abi !== Frame.ABI) {
    throw new ConfigError(
      "STATE_CONFLICT",
      `another version of frazil runs on WebAssembly in this thread, and its states cannot be shared (frame ${abi}, ours ${Frame.ABI})\nInstall one version.`,
    );
  }
  return binding;
}

/** Marks the process. See `backend-marks.ts`. */
export const markProcess = (): void => mark({ builtin, mayRead: true, maySet: true });

/** Whether this is a worker thread. Node 21 and 22.0 to 22.2 have no `getBuiltinModule`. */
export function inWorkerThread(): boolean {
  let threads: typeof import("node:worker_threads") | undefined;
  try {
    threads = builtin("node:worker_threads");
  } catch {
    // A bundle that is an ES module has no `require`. Then it is unknown.
  }
  return isWorkerThread(threads);
}

/** See `inline.ts`. */
export const wrongEntry = (): string => "";

/** See `inline.ts`. */
export enum Host {
  BLOCKS = 1,
  THREADS = 1,
  FILES = 1,
  ISOLATES = 0,
  PAGES = 0,
  MOVING_CLOCK = 1,
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
      `FRAZIL_BACKEND asks for the native addon, and none could be loaded: ${reasons}\n${remedyOf(causes)}`,
      { cause: noAddonError(causes) },
    );
  }
  const fallback = wasmFallback(causes);
  closeAddons();
  warnOnce(reasons, remedyOf(causes));
  return fallback;
}

/** WebAssembly instead of the addon. If it fails too, the error has the causes of both. */
function wasmFallback(causes: readonly unknown[]): Binding<StateFiles> {
  try {
    return { ...loadWasm(), causes };
  } catch (error) {
    if ((error as ConfigError).code === "STATE_CONFLICT") throw error;
    const all = [...causes, (error as Error).cause];
    throw wasmUnavailable(new AggregateError(all, "no backend could be loaded"), all.join("; "));
  }
}

/** Records the warning for threads that start later. */
const NOTE = "FRAZIL_WASM";
/**
 * A file that hardly any program opens. While open, it records the warning for threads that already run, until the thread that opened it
 * ends. Linux only.
 */
const NOTE_FILE = "/proc/self/coredump_filter";

/**
 * Whether no thread of the process has given the warning. Descriptors belong to all threads of a process. Two threads that ask at the same
 * time may both be first.
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

/** Warns once in a process. */
function warnOnce(reasons: string, remedy: string): void {
  if (!isFirstToWarn()) return;
  process.emitWarning(`frazil runs on WebAssembly, because no native addon could be loaded: ${reasons}`, {
    code: NOTE,
    detail: `WebAssembly shares no state between worker threads, and has no Snowflake.local(). ${remedy} FRAZIL_BACKEND=wasm chooses WebAssembly without this warning.`,
  });
}
