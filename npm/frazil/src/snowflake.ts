/** The face: what a caller holds. It waits, keeps a block, and turns numbers into IDs; what may be issued, the core decides. */
import { claimProcess, Host, inWorkerThread, load } from "#binding";
import { processStartMs, wallClock } from "./clock.js";
import { ClockError, ConfigError, config, type ErrorDetails, FrazilError, refusal } from "./errors.js";
import type { StateFile } from "./files.js";
import { KINDS, Page, Slot, STARTS } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import {
  type Decoded,
  type IdInput,
  isIdArray,
  Layout,
  type LayoutInput,
  type NodeInput,
  type PartsOf,
} from "./layout.js";
import { checkOptions, signalOf } from "./options.js";
import { type Backend, type Port, portOf } from "./port.js";
import { block, canBlock, sleep } from "./wait.js";

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
  // Of these, generators of one thread with equal layout, node id and lead have one count.
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

const noFiles = (causes: readonly unknown[] = []): ConfigError =>
  new ConfigError(
    "NATIVE_REQUIRED",
    "Snowflake.local() keeps its state in a file, which takes Node and the native addon; elsewhere: new Snowflake({ node })",
    { cause: new AggregateError(causes, "no native addon could be loaded") },
  );

/** Has the constructor open a state file. */
const LOCAL = Symbol();
const LOCAL_OPTIONS =
  "dir, node, scope, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart, startWaitMs, fileSystem";
const OPTIONS = "node, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart, unshared, now";

/** A value as the core takes it: what is no number breaks the rule for numbers. */
const numeric = (value: unknown): number => (typeof value === "number" ? value : NaN);

/** A clock whose values are numbers: what is none is refused as it is, since NaN in its place would not say what it was. */
const checkedClock = (now: () => unknown) => (): number => {
  const ms = now();
  if (typeof ms !== "number") throw refusal(ClockError, "INVALID_CLOCK", "now", ms, Rule.FINITE_CLOCK);
  return ms;
};

/** Milliseconds until the call that was refused can first succeed; without end where waiting does not help. */
function stallOf(error: unknown): number {
  const ms = (error instanceof ClockError && error.retryAfterMs) || 0;
  return ms > 0 ? ms : Infinity;
}

