/** The engine of the audit: `crates/audit`, in the addon or as a WebAssembly module that nothing else loads. */
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { type Layout, Snowflake } from "frazil";
import { UsageError } from "../usage-error.js";
import { TemporaryFiles } from "./disk.js";

/** What the engine takes, as JSON. */
export interface EngineOptions {
  readonly layout?: Layout;
  readonly layoutName?: string;
  readonly format?: string;
  readonly id?: string;
  readonly host?: string;
  readonly createdAt?: string;
  readonly memoryBytes: number;
  readonly nowMs: number;
  /** How many rows a finding lists at most. */
  readonly maxRows: number;
}

/** The calls, by the names of `crates/napi`. */
export interface Engine {
  push(bytes: Uint8Array): void;
  endFile(): void;
  /** Merges at most so many IDs. Returns whether that were the last ones. */
  merge(atMostIds: number): boolean;
  /** From here on the same files are pushed once more, for the lines of the rows that the report lists. */
  locate(): void;
  /** The rows that were read. */
  rows(): number;
  report(): string;
}

/** The exports of `crates/wasm-audit`. A status is 0, or 1 with the text of an error. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  /** The address of room for an input of that length. */
  room(length: number): number;
  open(): number;
  push(): number;
  end_file(): number;
  /** 0 if there is more, 1 for an error, 2 at the end. */
  merge(atMostIds: number): number;
  locate(): void;
  rows(): number;
  report(): void;
  text(): number;
  text_length(): number;
}

/** The most for buffers on WebAssembly, whose memory has at most twice as much. */
const WASM_BYTES = 2 ** 31;

/** A refusal of the engine, from its lines: the message, the hint, and the place. */
function refused(text: string, names: readonly string[]): UsageError {
  const [message, hint, file, line] = text.split("\n");
  const place = file ? `${names[Number(file)]}, line ${line}: ` : "";
  return new UsageError(`${place}${message}\n${hint}`);
}

/** An error of the system, of temporary files. */
const ofDisk = (error: unknown) =>
  new UsageError(
    `cannot keep temporary files in ${tmpdir()}: ${(error as Error).message}\nSet TMPDIR to a folder with more room, or raise --memory.`,
  );

function onWasm(options: string, names: readonly string[]): Engine {
  const files = new TemporaryFiles(tmpdir());
  const bytesAt = (address: number, length: number) => new Uint8Array(exports.memory.buffer, address, length);
  const host = {
    append: (run: number, at: number, length: number) => files.append(run, bytesAt(at, length)),
    read: (run: number, offset: number, at: number, length: number) => files.read(run, offset, bytesAt(at, length)),
    discard: (run: number) => files.discard(run),
  };
  const module = new WebAssembly.Module(readFileSync(new URL("./audit.wasm", import.meta.url)));
  const exports = new WebAssembly.Instance(module, { host }).exports as unknown as Exports;
  const text = () => Buffer.from(bytesAt(exports.text(), exports.text_length())).toString();
  const checked = (call: () => number): number => {
    let status: number;
    try {
      status = call();
    } catch (error) {
      if ((error as { syscall?: unknown }).syscall !== undefined) throw ofDisk(error);
      throw error;
    }
    if (status === 1) throw refused(text(), names);
    return status;
  };
  const given = (bytes: Uint8Array, call: () => number) => {
    bytesAt(exports.room(bytes.length), bytes.length).set(bytes);
    checked(call);
  };
  given(Buffer.from(options), exports.open);
  return {
    push: (bytes) => given(bytes, exports.push),
    endFile: () => void checked(exports.end_file),
    merge: (atMostIds) => checked(() => exports.merge(atMostIds)) === 2,
    locate: exports.locate,
    rows: exports.rows,
    report: () => {
      exports.report();
      return text();
    },
  };
}

type AddonAudit = new (options: string, folder: string) => Engine;

function onAddon(Audit: AddonAudit, options: string, names: readonly string[]): Engine {
  const checked = <T>(call: () => T): T => {
    try {
      return call();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw code === "AUDIT" ? refused(message, names) : code === "AUDIT_DISK" ? ofDisk(error) : error;
    }
  };
  const audit = checked(() => new Audit(options, tmpdir()));
  return {
    push: (bytes) => checked(() => audit.push(bytes)),
    endFile: () => checked(() => audit.endFile()),
    merge: (atMostIds) => checked(() => audit.merge(atMostIds)),
    locate: () => audit.locate(),
    rows: () => audit.rows(),
    report: () => audit.report(),
  };
}

/** Starts an audit on the backend of this process. `names`: of the files, for refusals. */
export function startAudit(options: EngineOptions, names: readonly string[]): Engine {
  const { calls } = Snowflake.port().binding;
  const { Audit } = calls as { Audit?: AddonAudit };
  if (Audit !== undefined) return onAddon(Audit, JSON.stringify(options), names);
  return onWasm(JSON.stringify({ ...options, memoryBytes: Math.min(options.memoryBytes, WASM_BYTES) }), names);
}
