/**
 * Segments: plain increasing numbers (1, 2, 3 …) for a fleet of machines. A database keeps a counter for each tag, and each process
 * allocates ranges of it ahead of use, so that a number costs no round trip.
 *
 * ```js
 * import { Segment } from "frazil/segment";
 * import { PostgresStore } from "frazil/stores/postgres";
 *
 * const orders = new Segment(new PostgresStore(pool), { tag: "orders" });
 * await orders.next(); // 1n
 * ```
 */
import { isIdArray, lengthOf, listOf } from "./arrays.js";
import { LOW } from "./bits.js";
import { ConfigError, configError, type FrazilError, whole } from "./errors.js";
import { Rule } from "./generated/rules.js";
import { type AsyncOptions, signalOf } from "./options.js";
import { type FetcherOptions, SegmentFetcher, type SegmentStats } from "./segment-fetcher.js";
import { checkGiven, noStore } from "./stores/given.js";
import { isTag, MAX_TAG_LENGTH } from "./stores/limits.js";
import type { SegmentStore } from "./stores/segment-store.js";

export type { SegmentStats } from "./segment-fetcher.js";
export type { AllocateRequest, Allocation, SegmentStore, TagOptions } from "./stores/segment-store.js";

/** The options of a segment. */
export interface SegmentOptions {
  /** The name of the counter, as it was given to `store.initSegment()`: 1 to 128 characters. */
  readonly tag: string;
  /**
   * How many numbers a range has at least. Default: what the store has for the tag, or else 1000. A process that ends leaves at
   * most two ranges unused.
   */
  readonly step?: number;
  /**
   * How many numbers a range has at most. Default: 1,000,000, or `step` if that is more. A step that a row of Leaf or Tinyid has stays,
   * also if it is more.
   */
  readonly maxStep?: number;
  /** A range that lasts less than this is followed by one twice as long, in milliseconds. Default: 900,000 (15 minutes). */
  readonly growBelowMs?: number;
  /** A range that lasts more than this is followed by one half as long, in milliseconds. Default: 1,800,000 (30 minutes). */
  readonly shrinkAboveMs?: number;
  /**
   * How many numbers the store skips when it is another one than before (a failover, a restore) or has lost an allocation. A
   * larger loss repeats numbers. Default: ten times `maxStep`. The tables of other generators have no room for it: no effect there.
   */
  readonly failoverSkip?: number;
  /** How long a call may wait for numbers in all, in milliseconds. Default: 5000. */
  readonly maxAsyncWaitMs?: number;
}

const OPTIONS = "tag, step, maxStep, growBelowMs, shrinkAboveMs, failoverSkip, maxAsyncWaitMs";
const DEFAULT_MAX_STEP = 1_000_000;
/** How many numbers one call may want. */
const MAX_COUNT = 1_048_576;
const MAX_WAIT_MS = 2 ** 31 - 1;

/** The tags of the open segments of each store object. */
const openTags = /* @__PURE__ */ new WeakMap<SegmentStore, Set<string>>();

/** A call that waits for numbers. */
interface Waiting {
  readonly count: number;
  /** Takes its numbers, which are there. */
  readonly take: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Hands out the numbers of a tag. They increase, and no number is handed out twice, by this process or another. They are not
 * without gaps: what a process has not handed out when it ends is lost. Every method can be called detached from the object.
 */
export class Segment {
  /** The name of the counter. */
  readonly tag: string;
  readonly #store: SegmentStore;
  readonly #fetcher: SegmentFetcher;
  readonly #maxAsyncWaitMs: number;
  #isClosed = false;
  #waits = 0;
  /** Calls that wait, in the order in which they are served. */
  readonly #waiting: Waiting[] = [];

  // The numbers that were drawn: `#left` of them, from the one in `#next`. They differ in their lower 32 bits only, so a number is
  // one addition to those and one read.
  readonly #next = new BigUint64Array(1);
  readonly #halves = new Uint32Array(this.#next.buffer);
  #stride = 1;
  #left = 0;

