/** The options of generators and of their calls. */
import { configError, FrazilError } from "../base/errors.js";
import type { HostAbortSignal } from "../base/host-types.js";
import { checkKeys } from "../base/option-keys.js";
import { PackageRule } from "../base/package-rules.js";
import type { LayoutInput, PartsOf } from "../layout/index.js";

/**
 * The node id of a layout: a number, its decimal digits, or its parts by name, each a number or digits; `"none"` for a layout without a
 * node field. Digits allow `node: process.env.NODE_ID`: an unset or empty variable is refused, as is any other text.
 */
export type NodeOption<L> = [PartsOf<L>] extends [never]
  ? "none"
  : number | string | undefined | { readonly [part in PartsOf<L>]: number | string | undefined };

/**
 * The options of `new Snowflake()`, with any layout unless one is named. A constant of this type loses its layout; with `satisfies
 * SnowflakeOptions` it keeps the layout, and the type of `node` follows.
 */
export interface SnowflakeOptions<L extends LayoutInput = LayoutInput> {
  /** The number of this machine (process). There is no default: two processes with the same node id issue equal IDs. */
  readonly node: NodeOption<L>;
  /** The layout of the bits. Default: `"default"` (time 41, node 10, sequence 12). */
  readonly layout?: L;
  /**
   * Another epoch for the layout, in Unix milliseconds or as a `Date`. It must be a constant: an epoch that moves with each start is
   * refused.
   */
  readonly epochMs?: number | Date;
  /**
   * How far IDs may run ahead of the clock, 0 to 1000 ms. Default: 10; 0 if the start time of the process is unknown.
   */
  readonly maxLeadMs?: number;
  /** How long a synchronous call may block in all, if the host can block. Default: 10 ms. */
  readonly maxWaitMs?: number;
  /** How long an asynchronous call may wait in all. Default: 5000 ms. */
  readonly maxAsyncWaitMs?: number;
  /**
   * Where the sequence starts in a new tick. Default: `"zero"`. `"random"`: at a keyed hash of the tick, in the lowest
   * quarter of the range; IDs still increase. `"wrap"`: anywhere in the range, and it continues at 0 after the end: a
   * tick keeps its full capacity, but its IDs are not in order. All generators with the same layout and node id must
   * have the same value.
   */
  readonly sequenceStart?: SequenceStart;
  /**
   * When the clock is read. Default: `"call"`, at each call, so the time in an ID is that of its call. `"turn"`: IDs that were reserved
   * together are issued without reading the clock until the turn of the event loop ends or the program awaits. That is faster for many IDs
   * in one turn, and the time in an ID may be as old as the turn. It affects only `next()` and `nextString()`.
   */
  readonly freshness?: Freshness;
  /**
   * Set to `true` to confirm that no other thread has this node id, and on Cloudflare Workers no other isolate. Needed
   * on WebAssembly in a Node worker thread, or if the process also uses the other backend; on Workers `health()` warns
   * without it.
   */
  readonly unshared?: boolean;
  /**
   * Replaces the clock, for tests and simulations. Returns Unix milliseconds. The generator has its own state, and its IDs may be equal to
   * those of other generators.
   */
  readonly now?: () => number;
}

