/** The face: what a caller holds. It waits, keeps a block, and turns numbers into IDs; what may be issued, the core decides. */
import { claimProcess, Host, inWorkerThread, load } from "#binding";
import { copyIds, Ids, isIdArray, lengthOf, listOf } from "./arrays.js";
import { processStartMs, wallClock } from "./clock.js";
import { ClockError, ConfigError, config, FrazilError, ownOf, refusal } from "./errors.js";
import type { StateFile } from "./files.js";
import { KINDS, Page, Slot, STARTS } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import { type Decoded, type IdInput, Layout, type LayoutInput, type NodeInput, type PartsOf } from "./layout.js";
import { checkOptions, signalOf } from "./options.js";
import { type Backend, type Port, portOf } from "./port.js";
import { block, canBlock, sleep, unlessAborted } from "./wait.js";

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

/** What a generator has done so far. */
export interface Stats {
  readonly backend: Backend;
  /** IDs handed out. */
  readonly issued: number;
  /** IDs reserved ahead and never handed out, because their tick was over. */
  readonly dropped: number;
  /** Calls into the core that gave IDs. */
  readonly reservations: number;
  /** Times the clock was read once more before a refusal. */
  readonly rechecks: number;
  /** Times nothing could be issued at once. */
  readonly stalls: number;
  /** Milliseconds that calls meant to wait. */
  readonly waitedMs: number;
  // Of these, generators of one copy of the package in a thread with equal layout, node id and lead have one count.
  /** Times the clock was seen before its last reading. */
  readonly stepsBack: number;
  /** The largest of these steps, in milliseconds. */
  readonly largestStepBackMs: number;
  /** Times the clock was followed back, to another clock id. */
  readonly switches: number;
  /** The furthest that an ID lay ahead of the clock, in milliseconds. */
  readonly worstLeadMs: number;
  /** Calls that had to raise the ceiling of a state file first, and so waited for the disk. */
  readonly extensions: number;
}

/** How a generator stands now. */
export interface Health {
  /** Whether `next()` would give an ID at once. */
  readonly ok: boolean;
  /** What `next()` would be refused with, without waiting. */
  readonly refusal: FrazilError | undefined;
  /** How far the current tick lies ahead of the clock, in milliseconds. */
  readonly leadMs: number;
  /** When the time field of the layout runs out. */
  readonly endsAt: Date;
  /** How long until then, in milliseconds; 0 once it is over. */
  readonly remainingMs: number;
  /** What should be looked at although IDs are issued: a time field that runs out within a year, a clock that is not believed. */
  readonly warnings: readonly string[];
  /** The state file, of a `Snowflake.local()`. */
  readonly file?: StateFile;
}

function noFiles(causes: readonly unknown[] = []): ConfigError {
  let why = "";
  if (Host.FILES) {
    const reasons = causes.map((cause) => (cause as Error).message.split("\n")[0]).join("; ");
    why = reasons
      ? `. None could be loaded (${reasons}): install without --omit=optional, and keep frazil external in a bundle`
      : ". FRAZIL_BACKEND=wasm forbids it: unset it";
  }
  return new ConfigError(
    "NATIVE_REQUIRED",
    `Snowflake.local() keeps its state in a file, which takes Node and the native addon${why}; elsewhere: new Snowflake({ node })`,
    { cause: new AggregateError(causes, "no native addon could be loaded") },
  );
}

/** Has the constructor open a state file, … */
const LOCAL = Symbol();
/** … or begin to. */
const LOCAL_LATER = Symbol();
const LOCAL_OPTIONS =
  "dir, node, scope, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart, startWaitMs, fileSystem";
/** What others take, and `Snowflake.local()` does not. */
const NOT_LOCAL = "now, unshared, signal";
const OPTIONS = "node, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart, unshared, now";

/** What is left out has a default; what is `undefined` was read from somewhere that did not have it. */
function checkLocal(given: Record<string, unknown>): void {
  for (const name of NOT_LOCAL.split(", ")) {
    const owner = name === "signal" ? "Snowflake.localAsync()" : "new Snowflake()";
    if (name in given) throw config("INVALID_OPTION", name, given[name], `${Rule.KNOWN_KEY}: it belongs to ${owner}`);
  }
  if ("node" in given && given["node"] === undefined) {
    throw config("NODE_REQUIRED", "node", undefined, Rule.NODE_LEFT_OUT);
  }
}