  /**
   * Asks nothing of the store: the first call for a number does.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for an object that is no store; `INVALID_OPTION`; `STATE_CONFLICT` if the store object
   * has an open segment of this tag; `WASM_UNAVAILABLE`.
   */
  constructor(store: SegmentStore, options: SegmentOptions) {
    if (typeof (store as SegmentStore | undefined)?.allocate !== "function") throw noStore(store, Rule.A_SEGMENT_STORE);
    const given = checkGiven(options, OPTIONS) as Record<string, unknown>;
    const { tag, step } = given;
    if (!isTag(tag)) throw configError("INVALID_OPTION", "tag", tag, Rule.TAG_TEXT, undefined, MAX_TAG_LENGTH);
    const usualMax = typeof step === "number" && step > DEFAULT_MAX_STEP ? step : DEFAULT_MAX_STEP;
    const {
      maxStep = usualMax,
      growBelowMs = 900_000,
      shrinkAboveMs = 1_800_000,
      failoverSkip = 0,
      maxAsyncWaitMs = 5000,
    } = given;
    whole("INVALID_OPTION", "failoverSkip", failoverSkip, 0, Number.MAX_SAFE_INTEGER);
    this.#maxAsyncWaitMs = whole("INVALID_OPTION", "maxAsyncWaitMs", maxAsyncWaitMs, 0, MAX_WAIT_MS);
    const tags = openTags.get(store) ?? new Set();
    if (tags.has(tag))
      throw new ConfigError(
        "STATE_CONFLICT",
        `this store object has an open Segment of the tag ${JSON.stringify(tag)}: use or close it`,
        { field: "tag", value: tag },
      );
    this.tag = tag;
    this.#store = store;
    this.#fetcher = new SegmentFetcher(
      { ...given, store, tag, maxStep, growBelowMs, shrinkAboveMs } as FetcherOptions,
      () => this.#wanted(),
      () => this.#left,
      (failure) => this.#changed(failure),
    );
    openTags.set(store, tags.add(tag));
  }

