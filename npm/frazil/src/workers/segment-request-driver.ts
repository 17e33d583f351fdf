/**
 * Carries requests for ranges to the store, and the answers back, where each request to the program has its own I/O and may not wait for
 * another's: on Cloudflare Workers. How long one waits for the tries of others is decided in the core
 * (`crates/core/src/segment/patience.rs`).
 *
 * - **No promise, timer or signal is shared between requests**, only numbers. One request asks the store for what all of them lack, and the
 *   others look from time to time whether it is there. If no answer has come after a while, since the request was cancelled or the answer
 *   was lost, a waiting request repeats the attempt. The store answers it with the same range.
 * - **The next range is fetched beside a request**, which does not wait for it.
 */

import { attempt } from "../asking/attempt.js";
import { type Weak, weakly } from "../asking/weak.js";
import { monotonicClock } from "../base/clock.js";
import type { FrazilError } from "../base/errors.js";
import { type Sleeping, sleep, wakeAll } from "../base/wait.js";
import { Slot } from "../generated/abi.js";
import { SegmentCall } from "../generated/segment.js";
import { type HolderOptions, type SegmentAsked, SegmentHolder } from "../segment/holder.js";
import type { Callers, Outcome } from "../segment/numbers.js";
import { taken } from "../segment/waiters.js";
import type { Keep } from "./request-context.js";
import { waitUntil } from "./runtime.js";

/** A request that waits looks again after a quarter more time than before, within these bounds, in milliseconds. */
const FIRST_LOOK_MS = 5;
const LAST_LOOK_MS = 50;
/** For how long after a look a request counts that does not look again: it may have been cancelled. */
const COUNTED_MS = 5 * LAST_LOOK_MS;

/** What a request that lacks numbers finds. */
interface Looked {
  readonly nowMs: number;
  /** How long until a request may ask the store. */
  readonly tryInMs: number;
  /** Why the store refused the last time, if it is not asked again yet. */
  readonly refusal: FrazilError | undefined;
}

/** Asks the store in requests, when the core says so. */
class SegmentRequestDriver extends SegmentHolder {
  #isAsking = false;

  constructor(options: HolderOptions) {
    super(options, true);
  }

  /** Has the store asked beside the request, if that is due and no other request has begun it. Never throws. */
  askBeside(keep: Keep): void {
    if (this.isClosed) return;
    try {
      const carried = this.#asked(SegmentCall.ASK, 0);
      if (carried) keep(carried);
    } catch (error) {
      this.fail(this.rejected(error), 0);
    }
  }

  /** Has the store asked by this request, if that is due. Returns what resolves when it has answered, or not. */
  askOwn(wanted: number): Promise<void> | undefined {
    return this.#asked(SegmentCall.ASK_AGAIN, wanted);
  }

  /** What a request that lacks numbers finds. */
  looked(): Looked {
    const numbers = this.look(monotonicClock());
    const { nowMs, problem } = this;
    const isRefused = (numbers[Slot.REST_MS] as number) > 0 && problem?.retryable === false;
    return { nowMs, tryInMs: numbers[Slot.TRY_IN_MS] as number, refusal: isRefused ? problem : undefined };
  }

  /** Has the store asked for what the core says. */
  #asked(call: SegmentCall.ASK | SegmentCall.ASK_AGAIN, wanted: number): Promise<void> | undefined {
    // workerd may run microtasks while it draws random numbers: other calls of this.
    if (this.#isAsking) return undefined;
    this.#isAsking = true;
    try {
      const asked = this.asked(call, wanted);
      return typeof asked === "object" ? this.#carried(asked) : undefined;
    } finally {
      this.#isAsking = false;
    }
  }

  /** Sends a request. Never rejects. */
  async #carried(asked: SegmentAsked): Promise<void> {
    const error = await attempt(
      new Set(),
      (signal) => this.options.store.allocate({ ...asked.request, signal }),
      (answer) => {
        this.take(answer, asked);
      },
      this.timeoutMs,
      false,
      (error, isGivenUp) => (isGivenUp ? this.noAnswer() : this.rejected(error)),
    );
    if (error) this.fail(error, asked.number);
  }
}

/** What a request waits for. It counts until `untilMs`. */
interface Want {
  readonly count: number;
  untilMs: number;
}

/** @internal */
export class RequestCallers implements Callers {
  readonly holder: SegmentRequestDriver;
  /** Requests do not stand in line: none can be woken by another. */
  readonly isFree = true;
  readonly opened: Weak<object> = weakly(this);
  waits = 0;
  readonly #limitMs: number;
  readonly #onEnd: () => void;
  readonly #wants = new Set<Want>();
  #ended: Outcome<never> | undefined;

  constructor(options: HolderOptions, limitMs: number, onEnd: () => void) {
    this.#limitMs = limitMs;
    this.#onEnd = onEnd;
    this.holder = new SegmentRequestDriver(options);
  }

  ask(keep: Keep = waitUntil): void {
    // Not by `queueMicrotask`: fake timers replace it, and take what is queued with them.
    void Promise.resolve().then(() => this.holder.askBeside(keep));
  }

  async wait<T>(count: number, signal: AbortSignal | undefined, take: () => T): Promise<Outcome<T>> {
    this.waits++;
    const { holder } = this;
    const want = { count, untilMs: 0 };
    // Of this request alone: woken when its own try has ended, and when its time is over.
    const sleeping: Sleeping = new Set();
    let isOver = this.#limitMs === 0;
    const limit = setTimeout(() => {
      isOver = true;
      wakeAll(sleeping);
    }, this.#limitMs);
    try {
      for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(LAST_LOOK_MS, 1.25 * lookMs)) {
        if (this.#ended) return this.#ended;
        if (holder.has(count)) return taken(take);
        const { nowMs, tryInMs, refusal } = holder.looked();
        if (refusal || isOver)
          return () => {
            throw refusal ?? holder.exhausted(count);
          };
        want.untilMs = nowMs + COUNTED_MS;
        this.#wants.add(want);
        const carried = tryInMs > 0 ? undefined : holder.askOwn(this.#wanted(want.untilMs));
        // The answer counts for other requests too, also if this one does not wait for it.
        if (carried) waitUntil(carried.then(() => wakeAll(sleeping)));
        await sleep(lookMs, signal, sleeping);
      }
    } finally {
      clearTimeout(limit);
      this.#wants.delete(want);
    }
  }

  /** How many numbers the requests that wait want. Forgets those that do not look any more. `untilMs`: of one that looks now. */
  #wanted(untilMs: number): number {
    let wanted = 0;
    for (const want of this.#wants) {
      if (Math.abs(untilMs - want.untilMs) < COUNTED_MS) wanted += want.count;
      else this.#wants.delete(want);
    }
    return wanted;
  }

  end(failed: Outcome<never>): void {
    this.#ended = failed;
    this.#onEnd();
  }
}
