/**
 * State files: options, opening, and errors of `Snowflake.local()` on the native addon. Only bundles for Node contain
 * this.
 */

import {
  ConfigError,
  configError,
  type ErrorCode,
  type ErrorDetails,
  type FrazilError,
  factOf,
  LeaseError,
  refusal,
  withoutRule,
} from "../base/errors.js";
import { PackageRule } from "../base/package-rules.js";
import { First, Frame, Slot } from "../generated/abi.js";
import { CODES, MEANINGS, RETRYABLE, RULES, SUBJECTS } from "../generated/native.js";
import { Rule } from "../generated/rules.js";
import type { FileCalls } from "./boundary.js";

/** The state file of a `Snowflake.local()`. */
export interface StateFile {
  readonly path: string;
  /** The kind of file system that holds it. */
  readonly fileSystem: string;
  /** The time up to which IDs are reserved on disk, in Unix milliseconds. No ID from this time on has been issued. */
  readonly ceilingMs: number;
  /** The number of processes that have the file open, including this one; `undefined` if unknown. */
  readonly attached: number | undefined;
  /** How often this process raised the ceiling (`ceilingMs`), in the background or during a call. */
  readonly raises: number;
  /** How far the clock is ahead of the time used instead, in milliseconds; 0 if the clock is trusted. */
  readonly distrustedMs: number;
  /**
   * Whether the mapped state is locked in memory. If not, a page that could not be written to disk may be read back with its old content.
   */
  readonly locked: boolean;
  /**
   * Whether this process may not read a directory above the file. If so, another file of the same name could be in use unnoticed, so each
   * start waits 3 s.
   */
  readonly blind: boolean;
}

/** The part of a port that is used here. An interface, because `port.ts` depends on this file. @internal */
interface FrameAccess {
  readonly binding: { readonly frame: number };
  readonly numbers: Float64Array;
  readonly ids: BigUint64Array;
  readonly subject: string;
  error(status: number, value: unknown): FrazilError;
}

/** The text options of `Snowflake.local()`, and the slots of their lengths. */
const TEXT_OPTIONS = [
  ["dir", Slot.DIR_BYTES],
  ["scope", Slot.SCOPE_BYTES],
  ["fileSystem", Slot.FILE_SYSTEM_BYTES],
] as const;

/** The bytes of the frame that hold text. They are the same memory as the IDs. */
const bytesOf = ({ ids }: FrameAccess) => new Uint8Array(ids.buffer, ids.byteOffset, 8 * Frame.IDS);

// With URI escapes, which are part of the language: some realms, such as Jest's with jsdom, have no `TextEncoder`.
const escaped = encodeURIComponent;
const unescaped = decodeURIComponent;

/** Writes a text as UTF-8. Returns its end, or `undefined` if it has no UTF-8 (half of a surrogate pair) or does not fit. */
function encode(text: string, into: Uint8Array, from: number): number | undefined {
  if (text.length > into.length || /\p{Surrogate}/u.test(text)) return undefined;
  const escapes = escaped(text);
  let end = from;
  for (let at = 0; at < escapes.length; at++) {
    if (end === into.length) return undefined;
    const isEscape = escapes[at] === "%";
    into[end++] = isEscape ? parseInt(escapes.slice(at + 1, at + 3), 16) : escapes.charCodeAt(at);
    if (isEscape) at += 2;
  }
  return end;
}

/** The text of UTF-8 bytes. */
function decode(bytes: Uint8Array): string {
  let escapes = "";
  for (let at = 0; at < bytes.length; at++) escapes += `%${(bytes[at] as number).toString(16).padStart(2, "0")}`;
  return unescaped(escapes);
}

