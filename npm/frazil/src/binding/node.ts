/** The native addon where one loads, WebAssembly otherwise. */
import { ConfigError } from "../errors.js";
import { withFiles } from "../files.js";
import { Page } from "../generated/page.js";
import type { Binding, Calls, Files } from "../port.js";
import { compileInline } from "./inline.js";
import { instantiate, unavailable } from "./wasm.js";

interface Addon extends Calls, Files {
  abi(): number;
  page(buffer: Uint8Array): number;
}

/** The packages that may carry the addon for this machine. glibc and musl are not told apart: a wrong one fails to load. */
function carriers(): string[] {
  const { platform, arch } = process;
  if (platform === "linux") return [`frazil-linux-${arch}-gnu`, `frazil-linux-${arch}-musl`];
  return [`frazil-${platform}-${arch}`];
}

function loadNative(): { binding?: Binding; causes: unknown[] } {
  const causes: unknown[] = [];
  for (const carrier of carriers()) {
    try {
      // Built-in modules by a call that bundlers do not follow: they would try to bundle the addon. In a bundle that is an
      // ES module there is no `__filename`, and the addon is looked for from the working directory.
      const { createRequire } = process.getBuiltinModule("node:module");
      const require = createRequire(typeof __filename === "string" ? __filename : `${process.cwd()}/`);
      const addon = require(carrier) as Addon;
      if (addon.abi() !== Page.ABI) throw new Error(`${carrier} was built for another version of frazil`);
      const memory = { buffer: new ArrayBuffer(Page.BYTES) };
      const page = addon.page(new Uint8Array(memory.buffer));
      const files = withFiles(addon);
      return { binding: { backend: "native", calls: addon, files, page, memory, offset: 0, causes }, causes };
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

export function load(): Binding {
  const forced = forcedBackend();
  if (forced && forced !== "native" && forced !== "wasm") {
    throw new ConfigError("INVALID_OPTION", `FRAZIL_BACKEND is ${JSON.stringify(forced)}: must be native or wasm`, {
      field: "FRAZIL_BACKEND",
      value: forced,
      rule: "must be native or wasm",
    });
  }
  if (forced === "wasm") return instantiate(compileInline);
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
  const fallback = standIn(causes);
  warnOnce(reasons);
  return fallback;
}

/** WebAssembly in place of the addon. Where it fails too, its error has the causes of both. */
function standIn(causes: readonly unknown[]): Binding {
  try {
    return { ...instantiate(compileInline), causes };
  } catch (error) {
    const all = [...causes, (error as Error).cause];
    throw unavailable(new AggregateError(all, "no backend could be loaded"), all.join("; "));
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
