/**
 * The numbers of a tag as a program takes them: `Segment`, and the segment of an isolate of Cloudflare Workers. They differ in their
 * `Callers`: how a call waits, and which driver asks the store.
 */

import type { Weak } from "../asking/weak.js";
import { isIdArray, lengthOf } from "../base/arrays.js";
import { monotonicClock } from "../base/clock.js";
import { ConfigError, configError, type FrazilError, whole } from "../base/errors.js";
import { listOf } from "../base/lists.js";
import { PackageRule } from "../base/package-rules.js";
import { Frame } from "../generated/abi.js";
import { type AsyncOptions, signalOf } from "../generator/options.js";
import { checkGiven, nameOfStore, noStore } from "../stores/kit/argument-errors.js";
import { checkTag } from "../stores/kit/limits.js";
import type { SegmentStore } from "../stores/segment-store.js";
import type { Core, HolderOptions, SegmentHolder, SegmentStats, TagState } from "./holder.js";

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
   * How many numbers the store skips at least, and up to twice as many, when it is another one than before (a failover, a restore) or
   * has lost an allocation. A larger loss repeats numbers. Default: ten times `maxStep`. The tables of other generators have no room
   * for it: no effect there.
   */
  readonly failoverSkip?: number;
  /** How long a call may wait for numbers in all, in milliseconds. Default: 5000. */
  readonly maxAsyncWaitMs?: number;
}

const OPTIONS = "tag, step, maxStep, growBelowMs, shrinkAboveMs, failoverSkip, maxAsyncWaitMs";

const TAGS = /* @__PURE__ */ Symbol.for("frazil.segments");

/** The tags of each store, for all copies of the package in a realm. */
function tagsOf(store: object): Map<string, TagState> {
  const realm = globalThis as { [TAGS]?: WeakMap<object, Map<string, TagState>> };
  realm[TAGS] ??= new WeakMap();
  const tags = realm[TAGS].get(store) ?? new Map<string, TagState>();
  realm[TAGS].set(store, tags);
  return tags;
}

/**
 * Deferred result. Running it in the caller keeps the caller's frames in error stacks.
 *
 * @internal
 */
export type Outcome<T> = () => T;

/** The calls that wait for numbers, and the driver that asks the store for them. @internal */
export interface Callers {
  readonly holder: SegmentHolder;
  /** Whether a call may take numbers at once, and overtakes none that came before. */
  readonly isFree: boolean;
  /** How many calls found no number and waited. */
  readonly waits: number;
  /** Open as long as this segment. */
  readonly opened: Weak<object>;
  /** Another range is needed: asks the store soon. Not on the stack of the call, which takes numbers. */
  ask(): void;
  /** Waits until that many numbers are there, and takes them. The caller calls what this resolves to as soon as it goes on. */
  wait<T>(count: number, signal: AbortSignal | undefined, take: () => T): Promise<Outcome<T>>;
  /** Ends the calls that wait. */
  end(failed: Outcome<never>): void;
}

/** The parts of a kind of segment. @internal */
export interface SegmentKind {
  readonly core: Core;
  readonly step?: number;
  readonly maxStep: number;
  /** The object that knows the tags. */
  readonly identity: object;
  callers(options: HolderOptions, limitMs: number): Callers;
}

const textOf = (number: bigint) => `${number}`;

/**
 * Hands out the numbers of a tag. They increase, and no number is handed out twice, by this process or another. They are not
 * without gaps: what a process has not handed out when it ends is lost. Every method can be called detached from the object.
 */
export class SegmentNumbers {
  /** Keeps the name when a minifier renames the class. @internal */
  static readonly name: string = "SegmentNumbers";
  /** The name of the counter. */
  readonly tag: string;
  readonly #state: TagState;
  readonly #holder: SegmentHolder;
  readonly #callers: Callers;
  #isClosed = false;

