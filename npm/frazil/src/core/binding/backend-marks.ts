/**
 * The marks by which WebAssembly in the main thread and the native addon in another thread or realm see each other: they share no state.
 * See `crates/napi/src/backends.rs` for the addon's side.
 */
import { ConfigError } from "../../base/errors.js";
import { ownOf } from "../../base/own-properties.js";

/** The modules of Node that this reads. */
interface Modules {
  "node:fs": typeof import("node:fs");
  "node:path": typeof import("node:path");
  "node:perf_hooks": typeof import("node:perf_hooks");
  "node:process": typeof import("node:process");
}

/** The permissions of the process without a prompt by the host. */
export interface MarkHost {
  readonly builtin: <K extends keyof Modules>(name: K) => Modules[K];
  /** Whether it may read files. */
  readonly mayRead: boolean;
  /** Whether it may set environment variables. */
  readonly maySet: boolean;
}

const MARK_FILE = "/proc/self/personality";
export const MARK_VARIABLE = "FRAZIL_WASM_PROCESS";
const ADDON_MAPPING = "/memfd:frazil-native";
const ADDON_PIPE = "\\\\.\\pipe\\frazil-native-";
const ADDON_FILE_TEXT = "frazil-native";

/** The key by which a thread records, for all its realms, that it has marked the process. */
const MARKED = /* @__PURE__ */ Symbol.for("frazil.marked");

/** Whether this copy of the package has marked the process: a frozen `process` cannot record it. */
let isMarked = false;

/**
 * Marks the process as one that uses static node ids on WebAssembly. Refuses if the process uses them on the native
 * addon, because the two backends share no state. Only the main thread calls this: in worker threads static node ids
 * are refused on WebAssembly.
 *
 * @throws {ConfigError} `STATE_CONFLICT`
 */
export function mark(host: MarkHost): void {
  const thread = host.builtin("node:process") as { [MARKED]?: true };
  if (isMarked || thread[MARKED]) return;
  // Before the check for the addon's mark, so that of two backends that start at the same time at least one sees the
  // other.
  const unmark = leaveMarks(host);
  if (!addonIsInUse(host)) {
    isMarked = true;
    Reflect.defineProperty(thread, MARKED, ownOf({ value: true }));
    return;
  }
  unmark();
  throw new ConfigError(
    "STATE_CONFLICT",
    "another thread or realm of this process uses the native addon, and WebAssembly shares no state with it\nUse one backend in all of them: install frazil and its addon where each finds them (a bundler must leave frazil external), or set FRAZIL_BACKEND for the whole process. Or pass unshared: true if no other thread has this node id.",
    { field: "node" },
  );
}

/** Leaves both marks, or the one that can be left: a program may close descriptors that it did not open, or remove variables. */
function leaveMarks(host: MarkHost): () => void {
  const closeFile = openMarkFile(host);
  try {
    const removeVariable = setMarkVariable(host);
    return () => {
      closeFile?.();
      removeVariable();
    };
  } catch (error) {
    if (closeFile === undefined) throw error;
    return closeFile;
  }
}

/** Linux: an open file. It belongs to this process alone, is not inherited, and no clean-up program removes it. */
function openMarkFile({ builtin, mayRead }: MarkHost): (() => void) | undefined {
  if (!mayRead) return undefined;
  const { closeSync, openSync } = builtin("node:fs");
  try {
    const file = openSync(MARK_FILE, "r");
    return () => closeSync(file);
  } catch {
    // Another system, or no permission for this file.
    return undefined;
  }
}

/** An environment variable of the process, which only the main thread can set. */
function setMarkVariable({ builtin, maySet }: MarkHost): () => void {
  const { env, pid } = builtin("node:process");
  const { timeOrigin } = builtin("node:perf_hooks").performance;
  try {
    if (!maySet) throw new Error("there is no permission to set it");
    env[MARK_VARIABLE] = `${pid}:${timeOrigin}`;
  } catch (cause) {
    throw new ConfigError(
      "STATE_CONFLICT",
      "process.env cannot be written, so WebAssembly cannot tell the native addon in other threads that it is used\nLeave process.env as it is until the first generator is made (in Deno allow FRAZIL_WASM_PROCESS, or all), or pass unshared: true if no other thread has this node id.",
      { field: "node", cause },
    );
  }
  return () => {
    delete env[MARK_VARIABLE];
  };
}

/** Whether the addon has marked the process. The system is detected by its paths, because tests replace `process.platform`. */
function addonIsInUse(host: MarkHost): boolean {
  if (!host.mayRead) return false;
  return host.builtin("node:path").sep === "\\" ? hasAddonPipe(host) : hasAddonMapping(host) || hasAddonFile(host);
}

/** Linux: memory with a name. */
function hasAddonMapping({ builtin }: MarkHost): boolean {
  try {
    return builtin("node:fs").readFileSync("/proc/self/maps", "latin1").includes(ADDON_MAPPING);
  } catch {
    return false;
  }
}

/** macOS, and Linux where that memory is refused: an open, removed file with its own text. */
function hasAddonFile({ builtin }: MarkHost): boolean {
  const { fstatSync, readdirSync, readSync } = builtin("node:fs");
  const found = new Uint8Array(ADDON_FILE_TEXT.length);
  const isMark = (descriptor: number) => {
    try {
      const file = fstatSync(descriptor);
      if (!file.isFile() || file.nlink !== 0 || file.size !== found.length) return false;
      // With an explicit position, which does not move that of the file.
      return readSync(descriptor, found, 0, found.length, 0) === found.length && text(found) === ADDON_FILE_TEXT;
    } catch {
      // Closed by another thread in the meantime, or not open for reading.
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
function hasAddonPipe({ builtin }: MarkHost): boolean {
  const { closeSync, openSync } = builtin("node:fs");
  try {
    closeSync(openSync(`${ADDON_PIPE}${builtin("node:process").pid}`, "r"));
    return true;
  } catch (error) {
    // Any other refusal means that the pipe exists, such as EBUSY if it is already open. Node's permission model (ERR_ACCESS_DENIED)
    // reveals nothing.
    const { code } = error as NodeJS.ErrnoException;
    return code !== "ENOENT" && code !== "ERR_ACCESS_DENIED";
  }
}
