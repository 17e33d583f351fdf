/**
 * Carries requests for ranges to the store, and the answers back, where each request to the program has I/O of its own and none may
 * wait for that of another: on Cloudflare Workers.
 *
 * - **No promise, timer or signal is shared between requests**, only numbers. One request asks the store for what all of them lack, and
 *   the others look from time to time whether it is there. If no answer has come after a while, since the request was cancelled or the
 *   answer was lost, a request that waits asks again, with the same attempt, to which the store answers with the same range. Each try
 *   of an attempt has twice the time of the one before, so that a slow store gets few.
 * - **The next range is fetched beside a request**, which does not wait for it.
 * - **After an answer, the other tries of the attempt have a while to end** before the next attempt begins: the store remembers one
 *   attempt of each process, so a try that it carries out later takes another range, which nobody hands out, and another try of the
 *   next attempt does not find its range any more. Both cost numbers, at most two ranges; waiting for it longer would cost time.
 */

import { attempt } from "../asking/attempt.js";
import { type Weak, weakly } from "../asking/weak.js";
import { monotonicClock } from "../base/clock.js";
import type { FrazilError } from "../base/errors.js";
import { type Sleeping, sleep, wakeAll } from "../base/wait.js";
import type { Port } from "../core/port.js";
import { SegmentCall } from "../generated/segment.js";
import { type HolderOptions, type SegmentAsked, SegmentHolder } from "../segment/holder.js";
import type { Callers, Drawable, Outcome } from "../segment/numbers.js";
import { taken } from "../segment/waiters.js";
import type { Keep } from "./request-context.js";
import { waitUntil } from "./runtime.js";

/** A request that waits looks again after a quarter of the time that it has waited, within these bounds, in milliseconds. */
const FIRST_LOOK_MS = 5;
const LAST_LOOK_MS = 50;
/** For how long after a look a request counts that does not look again: it may have been cancelled. */
const COUNTED_MS = 5 * LAST_LOOK_MS;
/**
 * How long the first try of an attempt has before another one is made beside it: twice the time of the last answer, within these bounds,
 * in milliseconds. Each later one has twice as long as the one before, within the last bound.
 */
const MIN_PATIENCE_MS = 50;
const MAX_FIRST_PATIENCE_MS = 500;
const MAX_PATIENCE_MS = 1000;
/** Nothing is waited for longer than the longest pause after failures, in milliseconds. */
const LONGEST_MS = 5000;

/** Asks the store in requests, when the core says so. */
class SegmentRequestDriver extends SegmentHolder {
  /** Why the store refused the last time, so that asking again does not help, and until when it is not asked whether that is so. */
  #refusal: FrazilError | undefined;
  #refusedUntilMs = 0;
  readonly #drawn: Drawable;
  /** The tries that have not ended. Nothing waits longer for them than to `#patientUntilMs`. */
  #underWay = new Set<AbortController>();
  #patientUntilMs = 0;
  /** How long the last try has. */
  #patienceMs = 0;
  /** How long the store took to answer the last try that was taken. */
  #answerMs = 0;
  /** Before this the core says that it is too early after a failure. */
  #restUntilMs = 0;
  #isAsking = false;
  /** The latest time that a request saw. */
  #latestMs = 0;

  constructor(options: HolderOptions, drawn: Drawable) {
    super(options);
    this.#drawn = drawn;
  }

