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

import { Snowflake } from "frazil";
import { type Weak, weakly } from "../asking/weak.js";
import type { FrazilError } from "../base/errors.js";
import type { SegmentStore } from "../stores/segment-store.js";
import type { HolderOptions } from "./holder.js";
import { type Callers, type Outcome, SegmentNumbers, type SegmentOptions } from "./numbers.js";
import { type CallersView, SegmentTimerDriver } from "./timer-driver.js";
import { SegmentWaiters } from "./waiters.js";

export type { AsyncOptions } from "../generator/options.js";
export type { AllocateRequest, Allocation, SegmentStore, TagOptions } from "../stores/segment-store.js";
export type { SegmentStats } from "./holder.js";
export type { SegmentNumbers, SegmentOptions } from "./numbers.js";

/** Asks the store with timers, and serves calls that wait in the order in which they came. */
class QueuedCallers implements Callers {
  readonly holder: SegmentTimerDriver;
  readonly opened: Weak<object>;
  waits = 0;
  readonly #waiters: SegmentWaiters;
  /** What the driver sees of this. It refers to it weakly, so that an unused segment is garbage-collected. */
  readonly #view: CallersView;

  constructor(options: HolderOptions, limitMs: number) {
    this.#view = {
      wanted: () => this.#waiters.wanted,
      changed: (failure) => this.#changed(failure),
    };
    const view = weakly(this.#view);
    this.opened = view;
    this.holder = new SegmentTimerDriver(options, view);
    const { holder } = this;
    this.#waiters = new SegmentWaiters(
      (count) => holder.has(count),
      limitMs,
      (count) => holder.exhausted(count),
    );
  }

  get isFree(): boolean {
    return this.#waiters.isFree;
  }

  ask(): void {
    this.holder.ask();
  }

  wait<T>(count: number, signal: AbortSignal | undefined, take: () => T): Promise<Outcome<T>> {
    const outcome = this.#waiters.wait(count, signal, take);
    this.#waiters.serve();
    if (!this.#waiters.isEmpty) {
      this.waits++;
      this.holder.ask();
    }
    return outcome;
  }

  end(failed: Outcome<never>): void {
    this.#waiters.endAll(failed);
  }

  /** Serves the calls that wait, or fails them if asking again does not help. */
  #changed(failure: FrazilError | undefined): void {
    if (failure === undefined || failure.retryable) this.#waiters.serve();
    else
      this.#waiters.endAll(() => {
        throw failure;
      });
  }
}

/**
 * Hands out the numbers of a tag. They increase, and no number is handed out twice, by this process or another. They are not
 * without gaps: what a process has not handed out when it ends is lost. Every method can be called detached from the object.
 *
 * Calls that wait are served in the order in which they came. No call fails while its numbers are there: when its time is over, or
 * the store refuses, it takes them also before calls that came earlier and want more.
 *
 * Not for requests of Workers, which must not share one, since what one of them awaits ends with it: `segmented()` of
 * `frazil/workers` is.
 */
export class Segment extends SegmentNumbers {
  /** Keeps the name when a minifier renames the class. @internal */
  static override readonly name: string = "Segment";

  /**
   * Asks nothing of the store: the first call for a number does.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for an object that is no store; `INVALID_OPTION`; `STATE_CONFLICT` if the store object
   * has an open segment of this tag; `WASM_UNAVAILABLE`.
   */
  constructor(store: SegmentStore, options: SegmentOptions) {
    super(store, options, {
      maxStep: 1_000_000,
      identity: store,
      callers: (...given) => new QueuedCallers(...given),
      core: Snowflake,
    });
  }
}