/** A value as the core takes it: what is no number breaks the rule for numbers. */
const numeric = (value: unknown): number => (typeof value === "number" ? value : NaN);

/** A clock whose values are numbers: what is none is refused as it is, since NaN in its place would not say what it was. */
const checkedClock = (now: () => unknown) => (): number => {
  const ms = now();
  if (typeof ms !== "number") throw refusal(ClockError, "INVALID_CLOCK", "now", ms, Rule.FINITE_CLOCK);
  return ms;
};

/** Milliseconds until the call that the core refused can first succeed; without end where waiting does not help. */
function stallOf(error: FrazilError): number {
  const { retryAfterMs = 0 } = ownOf(error);
  return error instanceof ClockError && retryAfterMs > 0 ? retryAfterMs : Infinity;
}

/** Puts a new key for the start of the sequence into the page. */
function drawKey(port: Port): void {
  const words = crypto.getRandomValues(new Uint32Array(4));
  const { numbers } = port;
  // Not 0, which is no key: a source that was replaced may give nothing else.
  for (let at = 0; at < 4; at++) numbers[Slot.KEY + at] = words[at] || 1;
  numbers[Slot.HAS_KEY] = 1;
}

/** Not that of `Math`, which user code may have replaced. */
const lesser = (a: number, b: number): number => (a < b ? a : b);

/** The methods as they are here: what a generator mints by is what was checked, whatever a subclass makes of it. */
const { joinNode, with: withChanges } = Layout.prototype;

/** A call that mints. How far it is stands here: an error that comes out of it may be the user's, and say anything. */
interface Call<T = BigUint64Array | undefined> {
  /** How long it may still block. */
  restMs: number;
  /** The array that it fills, if it fills one. */
  readonly target: T;
  /** How many IDs that takes: the length that it had at first. */
  readonly length: number;
  /** How many of them it has. */
  done: number;
  /** `#taken()` before its first one. */
  since: number;
}

type Filling = Call<BigUint64Array>;

const called = <T extends BigUint64Array | undefined>(target: T, restMs: number): Call<T> => ({
  restMs,
  target,
  length: target === undefined ? 0 : lengthOf(target),
  done: 0,
  since: 0,
});

/** Gives back the numbers of private generators that nobody closed. Missing on Workers before 2025-05-05. */
const forgotten =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : /* @__PURE__ */ new FinalizationRegistry<() => void>((release) => release());

/**
 * Mints Snowflake IDs.
 *
 * Generators with equal layouts and node ids in one process share one state, so making one a request is correct. IDs of
 * one generator strictly increase where `layout.plan().ordered`. Every method works detached.
 *
 * ```js
 * const ids = new Snowflake({ node: 7 });
 * ids.next(); // 382138004275228672n
 * ```
 */
export class Snowflake<const L extends LayoutInput = "default"> {
  /** What the bits mean. */
  readonly layout: Layout<PartsOf<L>>;
  /** The node id as one number; `undefined` for a layout without a node field. */
  readonly node: number | undefined;
  readonly #clock: () => number;
  /** The way to the core; absent where no backend can be had, and then every minting call throws `#unavailable`. */
  readonly #port: Port | undefined;
  readonly #unavailable: unknown;
  #handle = 0;
  /** A state of its own, on a clock of its own. */
  readonly #private: boolean;
  /** A state that is kept in a file. */
  readonly #local: boolean;
  /** How long it is until the first ID. */
  #startWaitMs = 0;
  #maxBlock = 1;
  #maxWaitMs = 0;
  #maxAsyncWaitMs = 0;
  /** A ticket for the state file that is being opened. */
  #opening: Promise<number> | undefined;
  #closed = false;

  // The block: IDs that are this object's, from `#at` to `#end`, good while the clock stays in `[#fromMs, #untilMs)`.
  #ids = new Ids(0);
  #room = 0;
  #at = 0;
  #end = 0;
  #size = 0;
  #fromMs = 0;
  #untilMs = 0;

  // The page, as it was looked at before the last reservation: looking once more could run user code.
  #numbers!: Float64Array;
  #page!: BigUint64Array;