/** Puts a new key for the start of the sequence into the page. */
function drawKey(numbers: Float64Array): void {
  numbers.set(crypto.getRandomValues(new Uint32Array(4)), Slot.KEY);
  numbers[Slot.HAS_KEY] = 1;
}

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
  readonly #handle: number = 0;
  /** A state of its own, on a clock of its own. */
  readonly #private: boolean;
  /** A state that is kept in a file. */
  readonly #local: boolean;
  /** How long it is until the first ID. */
  readonly #startWaitMs: number = 0;
  readonly #maxBlock: number = 1;
  readonly #maxWaitMs: number = 0;
  readonly #maxAsyncWaitMs: number = 0;
  #closed = false;

  // The block: IDs that are this object's, from `#at` to `#end`, good while the clock stays in `[#fromMs, #untilMs)`.
  #ids = new BigUint64Array(0);
  #at = 0;
  #end = 0;
  #size = 0;
  #fromMs = 0;
  #untilMs = 0;

  /** What is left of the call's `maxWaitMs`. */
  #restMs = 0;

  #reserved = 0;
  #dropped = 0;
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
    const { signal: given, ...rest } = { ...checkOptions(options, `${LOCAL_OPTIONS}, signal`) };
    const signal = signalOf({ signal: given });
    signal?.throwIfAborted();
    const ids = Reflect.construct(Snowflake, [rest, LOCAL]) as Snowflake<L>;
    try {
      if (ids.#startWaitMs > 0) await sleep(ids.#startWaitMs, signal);
    } catch (error) {
      ids.close();
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
    const local = Boolean(Host.FILES) && kind === LOCAL;
    const known = Host.FILES && local ? LOCAL_OPTIONS : OPTIONS;
    const given: Record<string, unknown> = { ...(options === undefined ? {} : checkOptions(options, known)) };
    const { layout = "default", epochMs, node, unshared = false, now } = given;
    const plain = Layout.from(layout);
    this.layout = (epochMs === undefined ? plain : plain.with({ epochMs: epochMs as number })) as Layout<PartsOf<L>>;
    if (typeof unshared !== "boolean") throw config("INVALID_OPTION", "unshared", unshared, Rule.TRUE_OR_FALSE);
    if (now !== undefined && typeof now !== "function") throw config("INVALID_OPTION", "now", now, Rule.FUNCTION);
    this.#private = now !== undefined;
    this.#local = local;
    this.#clock = now === undefined ? wallClock : checkedClock(now as () => unknown);
    const joined = typeof node === "object" && node !== null ? this.layout.joinNode(node as never) : node;
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
    this.#describe(port.numbers, given, joined);
    const status = Host.FILES && local && files ? files.open(port, given) : calls.open(page);
    if (status !== 0) throw this.#refused(status, given);
    if (Host.FILES && backend === "wasm" && !unshared && !this.#private) claimProcess();
    // Taken after the call: opening can make WebAssembly's memory grow, and then older views are empty.
    const { numbers } = port;
    this.#handle = numbers[Slot.HANDLE] as number;
    this.#maxBlock = numbers[Slot.MAX_BLOCK] as number;
    this.#maxWaitMs = numbers[Slot.MAX_WAIT_MS] as number;
    this.#maxAsyncWaitMs = numbers[Slot.MAX_ASYNC_WAIT_MS] as number;
    if (Host.FILES && local) {
      this.#startWaitMs = numbers[Slot.WAIT_MS] as number;
      // Its default is the core's.
      if (this.layout.fields.some(({ kind }) => kind === "node")) this.node = numbers[Slot.NODE] as number;
    }
    if (this.#private || local) forgotten?.register(this, this.#releaser(), this);
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
    // `#holds`, written out: this is the path that every ID takes.
    if (this.#at < this.#end && now >= this.#fromMs && now < this.#untilMs) return this.#ids[this.#at++] as bigint;
    return this.#refill(now, this.#maxWaitMs);
  };

  /** The next ID as decimal text. Throws as `next`. */
  readonly nextString = (): string => this.next().toString();

  /**
   * Fills the array with IDs in one crossing for each 4096.
   *
   * @throws as `next`; a stall midway has `issued`: the first that many are valid, and never issued again.
   * `SEQUENCE_EXHAUSTED` with `maxCount` for a length that the full lead and the full wait could never meet, before anything is
   * issued; `INVALID_ARGUMENT` for anything but a BigUint64Array of at most 1,048,576.
   */
  readonly fill = (target: BigUint64Array): BigUint64Array => {
    this.#checkTarget(target);
    return this.#fill(target);
  };

  /** That many IDs, 0 to 1,048,576. Throws as `fill`. */
  readonly nextMany = (count: number): bigint[] => Array.from(this.#many(count));

  /** That many IDs as decimal text. Throws as `fill`. */
  readonly nextManyStrings = (count: number): string[] => Array.from(this.#many(count), String);

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
  readonly nextStringAsync = async (options?: AsyncOptions): Promise<string> =>
    (await this.nextAsync(options)).toString();

  /** Fills the array, waiting up to `maxAsyncWaitMs` in all without holding the event loop. Rejects as `fill` throws. */
  readonly fillAsync = async (target: BigUint64Array, options?: AsyncOptions): Promise<BigUint64Array> => {
    const signal = signalOf(options);
    this.#checkTarget(target, this.#maxAsyncWaitMs);
    await this.#fillPatiently(target, signal);
    return target;
  };

  /** That many IDs, waiting as `fillAsync`. Those that an aborted call had got are issued by the calls after it. */
  readonly nextManyAsync = async (count: number, options?: AsyncOptions): Promise<bigint[]> => {
    const signal = signalOf(options);
    this.#admit(count, this.#maxAsyncWaitMs);
    const target = new BigUint64Array(count);
    await this.#fillPatiently(target, signal, (done) => this.#keep(target.subarray(0, done)));
    return Array.from(target);
  };

  /** That many IDs as decimal text, waiting as `nextManyAsync`. */
  readonly nextManyStringsAsync = async (count: number, options?: AsyncOptions): Promise<string[]> =>
    (await this.nextManyAsync(count, options)).map(String);

  /** Takes an ID apart: `layout.decode`. */
  readonly decode = (id: IdInput): Decoded<PartsOf<L>> => this.layout.decode(id);

  /** What it has done so far. Counted apart from the hot path, so it costs nothing. */
  readonly stats = (): Stats => ({
    backend: this.backend,
    issued: this.#reserved - (this.#end - this.#at) - this.#dropped,
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
    const port = this.#ready();
    const { calls, page } = port.binding;
    const now = this.#clock();
    const status = calls.health(page, this.#handle, numeric(now));
    const refusal = status === 0 ? undefined : port.error(status, now);
    if (refusal?.code === "INVALID_CLOCK") throw refusal;
    const { numbers } = port;
    const endsAt = new Date(numbers[Slot.END_MS] as number);
    const warnings = numbers[Slot.ENDS_SOON]
      ? [`the time field of the layout runs out on ${endsAt.toISOString()}`]
      : [];
    const stands = {
      ok: status === 0,
      refusal,
      leadMs: numbers[Slot.LEAD_MS] as number,
      endsAt,
      remainingMs: numbers[Slot.REMAINING_MS] as number,
      warnings,
    };
    if (!Host.FILES || !this.#local || port.binding.files === undefined) return stands;
    const file = port.binding.files.file(port, this.#handle);
    const ahead = `the clock stepped ${file.distrustedMs} ms ahead, which is not followed until it has lasted 10 minutes`;
    if (file.distrustedMs > 0) warnings.push(ahead);
    return { ...stands, file };
  };

  /** Ends it: the rest of its block is dropped, and later minting calls are `CLOSED`. A shared state lives on for others. */
  readonly close = (): void => {
    if (this.#closed) return;
    this.#meet();
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

  /** Writes what to open into the page. */
  #describe(numbers: Float64Array, given: Record<string, unknown>, node: unknown): void {
    const { epochMs, tickMs, unsigned, fields } = this.layout;
    const { maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart = "zero" } = given;
    // A boolean becomes 0 or 1 in the page.
    const write = (at: Slot, value: number | boolean) => {
      numbers[at] = Number(value);
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
  }

  /** The error of an opening that was refused, with the value that the caller gave. */
  #refused(status: number, given: Record<string, unknown>): FrazilError {
    const port = this.#port as Port;
    const value = given[port.subject];
    const error = port.error(status, value);
    // A node id that is not even a number was read from somewhere: say where one can come from.
    const isText = typeof value === "string" && value !== "none";
    const hint = error.code === "INVALID_NODE" && isText && error.rule !== Rule.NODE_NONE ? `; ${Rule.NODE_GIVEN}` : "";
    return hint ? config(error.code, error.field as string, value, `${error.rule}${hint}`) : error;
  }

  /** What the core has counted, or had when this was closed; nothing where there is none. */
  #meet() {
    if (this.#closed) return this.#met;
    const port = this.#port;
    // The counts depend on no time.
    port?.binding.calls.health(port.binding.page, this.#handle, 0);
    const count = (at: Slot) => port?.numbers[at] ?? 0;
    this.#met = {
      stepsBack: count(Slot.STEPS_BACK),
      largestStepBackMs: count(Slot.LARGEST_STEP_BACK_MS),
      switches: count(Slot.SWITCHES),
      worstLeadMs: count(Slot.WORST_LEAD_MS),
      extensions: count(Slot.EXTENSIONS),
    };
    return this.#met;
  }

  /** Calls that outlive this object, so they must not hold it. */
  #releaser(): () => void {
    const { calls, page } = (this.#port as Port).binding;
    const handle = this.#handle;
    return () => calls.release(page, handle);
  }

  /** Whether the block has an ID left for the time. */
  #holds(now: number): boolean {
    return this.#at < this.#end && now >= this.#fromMs && now < this.#untilMs;
  }

  /** Reserves a new block and takes its first ID. Grown while blocks are used up within their tick, else a single ID. */
  #refill(now: number, waitMs: number): bigint {
    const usedUp = this.#at === this.#end && now >= this.#fromMs && now < this.#untilMs;
    const want = usedUp ? Math.min(2 * this.#size, this.#maxBlock) : 1;
    this.#restMs = waitMs;
    const count = this.#reserve(want, now);
    // Only now: a refused call loses no ID, and the rest of the block is good once the clock is back in its tick.
    this.#dropBlock();
    const { ids, numbers } = this.#port as Port;
    this.#size = count;
    this.#fromMs = numbers[Slot.VALID_FROM_MS] as number;
    this.#untilMs = numbers[Slot.VALID_UNTIL_MS] as number;
    if (count > 1) {
      if (this.#ids.length < count) this.#ids = new BigUint64Array(count);
      this.#ids.set(ids.subarray(0, count));
      this.#at = 1;
      this.#end = count;
    }
    return ids[0] as bigint;
  }

  /** Forgets the rest of the block: later IDs are larger, so these may never come after them. */
  #dropBlock(): void {
    this.#dropped += this.#end - this.#at;
    this.#at = 0;
    this.#end = 0;
    this.#size = 0;
    this.#untilMs = 0;
  }

  /** Makes IDs that nobody got the block, for as long as it takes to issue them. */
  #keep(ids: BigUint64Array): void {
    this.#dropBlock();
    this.#ids = ids.slice();
    this.#end = ids.length;
    this.#size = 1;
    this.#fromMs = -Infinity;
    this.#untilMs = Infinity;
  }

  #many(count: number): BigUint64Array {
    this.#admit(count);
    return this.#fill(new BigUint64Array(count));
  }

  /** Fills from a place on: the rest of the block first, then straight from the core. */
  #fill(target: BigUint64Array, at = 0, waitMs = this.#maxWaitMs): BigUint64Array {
    this.#restMs = waitMs;
    while (at < target.length) {
      const now = this.#clock();
      if (this.#holds(now)) {
        const taken = this.#ids.subarray(this.#at, Math.min(this.#end, this.#at + target.length - at));
        target.set(taken, at);
        this.#at += taken.length;
        at += taken.length;
      } else {
        const count = this.#reserve(Math.min(target.length - at, Page.IDS), now, { issued: at });
        this.#dropBlock();
        target.set((this.#port as Port).ids.subarray(0, count), at);
        at += count;
      }
    }
    return target;
  }

  /** Tries, waits for as long as the refusal says, and tries again, until `maxAsyncWaitMs` are spent. */
  async #patiently<T>(signal: AbortSignal | undefined, attempt: () => T): Promise<T> {
    let restMs = this.#maxAsyncWaitMs;
    for (;;) {
      try {
        return attempt();
      } catch (error) {
        const retryMs = stallOf(error);
        if (retryMs > restMs) throw error;
        restMs -= retryMs;
        this.#waitedMs += retryMs;
        await sleep(retryMs, signal);
      }
    }
  }

  async #fillPatiently(
    target: BigUint64Array,
    signal: AbortSignal | undefined,
    keep?: (done: number) => void,
  ): Promise<void> {
    signal?.throwIfAborted();
    let done = 0;
    let reservations = this.#reservations;
    try {
      await this.#patiently(signal, () => {
        try {
          this.#fill(target, done, 0);
        } catch (error) {
          if (error instanceof FrazilError) done = error.issued ?? done;
          throw error;
        } finally {
          reservations = this.#reservations;
        }
      });
    } catch (error) {
      if (signal?.aborted && keep !== undefined && done > 0) {
        // Only while nothing larger has been issued in the meantime, or the order would be lost.
        if (reservations === this.#reservations && !this.#closed) keep(done);
        else this.#dropped += done;
      }
      throw error;
    }
  }

  /** Refuses a count that is no count, or that full lead and full wait could never meet. */
  #admit(count: number, waitMs = Host.BLOCKS && canBlock() ? this.#maxWaitMs : 0): void {
    const port = this.#ready();
    const status = port.binding.calls.admit(port.binding.page, this.#handle, numeric(count), waitMs);
    if (status !== 0) throw port.error(status, count);
  }

  #checkTarget(target: BigUint64Array, waitMs?: number): void {
    if (!isIdArray(target, "BigUint64Array")) throw config("INVALID_ARGUMENT", "target", target, Rule.ID_ARRAY);
    this.#admit(target.length, waitMs);
  }

  #ready(): Port {
    if (this.#closed) throw new ConfigError("CLOSED", "close() was called on this generator");
    if (this.#port === undefined) throw this.#unavailable;
    return this.#port;
  }

  /** The number of IDs that the page holds now: at least one. Waits while `#restMs` allows, where the host can. */
  #reserve(want: number, nowMs: number, details?: ErrorDetails): number {
    const port = this.#ready();
    const { calls, page } = port.binding;
    let now = nowMs;
    let confirmed = false;
    for (;;) {
      // A replaced `Date.now` may return anything.
      const status = calls.reserve(page, this.#handle, numeric(now), want, confirmed);
      if (status === 0) {
        const count = port.numbers[Slot.COUNT] as number;
        this.#reservations++;
        this.#reserved += count;
        return count;
      }
      if (status === Page.RECHECK) {
        this.#rechecks++;
        confirmed = true;
      } else if (status === Page.KEYLESS) {
        drawKey(port.numbers);
      } else {
        const error = port.error(status, now, details);
        const retryMs = stallOf(error);
        if (retryMs < Infinity) this.#stalls++;
        if (Host.BLOCKS && retryMs <= this.#restMs && canBlock()) {
          this.#restMs -= retryMs;
          this.#waitedMs += retryMs;
          block(retryMs);
          confirmed = false;
        } else throw error;
      }
      now = this.#clock();
    }
  }
}
