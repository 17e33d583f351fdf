/** What generators and their calls are given. */
import { configError } from "./errors.js";
import { Rule } from "./generated/rules.js";
import { checkKeys } from "./keys.js";
import type { LayoutInput, NodeInput, PartsOf } from "./layout.js";

/** The node id of a layout: a number or its named parts, or `"none"` for a layout without a node field. */
export type NodeOption<L> = [PartsOf<L>] extends [never]
  ? "none"
  : string extends PartsOf<L>
    ? NodeInput | "none"
    : NodeInput<PartsOf<L>>;

/** What a generator is made with. */
export interface SnowflakeOptions<L extends LayoutInput = "default"> {
  /** Which of your machines (processes) this is. There is no default: two on one node id repeat each other's IDs. */
  readonly node: NodeOption<L>;
  /** What the bits mean. Default: `"default"` (time 41, node 10, sequence 12). */
  readonly layout?: L;
  /** Another epoch for the layout, in Unix milliseconds. */
  readonly epochMs?: number;
  /** How far it may run ahead of the clock, 0 to 1000 ms. Default: 10; 0 where the start of the process is unknown. */
  readonly maxLeadMs?: number;
  /** How long a synchronous call may block in all, where the host can block. Default: 10 ms. */
  readonly maxWaitMs?: number;
  /** How long an asynchronous call may wait in all. Default: 5000 ms. */
  readonly maxAsyncWaitMs?: number;
  /**
   * Where the sequence starts in a new tick. Default: `"zero"`. `"random"`: at a keyed hash of the tick, in the lowest
   * quarter; still increasing. `"wrap"`: anywhere, and round: full capacity, but IDs of one tick are not in order. All
   * generators of one layout and node id must have the same.
   */
  readonly sequenceStart?: SequenceStart;
  /** On WebAssembly in a Node worker thread, or beside the other backend: your word that no other thread has this node id. */
  readonly unshared?: boolean;
  /** Replaces the clock, for tests and simulations: a state of its own, outside the promise. Returns Unix milliseconds. */
  readonly now?: () => number;
}

/** What `Snowflake.local()` is given. Everything has a default. */
export interface LocalOptions<L extends LayoutInput = "default">
  extends Omit<SnowflakeOptions<L>, "node" | "unshared" | "now"> {
  /**
   * The node id. Default: 0, for IDs that never meet those of another machine. Where an orchestrator runs many machines or
   * containers, it must be given.
   */
  readonly node?: NodeOption<L>;
  /** The directory of the state file, made where it is missing. Default: `frazil` in `$STATE_DIRECTORY`, `$XDG_STATE_HOME` or `~/.local/state`. */
  readonly dir?: string;
  /** The name of the ID space: a letter, and at most 31 letters, digits, `-` or `_`. IDs of two scopes may be equal. Default: `"default"`. */
  readonly scope?: string;
  /** How far it may run ahead of the clock, 0 to 1000 ms. Default: 1000. */
  readonly maxLeadMs?: number;
  /** How long opening may wait for the first ID. Default: 3500 ms. */
  readonly startWaitMs?: number;
  /** A file system that frazil does not know to be sound, by the name that the refusal gives it: your word that it is. */
  readonly fileSystem?: string;
}

/** What `Snowflake.localAsync()` is given. */
export interface LocalAsyncOptions<L extends LayoutInput = "default"> extends LocalOptions<L>, AsyncOptions {}

/** Where the sequence starts in a new tick. */
export type SequenceStart = "zero" | "random" | "wrap";

/** What an asynchronous call can be given. */
export interface AsyncOptions {
  /** Ends the wait: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The names of the constructor's options. @internal */
export const CONSTRUCTOR_OPTIONS =
  "node, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart, unshared, now";

/** The options of a call, as `checkKeys`. @internal */
export const checkOptions = (given: unknown, known: string, ignored?: string): Record<string, unknown> =>
  checkKeys("INVALID_OPTION", "options", given, known, ignored) as Record<string, unknown>;

/** The signal of an asynchronous call's options. @internal */
export function signalOf(options: unknown): AbortSignal | undefined {
  if (options === undefined) return undefined;
  const { signal } = checkOptions(options, "signal");
  if (signal === undefined) return undefined;
  const { addEventListener, removeEventListener, throwIfAborted } = (signal ?? {}) as Partial<AbortSignal>;
  if (![addEventListener, removeEventListener, throwIfAborted].every((call) => typeof call === "function"))
    throw configError("INVALID_OPTION", "signal", signal, Rule.A_SIGNAL);
  return signal as AbortSignal;
}