  /** The last refusal by the core, and how long until the call can succeed. A clock can throw its like. */
  #refusal: FrazilError | undefined;
  #retryMs = Infinity;

  #reserved = 0;
  #dropped = 0;
  /** IDs that aborted calls had taken and gave back, to be issued or dropped. */
  #returned = 0;
  #reservations = 0;
  #rechecks = 0;
  #stalls = 0;
  #waitedMs = 0;
  #met!: Pick<Stats, "stepsBack" | "largestStepBackMs" | "switches" | "worstLeadMs" | "extensions">;

  /**
   * A generator for one machine, without configuration: its state lies in a file that all processes and threads of the
   * machine share, so IDs repeat neither after a crash, nor after power loss, nor when the clock is set back. Opening waits
   * for what an earlier boot may have reserved: mostly not at all, and at most `startWaitMs`.
   *
   * IDs of two machines must not meet without a `node` of their own for each.
   *
   * ```js
   * using ids = Snowflake.local();
   * ids.next(); // 382138004275228672n
   * ```
   *
   * @throws {ConfigError} as the constructor, and `NODE_REQUIRED` where an orchestrator shows; `UNSUPPORTED_FILE_SYSTEM`,
   * `STATE_FILE_CORRUPT`, `STATE_FILE_AHEAD`, `STATE_FILE_FAILED`, each with the path and the cure; `STATE_CONFLICT` with a static
   * generator, or for another `sequenceStart`; `NATIVE_REQUIRED` without the native addon.
   * @throws {ClockError} `CLOCK_BACKWARD` with `retryAfterMs`, where the wait would be longer than `startWaitMs`;
   * `CLOCK_BEFORE_EPOCH`.
   */
  static local<const L extends LayoutInput = "default">(options: LocalOptions<L> = {}): Snowflake<L> {
    if (!Host.FILES) throw noFiles();
    const ids = Reflect.construct(Snowflake, [options, LOCAL]) as Snowflake<L>;
    if (ids.#startWaitMs > 0) block(ids.#startWaitMs);
    return ids;
  }

  /** The same, waiting without holding the event loop. Rejects as `local` throws, and with the signal's reason. */
  static async localAsync<const L extends LayoutInput = "default">(
    options: LocalAsyncOptions<L> = {},
  ): Promise<Snowflake<L>> {
    if (!Host.FILES) throw noFiles();
    const { signal: given, ...rest } = checkOptions(options, `${LOCAL_OPTIONS}, signal`, NOT_LOCAL);
    const signal = signalOf({ signal: given });
    signal?.throwIfAborted();
    const ids = Reflect.construct(Snowflake, [rest, LOCAL_LATER]) as Snowflake<L>;
    const opened = ids.#whenOpened(rest);
    try {
      await unlessAborted(opened, signal);
      if (ids.#startWaitMs > 0) await sleep(ids.#startWaitMs, signal);
    } catch (error) {
      // Also where it is still being opened; where that fails, there is nothing to leave.
      opened.then(ids.close, () => {});
      throw error;
    }
    return ids;
  }

  /**
   * @throws {ConfigError} `NODE_REQUIRED`, `INVALID_NODE`, `INVALID_LAYOUT`, `INVALID_OPTION`: each names the field, the value
   * and the rule. `STATE_CONFLICT` for another `sequenceStart` than that of a generator with the layout and node id, and where
   * another thread or realm of the process uses the other backend.
   * `NATIVE_REQUIRED` on WebAssembly in a Node worker thread, unless `unshared`.
   */
  constructor(options: SnowflakeOptions<L>);
  constructor(options: SnowflakeOptions<L>, kind?: unknown) {
    const local = Boolean(Host.FILES) && (kind === LOCAL || kind === LOCAL_LATER);
    const known = Host.FILES && local ? LOCAL_OPTIONS : OPTIONS;
    const given = checkOptions(options === undefined ? {} : options, known, Host.FILES && local ? NOT_LOCAL : "");
    if (Host.FILES && local) checkLocal(given);
    const { layout = "default", epochMs, node, unshared = false, now } = given;
    const plain = Layout.from(layout);
    this.layout = (epochMs === undefined ? plain : withChanges.call(plain, { epochMs: epochMs as number })) as Layout<
      PartsOf<L>
    >;
    if (typeof unshared !== "boolean") throw config("INVALID_OPTION", "unshared", unshared, Rule.TRUE_OR_FALSE);
    if (now !== undefined && typeof now !== "function") throw config("INVALID_OPTION", "now", now, Rule.FUNCTION);
    this.#private = now !== undefined;
    this.#local = local;
    this.#clock = now === undefined ? wallClock : checkedClock(now as () => unknown);
    const joined = typeof node === "object" && node !== null ? joinNode.call(this.layout, node as never) : node;
    this.node = typeof joined === "number" ? joined : undefined;
    let port: Port;
    try {
      port = portOf(load);
    } catch (error) {
      if (!(error instanceof FrazilError) || error.code !== "WASM_UNAVAILABLE") throw error;
      this.#unavailable = error;
      return;
    }
    this.#port = port;
    const { backend, calls, page, causes } = port.binding;
    const { files } = port.binding;
    if (Host.FILES && local && files === undefined) throw noFiles(causes);
    if (Host.THREADS && backend === "wasm" && !unshared && !this.#private && inWorkerThread()) {
      throw new ConfigError(
        "NATIVE_REQUIRED",
        "WebAssembly in a worker thread shares no state with the other threads, so a static node id is refused: install the native addon, or pass unshared: true if no other thread has this node id",
        { field: "node", value: node, cause: new AggregateError(causes, "no native addon could be loaded") },
      );
    }
    const described = this.#describe(given, joined);
    // From here until the answers are read no user code runs: it could write into the page too.
    const describe = () => {
      const { numbers } = port;
      for (let at = 0; at < described.length; at += 2) numbers[described[at] as Slot] = described[at + 1] as number;
    };
    if (Host.FILES && local && files) {
      files.describe(port, given, describe);
      if (kind === LOCAL_LATER) this.#opening = files.openAsync(port);
      else this.#opened(files.open(port), given);
      return;
    }
    describe();
    this.#opened(calls.open(page), given);
    if (Host.FILES && backend === "wasm" && !unshared && !this.#private) claimProcess();
  }

  /** Takes over what was opened. No user code has run since the page was written. */
  #opened(status: number, given: Record<string, unknown>): void {
    if (status !== 0) throw this.#refused(status, given);
    // Taken after the call: opening can make WebAssembly's memory grow, and then older views are empty.
    const { numbers } = this.#port as Port;
    this.#handle = numbers[Slot.HANDLE] as number;
    this.#maxBlock = numbers[Slot.MAX_BLOCK] as number;
    this.#maxWaitMs = numbers[Slot.MAX_WAIT_MS] as number;
    this.#maxAsyncWaitMs = numbers[Slot.MAX_ASYNC_WAIT_MS] as number;
    if (Host.FILES && this.#local) {
      this.#startWaitMs = numbers[Slot.WAIT_MS] as number;
      const node = numbers[Slot.NODE] as number;
      // Its default is the core's.
      if (this.layout.fields.some(({ kind }) => kind === "node")) (this as { node?: number }).node = node;
    }
    if (this.#private || this.#local) forgotten?.register(this, this.#releaser(), this);
  }

  /** Takes over the state file that is being opened, when it is. */
  async #whenOpened(given: Record<string, unknown>): Promise<void> {
    const { files } = (this.#port as Port).binding;
    const ticket = await this.#opening;
    if (Host.FILES && files) this.#opened(files.opened(this.#port as Port, ticket as number), given);
  }

  /** Where the core runs: `"native"` or `"wasm"`. */
  get backend(): Backend {
    return this.#port?.binding.backend ?? "wasm";
  }

  /**
   * The next ID.
   *
   * @throws {ClockError} `SEQUENCE_EXHAUSTED` or `CLOCK_BACKWARD` with `retryAfterMs`, once the wait is over `maxWaitMs` or where
   * the host cannot block; `CLOCK_BEFORE_EPOCH`, `TIME_EXHAUSTED`, `INVALID_CLOCK`.
   * @throws {ConfigError} `CLOSED`, `WASM_UNAVAILABLE`.
   */
  readonly next = (): bigint => {
    const now = this.#clock();
    // `#holds`, written out: this is the path that every ID takes. A clock that was replaced may give an object, whose
    // comparison is user code: the block is looked at last.
    if (now >= this.#fromMs && now < this.#untilMs && this.#at < this.#end) return this.#ids[this.#at++] as bigint;
    return this.#refill(now, this.#maxWaitMs);
  };

  /** The next ID as decimal text. Throws as `next`. */
  readonly nextString = (): string => `${this.next()}`;

  /**
   * Fills the array with IDs in one crossing for each 4096.
   *
   * @throws as `next`; a stall midway has `issued`: the first that many are valid, and never issued again.
   * `SEQUENCE_EXHAUSTED` with `maxCount` for a length that the full lead and the full wait could never meet, before anything is
   * issued; `INVALID_ARGUMENT` for anything but a BigUint64Array of at most 1,048,576, and for one that the clock detaches or
   * makes shorter.
   */
  readonly fill = (target: BigUint64Array): BigUint64Array => {
    this.#checkTarget(target);
    this.#fill(called(target, this.#maxWaitMs));
    return target;
  };

  /** That many IDs, 0 to 1,048,576. Throws as `fill`. */
  readonly nextMany = (count: number): bigint[] => listOf(this.#many(count), (id) => id);

  /** That many IDs as decimal text. Throws as `fill`. */
  readonly nextManyStrings = (count: number): string[] => listOf(this.#many(count), (id) => `${id}`);

  /** The next ID; waits up to `maxAsyncWaitMs` without holding the event loop. Rejects as `next` throws. */
  readonly nextAsync = async (options?: AsyncOptions): Promise<bigint> => {
    const signal = signalOf(options);
    signal?.throwIfAborted();
    return this.#patiently(signal, () => {
      const now = this.#clock();
      return this.#holds(now) ? (this.#ids[this.#at++] as bigint) : this.#refill(now, 0);
    });
  };

  /** The next ID as decimal text. Rejects as `nextAsync`. */
  readonly nextStringAsync = async (options?: AsyncOptions): Promise<string> => `${await this.nextAsync(options)}`;

  /**
   * Fills the array, waiting up to `maxAsyncWaitMs` in all without holding the event loop. Rejects as `fill` throws, and with
   * `INVALID_ARGUMENT` where the array was transferred or made shorter meanwhile: `issued` IDs were in it, and never come again.
   */
  readonly fillAsync = async (target: BigUint64Array, options?: AsyncOptions): Promise<BigUint64Array> => {
    const signal = signalOf(options);
    this.#checkTarget(target, this.#maxAsyncWaitMs);
    await this.#fillPatiently(called(target, 0), signal);
    return target;
  };

  /** That many IDs, waiting as `fillAsync`. Those that an aborted call had got are issued by the calls after it. */
  readonly nextManyAsync = async (count: number, options?: AsyncOptions): Promise<bigint[]> =>
    this.#manyPatiently(count, options, (id) => id);

  /** That many IDs as decimal text, waiting as `nextManyAsync`. */
  readonly nextManyStringsAsync = async (count: number, options?: AsyncOptions): Promise<string[]> =>
    this.#manyPatiently(count, options, (id) => `${id}`);

  /** Takes an ID apart: `layout.decode`. */
  readonly decode = (id: IdInput): Decoded<PartsOf<L>> => this.layout.decode(id);

  /** What it has done so far. Counted apart from the hot path, so it costs nothing. */
  readonly stats = (): Stats => ({
    backend: this.backend,
    issued: this.#taken() - this.#returned,
    dropped: this.#dropped,
    reservations: this.#reservations,
    rechecks: this.#rechecks,
    stalls: this.#stalls,
    waitedMs: this.#waitedMs,
    ...this.#meet(),
  });

  /**
   * How it stands now, for a health check. Issues nothing.
   *
   * @throws {ConfigError} `CLOSED`, `WASM_UNAVAILABLE`.
   * @throws {ClockError} `INVALID_CLOCK`.
   */
  readonly health = (): Health => {
    this.#ready();
    const now = this.#clock();
    // Once more: the clock may have closed this.
    const port = this.#ready();
    const { calls, page, files } = port.binding;
    const status = calls.health(page, this.#handle, numeric(now));
    // Read at once: what follows may run user code, which could write into the page too.
    const { numbers } = port;
    const endMs = numbers[Slot.END_MS] as number;
    const leadMs = numbers[Slot.LEAD_MS] as number;
    const remainingMs = numbers[Slot.REMAINING_MS] as number;
    const endsSoon = numbers[Slot.ENDS_SOON] as number;
    const refusal = status === 0 ? undefined : port.error(status, now);
    if (refusal?.code === "INVALID_CLOCK") throw refusal;
    const file = Host.FILES && this.#local ? files?.file(port, this.#handle) : undefined;
    const endsAt = new Date(endMs);
    const warnings = endsSoon ? [`the time field of the layout runs out on ${endsAt.toISOString()}`] : [];
    const stands = { ok: status === 0, refusal, leadMs, endsAt, remainingMs, warnings };
    if (file === undefined) return stands;
    const ahead = `the clock stepped ${file.distrustedMs} ms ahead, which is not followed until it has lasted 10 minutes`;
    if (file.distrustedMs > 0) warnings.push(ahead);
    if (file.blind)
      warnings.push(
        "a directory above the state file may not be read, so a start waits 3 s: let this user read it, or pass another dir",
      );
    if (!file.locked) warnings.push("the state is not locked in memory: raise the limit (ulimit -l, LimitMEMLOCK)");
    return { ...stands, file };
  };

  /** Ends it: the rest of its block is dropped, and later minting calls are `CLOSED`. A shared state lives on for others. */
  readonly close = (): void => {
    if (this.#closed) return;
    const met = this.#meet();
    if (this.#closed) return;
    this.#met = met;
    this.#closed = true;
    this.#dropBlock();
    if ((this.#private || this.#local) && this.#port !== undefined) {
      forgotten?.unregister(this);
      this.#releaser()();
    }
  };

  /** `close()`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** IDs without end: `for (const id of ids)`. */
  *[Symbol.iterator](): Generator<bigint, never> {
    for (;;) yield this.next();
  }

  /** What to open, as the page takes it: a slot and its number, one pair after the other. */
  #describe(given: Record<string, unknown>, node: unknown): number[] {
    const { epochMs, tickMs, unsigned, fields } = this.layout;
    const { maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart = "zero" } = given;
    const pairs: number[] = [];
    // A boolean becomes 0 or 1 in the page.
    const write = (at: Slot, value: number | boolean) => {
      pairs.push(at, Number(value));
    };
    write(Slot.EPOCH_MS, epochMs);
    write(Slot.TICK_MS, tickMs);
    write(Slot.UNSIGNED, unsigned);
    write(Slot.HAS_NODE, node !== undefined);
    write(Slot.NODE, numeric(node));
    write(Slot.NODE_NONE, node === "none");
    write(Slot.START_MS, this.#private ? NaN : processStartMs());
    write(Slot.PRIVATE, this.#private);
    if (Host.FILES) write(Slot.UNSHARED, given["unshared"] === true);
    write(Slot.HAS_MAX_LEAD_MS, maxLeadMs !== undefined);
    write(Slot.MAX_LEAD_MS, numeric(maxLeadMs));
    write(Slot.HAS_MAX_WAIT_MS, maxWaitMs !== undefined);
    write(Slot.MAX_WAIT_MS, numeric(maxWaitMs));
    write(Slot.HAS_MAX_ASYNC_WAIT_MS, maxAsyncWaitMs !== undefined);
    write(Slot.MAX_ASYNC_WAIT_MS, numeric(maxAsyncWaitMs));
    write(Slot.SEQUENCE_START, STARTS.indexOf(sequenceStart as SequenceStart));
    write(Slot.FIELD_COUNT, fields.length);
    fields.forEach(({ kind, bits }, at) => {
      write(Slot.FIELDS + 2 * at, KINDS.indexOf(kind));
      write(Slot.FIELDS + 2 * at + 1, bits);
    });
    return pairs;
  }

  /** The error of an opening that was refused, with the value that the caller gave. */
  #refused(status: number, given: Record<string, unknown>): FrazilError {
    const port = this.#port as Port;
    const value = given[port.subject];
    const error = port.error(status, value);
    // As of an environment variable.
    const isText = typeof value === "string" && value !== "none";
    const hint =
      error.code === "INVALID_NODE" && isText && error.rule !== Rule.NODE_NONE ? ", not text: Number(…)" : "";
    return hint ? config(error.code, error.field as string, value, `${error.rule}${hint}`) : error;
  }

  /** What the core has counted, or had when this was closed; nothing where there is none. */
  #meet() {
    if (this.#closed) return this.#met;
    const port = this.#port;
    // The counts depend on no time.
    port?.binding.calls.health(port.binding.page, this.#handle, 0);
    const count = (at: Slot) => port?.numbers[at] ?? 0;
    return {
      stepsBack: count(Slot.STEPS_BACK),
      largestStepBackMs: count(Slot.LARGEST_STEP_BACK_MS),
      switches: count(Slot.SWITCHES),
      worstLeadMs: count(Slot.WORST_LEAD_MS),
      extensions: count(Slot.EXTENSIONS),
    };
  }

  /** Calls that outlive this object, so they must not hold it. */
  #releaser(): () => void {
    const { calls, page } = (this.#port as Port).binding;
    const handle = this.#handle;
    return () => calls.release(page, handle);
  }

  /** Whether the block has an ID left for the time. What is no number is left to the core: comparing it could run user code. */
  #holds(now: number): boolean {
    return typeof now === "number" && now >= this.#fromMs && now < this.#untilMs && this.#at < this.#end;
  }

  /** How many IDs were taken out of the block and the core, by anybody: it only grows. */
  #taken(): number {
    return this.#reserved - (this.#end - this.#at) - this.#dropped + this.#returned;
  }

  /** Reserves a new block and takes its first ID. Grown while blocks are used up within their tick, else a single ID. */
  #refill(now: number, waitMs: number): bigint {
    const usedUp = now >= this.#fromMs && now < this.#untilMs && this.#at === this.#end;
    const want = usedUp ? lesser(2 * this.#size, this.#maxBlock) : 1;
    const count = this.#reserve(want, now, called(undefined, waitMs));
    // Only now: a refused call loses no ID, and the rest of the block is good once the clock is back in its tick.
    this.#dropBlock();
    const numbers = this.#numbers;
    const page = this.#page;
    this.#size = count;
    this.#fromMs = numbers[Slot.VALID_FROM_MS] as number;
    this.#untilMs = numbers[Slot.VALID_UNTIL_MS] as number;
    if (count > 1) {
      this.#copyBlock(page, count);
      this.#at = 1;
    }
    return page[0] as bigint;
  }

  /** Makes the first IDs of an array the block. */
  #copyBlock(ids: BigUint64Array, count: number): void {
    if (this.#room < count) {
      this.#ids = new Ids(count);
      this.#room = count;
    }
    copyIds(ids, 0, count, this.#ids, 0);
    this.#end = count;
  }

  /** Forgets the rest of the block: later IDs are larger, so these may never come after them. */
  #dropBlock(): void {
    this.#dropped += this.#end - this.#at;
    this.#at = 0;
    this.#end = 0;
    this.#size = 0;
    this.#untilMs = 0;
  }

  /** Makes the IDs that an aborted call had got the block, for as long as it takes to issue them. */
  #keep({ target, done }: Filling): void {
    this.#dropBlock();
    this.#copyBlock(target, done);
    this.#size = 1;
    this.#fromMs = -Infinity;
    this.#untilMs = Infinity;
  }

  #many(count: number): BigUint64Array {
    this.#admit(count);
    const target = new Ids(count);
    this.#fill(called(target, this.#maxWaitMs));
    return target;
  }

  /** Fills what is left of the target: the rest of the block first, then straight from the core. */
  #fill(call: Filling): void {
    while (call.done < call.length) {
      const now = this.#clock();
      this.#ready(call);
      if (this.#holds(now)) {
        const at = this.#at;
        const count = lesser(this.#end - at, call.length - call.done);
        this.#at += count;
        this.#deliver(call, this.#ids, at, count);
      } else {
        const count = this.#reserve(lesser(call.length - call.done, Page.IDS), now, call);
        this.#dropBlock();
        this.#deliver(call, this.#page, 0, count);
      }
    }
  }

  /** Copies IDs that were taken into the target of a call. Counted first, so that nothing that fails gives them twice. */
  #deliver(call: Filling, ids: BigUint64Array, from: number, count: number): void {
    const at = call.done;
    if (at === 0) call.since = this.#taken() - count;
    call.done += count;
    copyIds(ids, from, count, call.target, at);
  }

  /** Tries, waits for as long as the refusal says, and tries again, until `maxAsyncWaitMs` are spent. */
  async #patiently<T>(signal: AbortSignal | undefined, attempt: () => T): Promise<T> {
    let restMs = this.#maxAsyncWaitMs;
    for (;;) {
      try {
        return attempt();
      } catch (error) {
        const retryMs = error === this.#refusal ? this.#retryMs : Infinity;
        if (retryMs > restMs) throw error;
        restMs -= retryMs;
        this.#waitedMs += retryMs;
        await sleep(retryMs, signal);
      }
    }
  }

  async #fillPatiently(call: Filling, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await this.#patiently(signal, () => this.#fill(call));
  }

  async #manyPatiently<T>(count: number, options: AsyncOptions | undefined, as: (id: bigint) => T): Promise<T[]> {
    const signal = signalOf(options);
    this.#admit(count, this.#maxAsyncWaitMs);
    const call = called(new Ids(count), 0);
    try {
      await this.#fillPatiently(call, signal);
    } catch (error) {
      if (signal?.aborted) this.#giveBack(call);
      throw error;
    }
    return listOf(call.target, as);
  }