  /** @internal */
  constructor(store: SegmentStore, options: SegmentOptions, kind: SegmentKind) {
    if (typeof (store as SegmentStore | undefined)?.allocate !== "function")
      throw noStore(store, PackageRule.A_SEGMENT_STORE);
    const name = nameOfStore(store);
    const given = checkGiven(options, OPTIONS) as Record<string, unknown>;
    const { tag, step = kind.step } = given;
    checkTag("INVALID_OPTION", tag);
    const usualMax = typeof step === "number" && step > kind.maxStep ? step : kind.maxStep;
    const {
      maxStep = usualMax,
      growBelowMs = 900_000,
      shrinkAboveMs = 1_800_000,
      failoverSkip,
      maxAsyncWaitMs = 5000,
    } = given;
    if (failoverSkip !== undefined) whole("INVALID_OPTION", "failoverSkip", failoverSkip, 0, Number.MAX_SAFE_INTEGER);
    const limitMs = whole("INVALID_OPTION", "maxAsyncWaitMs", maxAsyncWaitMs, 0, Frame.MAX_WAIT_MS);
    const tags = tagsOf(kind.identity);
    const state = tags.get(tag) ?? { above: 0n };
    if (state.open?.deref() !== undefined)
      throw new ConfigError(
        "STATE_CONFLICT",
        `this store object has an open Segment of the tag ${JSON.stringify(tag)}\nUse it, or close it.`,
        { field: "tag", value: tag },
      );
    this.tag = tag;
    this.#state = state;
    // Each is there, so that none is read from `Object.prototype`.
    const checked = {
      ...kind,
      failoverSkip,
      ...given,
      store,
      name,
      tag,
      step,
      maxStep,
      growBelowMs,
      shrinkAboveMs,
      state,
    } as HolderOptions;
    this.#callers = kind.callers(checked, limitMs);
    this.#holder = this.#callers.holder;
    this[Symbol.dispose] = () => this.close();
    state.open = this.#callers.opened;
    tags.set(tag, state);
  }

  /**
   * The next number if one is there, else `undefined`: it never waits. The store is asked for more in the background.
   *
   * @throws {ConfigError} `CLOSED`.
   * @throws {ClockError} `INVALID_CLOCK` where a program has replaced `performance.now` and `Date.now` by clocks that show no number.
   */
  readonly tryNext = (): bigint | undefined => {
    const holder = this.#holder;
    if (holder.ahead > 0) return holder.one();
    this.#refill();
    const number = holder.ahead > 0 ? holder.one() : undefined;
    if (holder.isShort) this.#callers.ask();
    return number;
  };

