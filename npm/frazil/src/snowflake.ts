/** The face: what a caller holds. It waits, keeps a block, and turns numbers into IDs; what may be issued, the core decides. */
import { Host, inWorkerThread, load, markProcess } from "#binding";
import { copyIds, Ids, isIdArray, lengthOf, listOf } from "./arrays.js";
import type { Backend } from "./boundary.js";
import { type FillCall, type MintCall, newCall } from "./call.js";
import { checkedClock, wallClock } from "./clock.js";
import { ConfigError, configError, FrazilError, refusal } from "./errors.js";
import { Page, Slot } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import { type CoreCounts, type Health, readCounts, readHealth, type Stats } from "./health.js";
import { type Decoded, type IdInput, Layout, type LayoutInput, type PartsOf } from "./layout.js";
import { checkLocalOptions, LOCAL_OPTIONS, NOT_LOCAL, nativeRequired } from "./local.js";
import {
  type AsyncOptions,
  CONSTRUCTOR_OPTIONS,
  checkOptions,
  type LocalAsyncOptions,
  type LocalOptions,
  type SnowflakeOptions,
  signalOf,
} from "./options.js";
import { type Port, releaserOf, sharedPort } from "./port.js";
import { numberOrNaN, openRefusal, openRequest, writeNewKey, writeRequest } from "./request.js";
import { block, canBlock, retry, retryMsOf, sleep, unlessAborted } from "./wait.js";

/** Has the constructor open a state file, … */
const OPEN_LOCAL = Symbol();
/** … or begin to. */
const OPEN_LOCAL_ASYNC = Symbol();

/** Not that of `Math`, which user code may have replaced. */
const min = (a: number, b: number): number => (a < b ? a : b);

/** The methods as they are here: what a generator mints by is what was checked, whatever a subclass makes of it. */
const { joinNode, with: withChanges } = Layout.prototype;