  /** The IDs of an aborted call are kept only if nobody took one since its first, or the order would be lost. */
  #giveBack(call: Filling): void {
    const { target, done } = call;
    const alone = this.#taken() - call.since === done;
    this.#returned += done;
    // Where copying them failed (a stack overflow), the last place is empty.
    if (target[done - 1] && alone && !this.#closed) this.#keep(call);
    else this.#dropped += done;
  }

  /** Refuses a count that is no count, or that full lead and full wait could never meet. */
  #admit(count: number, waitMs = Host.BLOCKS && canBlock() ? this.#maxWaitMs : 0): void {
    const port = this.#ready();
    const status = port.binding.calls.admit(port.binding.page, this.#handle, numeric(count), waitMs);
    if (status !== 0) throw port.error(status, count);
  }

  #checkTarget(target: BigUint64Array, waitMs?: number): void {
    if (!isIdArray(target, "BigUint64Array")) throw config("INVALID_ARGUMENT", "target", target, Rule.ID_ARRAY);
    this.#admit(lengthOf(target), waitMs);
  }

  /** The way to the core. To be asked anew after user code has run, which may have closed this, or taken the target away. */
  #ready(call?: Call): Port {
    if (this.#closed) throw new ConfigError("CLOSED", "close() was called on this generator");
    if (this.#port === undefined) throw this.#unavailable;
    const target = call?.target;
    if (target !== undefined && lengthOf(target) < (call as Call).length) {
      const issued = { issued: (call as Call).done };
      throw refusal(ConfigError, "INVALID_ARGUMENT", "target", target, Rule.TARGET_LOST, undefined, undefined, issued);
    }
    return this.#port;
  }

  /** The number of IDs that `#page` holds now: at least one. Waits while the call may, where the host can. */
  #reserve(want: number, nowMs: number, call: Call): number {
    let now = nowMs;
    let confirmed = false;
    for (;;) {
      const port = this.#ready(call);
      const { calls, page } = port.binding;
      this.#numbers = port.numbers;
      this.#page = port.ids;
      // A replaced `Date.now` may return anything.
      const status = calls.reserve(page, this.#handle, numeric(now), want, confirmed);
      if (status === 0) {
        // From here until the IDs are counted as taken, no user code runs.
        const count = this.#numbers[Slot.COUNT] as number;
        this.#reservations++;
        this.#reserved += count;
        return count;
      }
      if (status === Page.KEYLESS) {
        drawKey(port);
        continue;
      }
      if (status === Page.RECHECK) {
        this.#rechecks++;
        confirmed = true;
      } else {
        const error = port.error(status, now, call.target && { issued: call.done });
        const retryMs = stallOf(error);
        this.#refusal = error;
        this.#retryMs = retryMs;
        if (retryMs < Infinity) this.#stalls++;
        if (!(Host.BLOCKS && retryMs <= call.restMs && canBlock())) throw error;
        call.restMs -= retryMs;
        this.#waitedMs += retryMs;
        block(retryMs);
        confirmed = false;
      }
      now = this.#clock();
    }
  }
}