/** The capabilities of the native addon that WebAssembly does not have. @internal */
export const stateFilesOf = (calls: FileCalls) => ({
  /** Writes a request to open a state file into the frame: the options of the file, then `writeRest`. */
  writeRequest(port: FrameAccess, given: Record<string, unknown>, writeRest: () => void): void {
    const bytes = bytesOf(port);
    // Encoded into another array first: replaced functions are user code, which could write into the frame.
    const texts = new Uint8Array(bytes.length);
    const lengths = new Float64Array(TEXT_OPTIONS.length);
    let end = 0;
    for (let at = 0; at < TEXT_OPTIONS.length; at++) {
      const [name] = TEXT_OPTIONS[at] as (typeof TEXT_OPTIONS)[number];
      const text = given[name];
      lengths[at] = NaN;
      if (text === undefined && !(name === "dir" && name in given)) continue;
      if (typeof text !== "string") throw configError("INVALID_OPTION", name, text, PackageRule.TEXT_STRING);
      // Cut off, or with half a surrogate pair replaced, it would name another file.
      const until = encode(text, texts, end);
      if (until === undefined) throw configError("INVALID_OPTION", name, text, Rule.A_PATH);
      lengths[at] = until - end;
      end = until;
    }
    const { startWaitMs, acceptUnprovenPlatform } = given;
    writeRest();
    const { numbers } = port;
    for (let at = 0; at < TEXT_OPTIONS.length; at++)
      numbers[(TEXT_OPTIONS[at] as (typeof TEXT_OPTIONS)[number])[1]] = lengths[at] as number;
    for (let at = 0; at < end; at++) bytes[at] = texts[at] as number;
    numbers[Slot.HAS_START_WAIT_MS] = Number(startWaitMs !== undefined);
    numbers[Slot.ACCEPT_UNPROVEN_PLATFORM] = Number(acceptUnprovenPlatform === true);
    numbers[Slot.START_WAIT_MS] = typeof startWaitMs === "number" ? startWaitMs : NaN;
  },

  /** Opens the state file of the request in the frame. Returns the status. */
  open: ({ binding }: FrameAccess): number => calls.local(binding.frame),

  /** Starts to open it on another thread. Returns a ticket. */
  openAsync: ({ binding }: FrameAccess): number => calls.localAsync(binding.frame),

  /** Resolves when `opened` has the result. It keeps the event loop running until then. */
  whenOpened: (ticket: number): Promise<void> => calls.whenOpened(ticket),

  /** Ends the wait for the result: `whenOpened` resolves, and the file is closed as soon as it is open. */
  abandon: (ticket: number): void => calls.abandon(ticket),

  /** The default directory of state files, if the environment has one. */
  defaultDir: (): string | null => calls.defaultDir(),

  /** Writes the result of `openAsync` into the frame. Returns the status. */
  opened: ({ binding }: FrameAccess, ticket: number): number => calls.opened(binding.frame, ticket),

  /** Reads the core's description of the state file. */
  file(port: FrameAccess, handle: number): StateFile {
    const status = calls.file(port.binding.frame, handle);
    if (status !== 0) throw port.error(status, undefined);
    const { numbers } = port;
    const [pathBytes, textBytes] = [numbers[Slot.PATH_BYTES] as number, numbers[Slot.TEXT_BYTES] as number];
    const attached = numbers[Slot.ATTACHED] as number;
    return {
      path: decode(bytesOf(port).subarray(0, pathBytes)),
      fileSystem: decode(bytesOf(port).subarray(pathBytes, textBytes)),
      ceilingMs: numbers[Slot.CEILING_MS] as number,
      attached: Number.isNaN(attached) ? undefined : attached,
      raises: numbers[Slot.RAISES] as number,
      distrustedMs: numbers[Slot.DISTRUSTED_MS] as number,
      locked: numbers[Slot.LOCKED] === 1,
      blind: numbers[Slot.BLIND] === 1,
    };
  },

  /** The subject of the last refusal, if only state files have it. */
  subject: ({ numbers }: FrameAccess): string | undefined => SUBJECTS[numbers[Slot.SUBJECT] as number],

  /** The error for a status with a text, or for one that only state files have. */
  error(port: FrameAccess, code: ErrorCode | undefined, status: number, value: unknown, details?: ErrorDetails) {
    const { numbers } = port;
    const bytes = numbers[Slot.TEXT_BYTES] as number;
    const known = (code ?? CODES[status]) as ErrorCode;
    if (bytes > 0) {
      const text = decode(bytesOf(port).subarray(0, bytes));
      return new ConfigError(known, text, { field: port.subject, value, rule: factOf(text), ...details });
    }
    const rule = RULES[numbers[Slot.RULE] as number];
    if (rule) return refusal(ConfigError, known, port.subject, value, rule, undefined, undefined, details);
    if (code !== undefined) return undefined;
    const Class: typeof FrazilError = status < First.LeaseError ? ConfigError : LeaseError;
    const retryAfterMs = numbers[Slot.RETRY_AFTER_MS] as number;
    return withoutRule(Class, known, MEANINGS[status], RETRYABLE.includes(status), retryAfterMs, details);
  },
});

/** @internal */
export type StateFiles = ReturnType<typeof stateFilesOf>;