/** Gives back the numbers of private generators that nobody closed. Missing on Workers before 2025-05-05. */
const unclosed =
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
  /** Kept where a minifier renames the class. @internal */
  static readonly name: string = "Snowflake";
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
  #capacity = 0;
  #cursor = 0;
  #end = 0;
  #blockSize = 0;
  #fromMs = 0;
  #untilMs = 0;

  // The page, as it was looked at before the last reservation: looking once more could run user code.
  #numbers!: Float64Array;
  #page!: BigUint64Array;

  /** The last refusal by the core, and how long until the call can succeed. A clock can throw its like. */
  #lastRefusal: FrazilError | undefined;
  #lastRetryMs = Infinity;

  #reserved = 0;
  #dropped = 0;
  /** IDs that aborted calls had taken and gave back, to be issued or dropped. */
  #returned = 0;
  #reservations = 0;
  #rechecks = 0;
  #stalls = 0;
  #waitedMs = 0;
  #finalCounts!: CoreCounts;

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
    if (!Host.FILES) throw nativeRequired();
    const ids = openLocal<L>(options, OPEN_LOCAL);
    if (ids.#startWaitMs > 0) block(ids.#startWaitMs);
    return ids;
  }

  /** The same, waiting without holding the event loop. Rejects as `local` throws, and with the signal's reason. */
  static async localAsync<const L extends LayoutInput = "default">(
    options: LocalAsyncOptions<L> = {},
  ): Promise<Snowflake<L>> {
    if (!Host.FILES) throw nativeRequired();
    const { signal: given, ...rest } = checkOptions(options, `${LOCAL_OPTIONS}, signal`, NOT_LOCAL);
    const signal = signalOf({ signal: given });
    signal?.throwIfAborted();
    const ids = openLocal<L>(rest, OPEN_LOCAL_ASYNC);
    const opened = ids.#finishOpenAsync(rest);
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
    const local = Boolean(Host.FILES) && (kind === OPEN_LOCAL || kind === OPEN_LOCAL_ASYNC);
    const known = Host.FILES && local ? LOCAL_OPTIONS : CONSTRUCTOR_OPTIONS;
    const given = checkOptions(options === undefined ? {} : options, known, Host.FILES && local ? NOT_LOCAL : "");
    if (Host.FILES && local) checkLocalOptions(given);
    const { layout = "default", epochMs, node, unshared = false, now } = given;
    const plain = Layout.from(layout);
    this.layout = (epochMs === undefined ? plain : withChanges.call(plain, { epochMs: epochMs as number })) as Layout<
      PartsOf<L>
    >;
    if (typeof unshared !== "boolean") throw configError("INVALID_OPTION", "unshared", unshared, Rule.TRUE_OR_FALSE);
    if (now !== undefined && typeof now !== "function") throw configError("INVALID_OPTION", "now", now, Rule.FUNCTION);
    this.#private = now !== undefined;
    this.#local = local;
    this.#clock = now === undefined ? wallClock : checkedClock(now as () => unknown);
    const joined = typeof node === "object" && node !== null ? joinNode.call(this.layout, node as never) : node;
    this.node = typeof joined === "number" ? joined : undefined;
    let port: Port;
    try {
      port = sharedPort(load);
    } catch (error) {
      if (!(error instanceof FrazilError) || error.code !== "WASM_UNAVAILABLE") throw error;
      this.#unavailable = error;
      return;
    }
    this.#port = port;
    const { backend, calls, page, causes } = port.binding;
    const { files } = port.binding;
    if (Host.FILES && local && files === undefined) throw nativeRequired(causes);
    if (Host.THREADS && backend === "wasm" && !unshared && !this.#private && inWorkerThread()) {
      throw new ConfigError(
        "NATIVE_REQUIRED",
        "WebAssembly in a worker thread shares no state with the other threads, so a static node id is refused: install the native addon, or pass unshared: true if no other thread has this node id",
        { field: "node", value: node, cause: new AggregateError(causes, "no native addon could be loaded") },
      );
    }
    const request = openRequest(this.layout, given, joined, this.#private);
    // From here until the answers are read no user code runs: it could write into the page too.
    const write = () => writeRequest(port, request);
    if (Host.FILES && local && files) {
      files.writeRequest(port, given, write);
      if (kind === OPEN_LOCAL_ASYNC) this.#opening = files.openAsync(port);
      else this.#finishOpen(files.open(port), given);
      return;
    }
    write();
    this.#finishOpen(calls.open(page), given);
    if (Host.FILES && backend === "wasm" && !unshared && !this.#private) markProcess();
  }

  /** Takes over what was opened. No user code has run since the page was written. */
  #finishOpen(status: number, given: Record<string, unknown>): void {
    if (status !== 0) throw openRefusal(this.#port as Port, status, given);
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
    if (this.#private || this.#local) unclosed?.register(this, releaserOf(this.#port as Port, this.#handle), this);
  }

  /** Takes over the state file that is being opened, when it is. */
  async #finishOpenAsync(given: Record<string, unknown>): Promise<void> {
    const { files } = (this.#port as Port).binding;
    const ticket = await this.#opening;
    if (Host.FILES && files) this.#finishOpen(files.opened(this.#port as Port, ticket as number), given);
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
    if (now >= this.#fromMs && now < this.#untilMs && this.#cursor < this.#end)
      return this.#ids[this.#cursor++] as bigint;
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
    this.#fill(newCall(target, this.#maxWaitMs));
    return target;
  };

  /** That many IDs, 0 to 1,048,576. Throws as `fill`. */
  readonly nextMany = (count: number): bigint[] => listOf(this.#mintMany(count), (id) => id);

  /** That many IDs as decimal text. Throws as `fill`. */
  readonly nextManyStrings = (count: number): string[] => listOf(this.#mintMany(count), (id) => `${id}`);

  /** The next ID; waits up to `maxAsyncWaitMs` without holding the event loop. Rejects as `next` throws. */
  readonly nextAsync = async (options?: AsyncOptions): Promise<bigint> => {
    const signal = signalOf(options);
    signal?.throwIfAborted();
    return this.#retry(signal, () => {
      const now = this.#clock();
      return this.#hasIdAt(now) ? (this.#ids[this.#cursor++] as bigint) : this.#refill(now, 0);
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
    await this.#fillWithRetry(newCall(target, 0), signal);
    return target;
  };

  /** That many IDs, waiting as `fillAsync`. Those that an aborted call had got are issued by the calls after it. */
  readonly nextManyAsync = async (count: number, options?: AsyncOptions): Promise<bigint[]> =>
    this.#mintManyAsync(count, options, (id) => id);

  /** That many IDs as decimal text, waiting as `nextManyAsync`. */
  readonly nextManyStringsAsync = async (count: number, options?: AsyncOptions): Promise<string[]> =>
    this.#mintManyAsync(count, options, (id) => `${id}`);

  /** Takes an ID apart: `layout.decode`. */
  readonly decode = (id: IdInput): Decoded<PartsOf<L>> => this.layout.decode(id);

  /** What it has done so far. Counted apart from the hot path, so it costs nothing. */
  readonly stats = (): Stats => ({
    backend: this.backend,
    issued: this.#takenCount() - this.#returned,
    dropped: this.#dropped,
    reservations: this.#reservations,
    rechecks: this.#rechecks,
    stalls: this.#stalls,
    waitedMs: this.#waitedMs,
    ...this.#coreCounts(),
  });

  /**
   * How it stands now, for a health check. Issues nothing.
   *
   * @throws {ConfigError} `CLOSED`, `WASM_UNAVAILABLE`.
   * @throws {ClockError} `INVALID_CLOCK`.
   */
  readonly health = (): Health => {
    this.#requirePort();
    const now = this.#clock();
    // Once more: the clock may have closed this.
    return readHealth(this.#requirePort(), this.#handle, now, this.#local);
  };

  /** Ends it: the rest of its block is dropped, and later minting calls are `CLOSED`. A shared state lives on for others. */
  readonly close = (): void => {
    if (this.#closed) return;
    const counts = this.#coreCounts();
    if (this.#closed) return;
    this.#finalCounts = counts;
    this.#closed = true;
    this.#dropBlock();
    if ((this.#private || this.#local) && this.#port !== undefined) {
      unclosed?.unregister(this);
      releaserOf(this.#port, this.#handle)();
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

  /** What the core has counted, or had when this was closed. */
  #coreCounts(): CoreCounts {
    return this.#closed ? this.#finalCounts : readCounts(this.#port, this.#handle);
  }

  /** Whether the block has an ID left for the time. What is no number is left to the core: comparing it could run user code. */
  #hasIdAt(now: number): boolean {
    return typeof now === "number" && now >= this.#fromMs && now < this.#untilMs && this.#cursor < this.#end;
  }

  /** How many IDs were taken out of the block and the core, by anybody: it only grows. */
  #takenCount(): number {
    return this.#reserved - (this.#end - this.#cursor) - this.#dropped + this.#returned;
  }

  /** Reserves a new block and takes its first ID. Grown while blocks are used up within their tick, else a single ID. */
  #refill(now: number, waitMs: number): bigint {
    const usedUp = now >= this.#fromMs && now < this.#untilMs && this.#cursor === this.#end;
    const want = usedUp ? min(2 * this.#blockSize, this.#maxBlock) : 1;
    const count = this.#reserve(want, now, newCall(undefined, waitMs));
    // Only now: a refused call loses no ID, and the rest of the block is good once the clock is back in its tick.
    this.#dropBlock();
    const numbers = this.#numbers;
    const page = this.#page;
    this.#blockSize = count;
    this.#fromMs = numbers[Slot.VALID_FROM_MS] as number;
    this.#untilMs = numbers[Slot.VALID_UNTIL_MS] as number;
    if (count > 1) {
      this.#copyBlock(page, count);
      this.#cursor = 1;
    }
    return page[0] as bigint;
  }

  /** Makes the first IDs of an array the block. */
  #copyBlock(ids: BigUint64Array, count: number): void {
    if (this.#capacity < count) {
      this.#ids = new Ids(count);
      this.#capacity = count;
    }
    copyIds(ids, 0, count, this.#ids, 0);
    this.#end = count;
  }

  /** Forgets the rest of the block: later IDs are larger, so these may never come after them. */
  #dropBlock(): void {
    this.#dropped += this.#end - this.#cursor;
    this.#cursor = 0;
    this.#end = 0;
    this.#blockSize = 0;
    this.#untilMs = 0;
  }

  /** Makes the IDs that an aborted call had got the block, for as long as it takes to issue them. */
  #restoreBlock({ target, done }: FillCall): void {
    this.#dropBlock();
    this.#copyBlock(target, done);
    this.#blockSize = 1;
    this.#fromMs = -Infinity;
    this.#untilMs = Infinity;
  }

  #mintMany(count: number): BigUint64Array {
    this.#checkCount(count);
    const target = new Ids(count);
    this.#fill(newCall(target, this.#maxWaitMs));
    return target;
  }

  /** Fills what is left of the target: the rest of the block first, then straight from the core. */
  #fill(call: FillCall): void {
    while (call.done < call.length) {
      const now = this.#clock();
      this.#requirePort(call);
      if (this.#hasIdAt(now)) {
        const at = this.#cursor;
        const count = min(this.#end - at, call.length - call.done);
        this.#cursor += count;
        this.#copyToTarget(call, this.#ids, at, count);
      } else {
        const count = this.#reserve(min(call.length - call.done, Page.IDS), now, call);
        this.#dropBlock();
        this.#copyToTarget(call, this.#page, 0, count);
      }
    }
  }

  /** Copies IDs that were taken into the target of a call. Counted first, so that nothing that fails gives them twice. */
  #copyToTarget(call: FillCall, ids: BigUint64Array, from: number, count: number): void {
    const at = call.done;
    if (at === 0) call.takenBefore = this.#takenCount() - count;
    call.done += count;
    copyIds(ids, from, count, call.target, at);
  }

  #retry<T>(signal: AbortSignal | undefined, attempt: () => T): Promise<T> {
    return retry(attempt, signal, this.#maxAsyncWaitMs, (error, limitMs) => {
      const retryMs = error === this.#lastRefusal ? this.#lastRetryMs : Infinity;
      if (retryMs <= limitMs) this.#waitedMs += retryMs;
      return retryMs;
    });
  }

  async #fillWithRetry(call: FillCall, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await this.#retry(signal, () => this.#fill(call));
  }

  async #mintManyAsync<T>(count: number, options: AsyncOptions | undefined, as: (id: bigint) => T): Promise<T[]> {
    const signal = signalOf(options);
    this.#checkCount(count, this.#maxAsyncWaitMs);
    const call = newCall(new Ids(count), 0);
    try {
      await this.#fillWithRetry(call, signal);
    } catch (error) {
      if (signal?.aborted) this.#giveBack(call);
      throw error;
    }
    return listOf(call.target, as);
  }

  /** The IDs of an aborted call are kept only if nobody took one since its first, or the order would be lost. */
  #giveBack(call: FillCall): void {
    const { target, done } = call;
    const alone = this.#takenCount() - call.takenBefore === done;
    this.#returned += done;
    // Where copying them failed (a stack overflow), the last place is empty.
    if (target[done - 1] && alone && !this.#closed) this.#restoreBlock(call);
    else this.#dropped += done;
  }

  /** Refuses a count that is no count, or that full lead and full wait could never meet. */
  #checkCount(count: number, waitMs = Host.BLOCKS && canBlock() ? this.#maxWaitMs : 0): void {
    const port = this.#requirePort();
    const status = port.binding.calls.admit(port.binding.page, this.#handle, numberOrNaN(count), waitMs);
    if (status !== 0) throw port.error(status, count);
  }

  #checkTarget(target: BigUint64Array, waitMs?: number): void {
    if (!isIdArray(target, "BigUint64Array")) throw configError("INVALID_ARGUMENT", "target", target, Rule.ID_ARRAY);
    this.#checkCount(lengthOf(target), waitMs);
  }

  /** The way to the core. To be asked anew after user code has run, which may have closed this, or taken the target away. */
  #requirePort(call?: MintCall): Port {
    if (this.#closed) throw new ConfigError("CLOSED", "close() was called on this generator");
    if (this.#port === undefined) throw this.#unavailable;
    const target = call?.target;
    if (target !== undefined && lengthOf(target) < (call as MintCall).length) {
      const issued = { issued: (call as MintCall).done };
      throw refusal(ConfigError, "INVALID_ARGUMENT", "target", target, Rule.TARGET_LOST, undefined, undefined, issued);
    }
    return this.#port;
  }

  /** The number of IDs that `#page` holds now: at least one. Waits while the call may, where the host can. */
  #reserve(want: number, nowMs: number, call: MintCall): number {
    let now = nowMs;
    let confirmed = false;
    for (;;) {
      const port = this.#requirePort(call);
      const { calls, page } = port.binding;
      this.#numbers = port.numbers;
      this.#page = port.ids;
      // A replaced `Date.now` may return anything.
      const status = calls.reserve(page, this.#handle, numberOrNaN(now), want, confirmed);
      if (status === 0) {
        // From here until the IDs are counted as taken, no user code runs.
        const count = this.#numbers[Slot.COUNT] as number;
        this.#reservations++;
        this.#reserved += count;
        return count;
      }
      if (status === Page.KEYLESS) {
        writeNewKey(port);
        continue;
      }
      if (status === Page.RECHECK) {
        this.#rechecks++;
        confirmed = true;
      } else {
        const error = port.error(status, now, call.target && { issued: call.done });
        const retryMs = retryMsOf(error);
        this.#lastRefusal = error;
        this.#lastRetryMs = retryMs;
        if (retryMs < Infinity) this.#stalls++;
        if (!(Host.BLOCKS && retryMs <= call.remainingMs && canBlock())) throw error;
        call.remainingMs -= retryMs;
        this.#waitedMs += retryMs;
        block(retryMs);
        confirmed = false;
      }
      now = this.#clock();
    }
  }
}

/** Outside the class: a bundler gives a class that refers to itself another name in stack traces. */
const openLocal = <L extends LayoutInput>(options: unknown, kind: symbol): Snowflake<L> =>
  Reflect.construct(Snowflake, [options, kind]) as Snowflake<L>;
