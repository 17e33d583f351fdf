/**
 * Carries requests for ranges to the store, and the answers back, with timers.
 *
 * - **One attempt at a time.** An answer that comes after its time-out is still taken, unless another try of the attempt was answered
 *   first. A try is given up when the next one has timed out too. So a store that takes longer than a time-out still answers, and one that
 *   hangs has at most two tries.
 * - **Timers do not keep the process alive.** A caller that waits does.
 */

import { type Timer, timeOut, unref } from "../asking/timer.js";
import type { Weak } from "../asking/weak.js";
import { monotonicClock } from "../base/clock.js";
import type { FrazilError } from "../base/errors.js";
import { SegmentCall } from "../generated/segment.js";
import type { Allocation } from "../stores/segment-store.js";
import { type HolderOptions, type SegmentAsked, SegmentHolder } from "./holder.js";

/** The object that hands the numbers out. @internal */
export interface CallersView {
  /** How many numbers callers wait for. */
  wanted(): number;
  /** Something has changed for callers that wait: numbers are there, or an attempt failed. */
  changed(failure?: FrazilError): void;
}

/** A try, and what gives it up. */
interface Try {
  readonly number: number;
  readonly controller: AbortController;
}

/** @internal */
export class SegmentTimerDriver extends SegmentHolder {
  readonly #callers: Weak<CallersView>;
  #timer: Timer | undefined;
  /** Whether a look at what is needed is queued. */
  #isAsking = false;
  #underWay: Try | undefined;
  /** The try before, which timed out, and whose answer would still be taken. */
  #late: Try | undefined;

  constructor(options: HolderOptions, callers: Weak<CallersView>) {
    super(options, false);
    this.#callers = callers;
  }

  /**
   * Asks the store soon, if the core says so. Not on the stack of the call, which takes numbers: the store is code of the user, and
   * what becomes of the try may serve calls that wait.
   */
  ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    // Not by `queueMicrotask`: fake timers replace it, and take what is queued with them.
    void Promise.resolve().then(() => {
      this.#isAsking = false;
      this.#ask();
    });
  }

  /** Asks the core whether to ask the store, and does it. Never throws. */
  #ask(): void {
    if (this.isClosed) return;
    clearTimeout(this.#timer);
    const callers = this.#callers.deref();
    // It was garbage-collected, and not closed.
    if (callers === undefined) {
      this.close();
      return;
    }
    try {
      if (this.#underWay) {
        // Its timer may be lost, as with a clock that a test took back.
        this.look(monotonicClock());
        if (this.nextMs > 1) this.#schedule(this.nextMs);
        else this.#timedOut(this.#underWay);
        return;
      }
      const asked = this.asked(SegmentCall.ASK, callers.wanted());
      if (asked === "wait") this.#schedule(this.nextMs);
      else if (asked) void this.#fetch(asked);
    } catch (error) {
      // Such as: the kernel has no random numbers for a process without file descriptors.
      this.#failed(this.rejected(error), 0);
    }
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = unref(setTimeout(() => this.ask(), ms));
  }

  /** Sends a request. Never rejects. */
  async #fetch(asked: SegmentAsked): Promise<void> {
    const { number, request } = asked;
    const controller = new AbortController();
    const underWay = { number, controller };
    this.#underWay = underWay;
    const { signal } = controller;
    const limit = unref(setTimeout(() => this.#timedOut(underWay), this.timeoutMs));
    let answer: Allocation;
    try {
      answer = await this.options.store.allocate({ ...request, signal });
    } catch (error) {
      // One that timed out has been counted, and nothing is under way after `close()`.
      if (this.#underWay !== underWay) return;
      this.#underWay = undefined;
      this.#failed(this.rejected(error), number);
      return;
    } finally {
      clearTimeout(limit);
    }
    // Another try of the attempt may have been answered before.
    if (this.attempt !== request.attempt) return;
    if (this.#underWay === underWay) this.#underWay = undefined;
    const problem = this.take(answer, asked);
    // The attempt is over. Its other try is, too.
    if (this.attempt === undefined) this.#abort();
    if (problem) {
      this.#wait(problem);
      return;
    }
    this.#callers.deref()?.changed();
    this.ask();
  }

  #timedOut(underWay: Try): void {
    if (this.#underWay !== underWay) return;
    this.#underWay = undefined;
    this.#late?.controller.abort(timeOut());
    this.#late = underWay;
    this.#failed(this.noAnswer(), underWay.number);
  }

  /** Gives up the tries of an attempt that was answered, or whose answer no caller wants. */
  #abort(): void {
    this.#late?.controller.abort(timeOut());
    this.#underWay?.controller.abort();
    this.#late = undefined;
    this.#underWay = undefined;
  }

  /** A try failed, or its outcome is unknown. Never throws. */
  #failed(problem: FrazilError, number: number): void {
    this.fail(problem, number);
    this.#wait(problem);
  }

  /** The next try follows after a pause. */
  #wait(problem: FrazilError): void {
    this.#schedule(this.nextMs);
    this.#callers.deref()?.changed(problem);
  }

  override close(): void {
    if (this.isClosed) return;
    clearTimeout(this.#timer);
    super.close();
    this.#abort();
  }
}