  /**
   * The time for the core: the latest that a request saw. The clocks of two requests differ, and to the core a clock that goes back ends
   * the try under way. One that is behind by more than a try may take was set.
   */
  #steady(nowMs: number): number {
    const behindMs = this.#latestMs - nowMs;
    if (!(behindMs > 0 && behindMs < this.timeoutMs)) this.#latestMs = nowMs;
    return this.#latestMs;
  }

  protected override call(
    call: SegmentCall,
    write?: (port: Port) => void,
    given?: unknown,
    nowMs = monotonicClock(),
  ): Float64Array {
    return super.call(call, write, given, this.#steady(nowMs));
  }

  /** That time now. */
  steadyMs(): number {
    return this.#steady(monotonicClock());
  }

  /** Why the store refused, if it is not asked again yet. */
  refusalAt(nowMs: number): FrazilError | undefined {
    return this.#isBefore(this.#refusedUntilMs, nowMs) ? this.#refusal : undefined;
  }

  /** Has the store asked beside the request, if that is due and no other request has begun it. Never throws. */
  askBeside(keep: Keep): void {
    if (this.isClosed) return;
    try {
      const asked = this.#asked(SegmentCall.ASK, () => 0);
      if (asked) keep(this.#carried(asked));
    } catch (error) {
      this.fail(this.rejected(error), 0);
    }
  }

  /**
   * Has the store asked by this request, if that is due. Returns what resolves when it has answered, or not. `wanted`: how many numbers
   * all requests want that wait.
   */
  askOwn(wanted: () => number): Promise<void> | undefined {
    const asked = this.#asked(SegmentCall.ASK_AGAIN, () => wanted() - this.#drawn.left());
    return asked && this.#carried(asked);
  }

  /** What to request of the store now. `lacking` is called only if that is not too early, since it counts all that wait. */
  #asked(call: SegmentCall.ASK | SegmentCall.ASK_AGAIN, lacking: () => number): SegmentAsked | undefined {
    // workerd may run microtasks while it draws random numbers: other calls of this.
    if (this.#isAsking) return undefined;
    const nowMs = this.steadyMs();
    if (this.#underWay.size > 0 && this.#isBefore(this.#patientUntilMs, nowMs)) return undefined;
    if (this.#isBefore(this.#restUntilMs, nowMs)) return undefined;
    const before = this.attempt;
    // Those of an attempt that is over may never end: the request that made one was cancelled.
    if (before === undefined) this.#underWay = new Set();
    this.#isAsking = true;
    try {
      const asked = this.asked(call, lacking(), this.#drawn.left());
      if (typeof asked !== "object") {
        // Not while a try is under way, beside which a request that waits may make another one.
        if (asked && call === SegmentCall.ASK_AGAIN) this.#restUntilMs = nowMs + this.nextMs;
        return undefined;
      }
      // After a pause a try is the first one of those that follow.
      const isNext = asked.request.attempt === before && nowMs < this.#patientUntilMs + MAX_PATIENCE_MS;
      this.#bePatient(nowMs, isNext ? this.#patienceMs : 0);
      return asked;
    } finally {
      this.#isAsking = false;
    }
  }

  /** Whether a time has not come. One that is further away than any can be was noted before the clock was set back. */
  #isBefore(atMs: number, nowMs: number): boolean {
    const ms = atMs - nowMs;
    return ms > 0 && ms <= LONGEST_MS;
  }

  /** Gives the tries under way their time. `beforeMs`: that of the try before of the same attempt, of which this one has twice. */
  #bePatient(nowMs: number, beforeMs: number): void {
    const firstMs = Math.min(MAX_FIRST_PATIENCE_MS, Math.max(MIN_PATIENCE_MS, 2 * this.#answerMs));
    this.#patienceMs = Math.min(MAX_PATIENCE_MS, Math.max(firstMs, 2 * beforeMs));
    this.#patientUntilMs = nowMs + this.#patienceMs;
  }

  /** Sends a request. Never rejects. */
  async #carried(asked: SegmentAsked): Promise<void> {
    const { request } = asked;
    const beganMs = this.#latestMs;
    let problem: FrazilError | undefined;
    const error = await attempt(
      this.#underWay,
      (signal) => this.options.store.allocate({ ...request, signal }),
      (answer) => {
        const nowMs = this.steadyMs();
        // Another try of the attempt may have been answered before.
        if (this.attempt !== request.attempt) return;
        this.#answerMs = nowMs - beganMs;
        this.#bePatient(nowMs, 0);
        problem = this.take(answer, asked);
        if (problem === undefined) this.#restUntilMs = this.#refusedUntilMs = 0;
      },
      this.timeoutMs,
      false,
      (error, isGivenUp) => (isGivenUp ? this.noAnswer() : this.rejected(error)),
    );
    if (error && this.attempt === request.attempt) {
      this.fail(error, asked.number);
      problem = error;
    }
    if (problem?.retryable !== false) return;
    this.#refusal = problem;
    // Not for as long as a later try has, which may be under way.
    this.#refusedUntilMs = this.#latestMs + Math.min(MAX_PATIENCE_MS, this.nextMs);
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
  readonly #drawn: Drawable;
  readonly #limitMs: number;
  readonly #onEnd: () => void;
  readonly #wants = new Set<Want>();
  #ended: Outcome<never> | undefined;

  constructor(options: HolderOptions, drawn: Drawable, limitMs: number, onEnd: () => void) {
    this.#drawn = drawn;
    this.#limitMs = limitMs;
    this.#onEnd = onEnd;
    this.holder = new SegmentRequestDriver(options, drawn);
  }

  ask(keep: Keep = waitUntil): void {
    // Not by `queueMicrotask`: fake timers replace it, and take what is queued with them.
    void Promise.resolve().then(() => this.holder.askBeside(keep));
  }

  async wait<T>(count: number, signal: AbortSignal | undefined, take: () => T): Promise<Outcome<T>> {
    this.waits++;
    const { holder } = this;
    const want = { count, untilMs: 0 };
    // Of this request alone: woken when a try of its own has ended.
    const answered: Sleeping = new Set();
    try {
      for (let waitedMs = 0; ; ) {
        if (this.#ended) return this.#ended;
        if (this.#drawn.has(count)) return taken(take);
        const nowMs = holder.steadyMs();
        const refusal = holder.refusalAt(nowMs);
        if (refusal || waitedMs >= this.#limitMs)
          return () => {
            throw refusal ?? holder.exhausted(count, this.#drawn.left());
          };
        want.untilMs = nowMs + COUNTED_MS;
        this.#wants.add(want);
        const carried = holder.askOwn(() => this.#wanted(want.untilMs));
        // The answer counts for other requests too, also if this one does not wait for it.
        if (carried) waitUntil(carried.then(() => wakeAll(answered)));
        const lookMs = Math.min(LAST_LOOK_MS, Math.max(FIRST_LOOK_MS, waitedMs / 4));
        waitedMs += await sleep(Math.min(lookMs, this.#limitMs - waitedMs), signal, answered);
      }
    } finally {
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