  /**
   * The next number if one is there, else `undefined`: it never waits. The store is asked for more in the background.
   *
   * @throws {ConfigError} `CLOSED`.
   */
  readonly tryNext = (): bigint | undefined => {
    if (this.#left === 0 && !this.#refill()) return undefined;
    this.#left--;
    const number = this.#next[0] as bigint;
    (this.#halves[LOW] as number) += this.#stride;
    return number;
  };

  /**
   * The next number. Waits for the store at most `maxAsyncWaitMs`, and only if it has not answered in time for what was used.
   *
   * Rejects with `SEGMENT_EXHAUSTED` with `retryAfterMs` and the cause, if the store is away for longer than what was allocated
   * lasts; at once with `STORE_NOT_INITIALISED` or `STORE_REFUSED`; with the reason of the signal; with `CLOSED`.
   */
  readonly next = async (options?: AsyncOptions): Promise<bigint> => {
    const signal = signalOf(options);
    signal?.throwIfAborted();
    // Calls that came before are served first.
    const number = this.#waiting.length === 0 ? this.tryNext() : undefined;
    return number ?? this.#wait(1, signal, () => this.tryNext() as bigint);
  };

  /** Resolves when a number is there, so that `tryNext()` returns one. Waits and rejects as `next`. */
  readonly ready = async (options?: AsyncOptions): Promise<void> => {
    const signal = signalOf(options);
    signal?.throwIfAborted();
    this.#checkOpen();
    if (!this.#has(1)) await this.#wait(1, signal, () => {});
  };

  /**
   * An array of `count` numbers, 0 to 1,048,576. They increase, and need not follow each other. Waits and rejects as `next`; then
   * no number is lost.
   */
  readonly nextMany = async (count: number, options?: AsyncOptions): Promise<bigint[]> => {
    const target = new BigUint64Array(whole("INVALID_ARGUMENT", "count", count, 0, MAX_COUNT));
    return listOf(await this.fill(target, options), (number) => number);
  };

  /** Fills the array with numbers, at most 1,048,576. Waits and rejects as `nextMany`. */
  readonly fill = async (target: BigUint64Array, options?: AsyncOptions): Promise<BigUint64Array> => {
    if (!isIdArray(target, "BigUint64Array")) throw configError("INVALID_ARGUMENT", "target", target, Rule.ID_ARRAY);
    const count = whole("INVALID_ARGUMENT", "count", lengthOf(target), 0, MAX_COUNT);
    const signal = signalOf(options);
    signal?.throwIfAborted();
    this.#checkOpen();
    if (this.#waiting.length === 0 && this.#has(count)) this.#take(target, count);
    else await this.#wait(count, signal, () => this.#take(target, count));
    return target;
  };

  /** Counters, and why the store was not reached at the last attempt. */
  readonly stats = (): SegmentStats => this.#fetcher.stats(this.#left, this.#waits);

  /** Ends it. What is left of its ranges is never handed out, and calls that wait reject with `CLOSED`. */
  readonly close = (): void => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#left = 0;
    openTags.get(this.#store)?.delete(this.tag);
    this.#fetcher.close();
    for (const { reject } of this.#waiting.splice(0)) reject(closed());
  };

  /** `close()`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closed();
  }

  /** Draws numbers, if there are none. Returns whether there are. */
  #refill(): boolean {
    this.#checkOpen();
    this.#draw();
    // Now, since it may run code of the user, who may want numbers.
    if (this.#fetcher.isShort) this.#fetcher.ask();
    return this.#left > 0;
  }

  #draw(): void {
    [this.#next[0], this.#stride, this.#left] = this.#fetcher.draw();
  }

  /** Whether so many numbers are there. */
  #has(count: number): boolean {
    return this.#left >= count || this.#left + this.#fetcher.left >= count;
  }

  /** Fills an array with numbers that are there. */
  #take(target: BigUint64Array, count: number): void {
    if (lengthOf(target) < count) throw configError("INVALID_ARGUMENT", "target", target, Rule.TARGET_LOST);
    let isShort = false;
    for (let at = 0; at < count; ) {
      if (this.#left === 0) {
        this.#draw();
        isShort ||= this.#fetcher.isShort;
        // A clock that a program has replaced may take numbers too.
        if (this.#left === 0) throw this.#fetcher.exhausted();
      }
      const taken = Math.min(this.#left, count - at);
      this.#fetcher.write([this.#next[0] as bigint, this.#stride, taken], target, at);
      (this.#halves[LOW] as number) += taken * this.#stride;
      this.#left -= taken;
      at += taken;
    }
    if (isShort) this.#fetcher.ask();
  }

  /** Waits until so many numbers are there, and takes them. */
  #wait<T>(count: number, signal: AbortSignal | undefined, take: () => T): Promise<T> {
    this.#checkOpen();
    this.#waits++;
    return new Promise<T>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
        const at = this.#waiting.indexOf(waiting);
        if (at >= 0) this.#waiting.splice(at, 1);
      };
      const fail = (error: unknown) => {
        end();
        reject(error);
      };
      const waiting: Waiting = {
        count,
        take: () => {
          end();
          try {
            resolve(take());
          } catch (error) {
            reject(error);
          }
        },
        reject: fail,
      };
      const aborted = () => fail((signal as AbortSignal).reason);
      const timer = setTimeout(() => fail(this.#fetcher.exhausted()), this.#maxAsyncWaitMs);
      signal?.addEventListener("abort", aborted);
      this.#waiting.push(waiting);
      this.#fetcher.ask();
    });
  }

  /** How many numbers calls wait for, beyond those that were drawn. */
  #wanted(): number {
    let wanted = 0;
    for (const { count } of this.#waiting) wanted += count;
    return Math.max(0, wanted - this.#left);
  }

  /** Serves the calls that wait, or fails them if asking again does not help. */
  #changed(failure: FrazilError | undefined): void {
    if (failure !== undefined && !failure.retryable) for (const { reject } of this.#waiting.slice()) reject(failure);
    for (let first = this.#waiting[0]; first !== undefined && this.#has(first.count); first = this.#waiting[0])
      first.take();
  }
}

const closed = (): FrazilError => new ConfigError("CLOSED", "close() was called on this segment");