/** The options of `Snowflake.local()`. Each has a default. */
export interface LocalOptions<L extends LayoutInput = LayoutInput>
  extends Omit<SnowflakeOptions<L>, "node" | "unshared" | "now"> {
  /**
   * The node id. Default: the last one of the layout, for IDs that are never compared or stored with those of another machine. By default,
   * leases use the others. It is required if an orchestrator runs several machines or containers.
   */
  readonly node?: NodeOption<L>;
  /**
   * The directory of the state file. It is created if it does not exist. Default: `frazil` in `$STATE_DIRECTORY`,
   * `$XDG_STATE_HOME` or `~/.local/state`: another for each user, so programs of several users need one `dir`.
   */
  readonly dir?: string;
  /**
   * The name of the ID space: a letter, then at most 31 letters, digits, `-` or `_`. IDs of two scopes may be equal.
   * Default: `"default"`.
   */
  readonly scope?: string;
  /** How far IDs may run ahead of the clock, 0 to 1000 ms. Default: 1000. */
  readonly maxLeadMs?: number;
  /** How long opening may wait, for other processes that are attaching and for the first ID. Default: 3500 ms. */
  readonly startWaitMs?: number;
  /**
   * Accepts a file system that frazil does not know to be safe, by its name in the error `UNSUPPORTED_FILE_SYSTEM`. Set
   * it only if this machine alone uses the file system, it can be mapped into memory, and what is flushed to it lasts.
   */
  readonly fileSystem?: string;
  /**
   * Accepts a platform on which state files are not proven, where the call otherwise fails with `UNPROVEN_PLATFORM`. If locks, flushes or
   * shared memory differ there, IDs can repeat. Set it only for that platform, as the error shows.
   */
  readonly acceptUnprovenPlatform?: boolean;
}

/** The options of `Snowflake.localAsync()`. */
export interface LocalAsyncOptions<L extends LayoutInput = LayoutInput> extends LocalOptions<L>, AsyncOptions {}

/** When a generator reads the clock: at each call, or once for each block, at most until the program awaits. */
export type Freshness = "call" | "turn";

/** Where the sequence starts in a new tick. */
export type SequenceStart = "zero" | "random" | "wrap";

/** The options of an asynchronous call. */
export interface AsyncOptions {
  /** Ends the wait when it aborts: the call rejects with the reason of the signal. */
  readonly signal?: HostAbortSignal;
}

/** The names of the constructor's options. @internal */
export const CONSTRUCTOR_OPTIONS =
  "node, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart, freshness, unshared, now";

/** Checks the options of a call: see `checkKeys`. @internal */
export const checkOptions = (given: unknown, known: string, ignored?: string): Record<string, unknown> =>
  checkKeys("INVALID_OPTION", "options", given, known, ignored) as Record<string, unknown>;

/** The same for the constructor and `local()` on servers, with a hint for options that belong elsewhere. @internal */
export function checkGenerator(given: unknown, known: string, ignored: string): Record<string, unknown> {
  try {
    return checkOptions(given, known, ignored);
  } catch (error) {
    // A getter of the program may have thrown whatever it likes.
    const hint = error instanceof FrazilError && misplacedHint(error.field, given, known);
    if (hint) Reflect.set(error, "hint", hint);
    throw error;
  }
}

/** The hint for an option that belongs elsewhere. */
function misplacedHint(name: string | undefined, given: unknown, known: string): string | undefined {
  const isPart = (key: string) => /^(node$|worker|data_?cent)/i.test(key);
  if (name !== undefined && isPart(name) && Object.keys(given as object).filter(isPart).length > 1)
    return 'Pass { layout: "twitter", node: { datacenter, worker } }.';
  if (known === CONSTRUCTOR_OPTIONS) {
    if (name === "dir") return "It belongs to Snowflake.local().";
    if (name === "scope") return "It belongs to Snowflake.local() or lease().";
    if (name === "windowMs") return "It belongs to lease().";
  }
  return undefined;
}

/** The signal in the options of an asynchronous call, checked. @internal */
export function signalOf(options: unknown): AbortSignal | undefined {
  if (options === undefined) return undefined;
  const { signal } = checkOptions(options, "signal");
  if (signal === undefined) return undefined;
  const { addEventListener, removeEventListener, throwIfAborted } = (signal ?? {}) as Partial<AbortSignal>;
  if (![addEventListener, removeEventListener, throwIfAborted].every((call) => typeof call === "function"))
    throw configError("INVALID_OPTION", "signal", signal, PackageRule.A_SIGNAL);
  return signal as AbortSignal;
}