  /**
   * The next number. Waits for the store at most `maxAsyncWaitMs`, and only if it has not answered in time for what was used.
   *
   * Rejects with `SEGMENT_EXHAUSTED` with `retryAfterMs` and the cause, if the store is away for longer than what was allocated
   * lasts; with `STORE_NOT_INITIALISED` or `STORE_REFUSED` as soon as the store says so; with the reason of the signal; with `CLOSED`.
   */
  readonly next = async (options?: AsyncOptions): Promise<bigint> => {
    const signal = signalOf(options);
    signal?.throwIfAborted();
    const number = this.#callers.isFree ? this.tryNext() : undefined;
    return number ?? (await this.#wait(1, signal, () => this.#takeOne()))();
  };

  /** The next number as decimal text. Waits and rejects as `next`. */
  readonly nextString = async (options?: AsyncOptions): Promise<string> => textOf(await this.next(options));

  /** Resolves when a number is there, so that `tryNext()` returns one. Waits and rejects as `next`. */
  readonly ready = async (options?: AsyncOptions): Promise<void> => {
    const signal = signalOf(options);
    signal?.throwIfAborted();
    this.#checkOpen();
    if (!this.#holder.has(1)) (await this.#wait(1, signal, () => {}))();
  };

  /**
   * An array of `count` numbers, 0 to 1,048,576. They increase, and need not follow each other. Waits and rejects as `next`; then
   * no number is lost.
   */
  readonly nextMany = (count: number, options?: AsyncOptions): Promise<bigint[]> => this.#list(count, options, false);

  /** As `nextMany`, the numbers as decimal texts. */
  readonly nextManyStrings = (count: number, options?: AsyncOptions): Promise<string[]> =>
    this.#list(count, options, true);

  /** Fills the array with numbers, at most 1,048,576. Waits and rejects as `nextMany`. */
  readonly fill = async (target: BigUint64Array, options?: AsyncOptions): Promise<BigUint64Array> => {
    const outcome = this.#fill(target, options);
    if (outcome) (await outcome)();
    return target;
  };

  /** Counters, and why the store was not reached at the last attempt. */
  readonly stats = (): SegmentStats => this.#holder.stats(this.#callers.waits);

  /** Ends it. The rest of its ranges is never handed out, and calls that wait reject with `CLOSED`. */
  readonly close = (): void => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#state.open = undefined;
    this.#holder.close();
    this.#callers.end(() => {
      throw closed();
    });
  };

  /** `close()`, for `using`. */
  declare readonly [Symbol.dispose]: () => void;

  #checkOpen(): void {
    if (this.#isClosed) throw closed();
  }

  /** Draws numbers, if there are none. */
  #refill(): void {
    this.#checkOpen();
    // Read first: a clock that a program has replaced may take numbers.
    const nowMs = monotonicClock();
    if (this.#holder.ahead === 0) this.#holder.draw(nowMs);
  }

  #takeOne(): bigint {
    const number = this.tryNext();
    if (number === undefined) throw this.#holder.exhausted(1);
    return number;
  }

  async #list<T extends bigint | string>(
    count: number,
    options: AsyncOptions | undefined,
    areTexts: boolean,
  ): Promise<T[]> {
    const target = new BigUint64Array(whole("INVALID_ARGUMENT", "count", count, 0, Frame.MAX_COUNT));
    const outcome = this.#fill(target, options);
    if (outcome) (await outcome)();
    return listOf(target, areTexts);
  }

  /** Fills the array now, or returns what the caller awaits and calls. */
  #fill(target: BigUint64Array, options: AsyncOptions | undefined): Promise<Outcome<void>> | undefined {
    if (!isIdArray(target, "BigUint64Array"))
      throw configError("INVALID_ARGUMENT", "target", target, PackageRule.ID_ARRAY);
    const count = whole("INVALID_ARGUMENT", "count", lengthOf(target), 0, Frame.MAX_COUNT);
    const signal = signalOf(options);
    signal?.throwIfAborted();
    this.#checkOpen();
    const take = () => this.#take(target, count);
    if (!this.#callers.isFree || !this.#holder.has(count)) return this.#wait(count, signal, take);
    take();
    return undefined;
  }

  /** Fills an array with numbers that are there. */
  #take(target: BigUint64Array, count: number): void {
    this.#checkOpen();
    // Read before a number is taken: a clock that a program has replaced may take numbers, and may show none.
    const nowMs = monotonicClock();
    const holder = this.#holder;
    holder.look(nowMs);
    if (lengthOf(target) < count) throw configError("INVALID_ARGUMENT", "target", target, PackageRule.TARGET_LOST);
    if (!holder.has(count)) throw holder.exhausted(count);
    let isShort = false;
    for (let at = 0; at < count; ) {
      if (holder.ahead === 0) {
        holder.draw(nowMs);
        isShort ||= holder.isShort;
      }
      const taken = Math.min(holder.ahead, count - at);
      holder.write(taken, target, at);
      at += taken;
    }
    if (isShort) this.#callers.ask();
  }

  /** Waits until that many numbers are there, and takes them. The caller calls what this resolves to. */
  #wait<T>(count: number, signal: AbortSignal | undefined, take: () => T): Promise<Outcome<T>> {
    this.#checkOpen();
    return this.#callers.wait(count, signal, take);
  }
}

const closed = (): FrazilError => new ConfigError("CLOSED", "close() was called on this segment");
