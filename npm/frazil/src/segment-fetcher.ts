/**
 * Carries requests for ranges to the store, and the answers back. When to ask, for how many numbers, and what an answer means is
 * decided in the core (`crates/core/src/segment.rs`).
 *
 * - **One attempt at a time.** An answer that comes after its time-out is still taken, unless another try of the attempt was
 *   answered first. A try is given up when the next one has timed out too, so that a store which takes longer than a time-out still
 *   answers, and one that hangs has two tries at most.
 * - **Timers do not keep the process alive.** A caller that waits does.
 */
import { Snowflake } from "frazil";
import { copyIds } from "./arrays.js";
import { monotonicClock } from "./clock.js";
import { digitsAt, writeDigits } from "./digits.js";
import { type FrazilError, LeaseError, refusal } from "./errors.js";
import { Page, Slot } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import { CODES, RULES, SegmentCall, SegmentRequest, SUBJECTS } from "./generated/segment.js";
import { drawRandom, randomFor } from "./kernel-random.js";
import { type Answers, type Port, releaserOf, unclosed } from "./port.js";
import { numberOrNaN } from "./request.js";
import { noAnswer, rejectionError, type StoreContext, untrueAnswer } from "./store-errors.js";
import type { Allocation, SegmentStore } from "./stores/segment-store.js";
import { BROKEN_CLOCK_MS, type Timer, unref } from "./timer.js";

/** What the fetcher needs to know. @internal */
export interface FetcherOptions {
  readonly store: SegmentStore;
  readonly tag: string;
  readonly step: unknown;
  readonly maxStep: unknown;
  readonly growBelowMs: unknown;
  readonly shrinkAboveMs: unknown;
  readonly failoverSkip: number | undefined;
}

/** Counters of a segment. */
export interface SegmentStats {
  /** How many numbers are there to hand out. */
  readonly left: number;
  /** How many ranges they are in: at most two, unless one call wants more than they have. */
  readonly buffers: number;
  /** How many numbers the next range is asked to have. Absent before the first answer of a store that decides it. */
  readonly step?: number;
  /** How many ranges the store allocated, and how many numbers they had. */
  readonly ranges: number;
  readonly allocated: number;
  /** Requests to the store: attempts and their retries. */
  readonly tries: number;
  /** How many of them failed in a row. */
  readonly failures: number;
  /** Why the last one failed, until one succeeds. */
  readonly problem?: FrazilError;
  /** How long the store takes to answer, in milliseconds: the longest of the last answers. */
  readonly fetchMs: number;
  /** How many calls found no number and waited. */
  readonly waits: number;
  /** Whether `close()` was called. */
  readonly closed: boolean;
}

/** Numbers that follow each other, and differ in their lower 32 bits only. @internal */
export type Drawn = readonly [first: bigint, stride: number, count: number];

const ANSWERS: Answers = [CODES, RULES, SUBJECTS];

/** @internal */
export class SegmentFetcher {
  readonly #options: FetcherOptions;
  readonly #port: Port;
  readonly #handle: number;
  readonly #release: () => void;
  readonly #timeoutMs: number;
  /** Drawn with the first request. */
  #holder: string | undefined;
  /** How many numbers callers wait for. */
  readonly #wanted: () => number;
  /** How many of the numbers that were drawn are not handed out yet. */
  readonly #ahead: () => number;
  /** Something has changed for callers that wait: numbers are there, or an attempt failed. */
  readonly #changed: (failure?: FrazilError) => void;
  /** Whether another range was needed after the last draw. */
  isShort = false;
  /** How many numbers the core has. */
  left = 0;
  /** How long until the store has answered or is asked again, in milliseconds. */
  #nextMs = 1;
  #timer: Timer | undefined;
  #underWay: AbortController | undefined;
  /** The try before, which timed out, and whose answer would still be taken. */
  #late: AbortController | undefined;
  /** The counters when it was closed. */
  #last: Float64Array | undefined;
  #tries = 0;
  #problem: FrazilError | undefined;

  constructor(
    options: FetcherOptions,
    wanted: () => number,
    ahead: () => number,
    changed: (failure?: FrazilError) => void,
  ) {
    this.#options = options;
    this.#wanted = wanted;
    this.#ahead = ahead;
    this.#changed = changed;
    // Its declaration is internal.
    const port = (Snowflake as unknown as { port(): Port }).port();
    this.#port = port;
    const { step, maxStep, growBelowMs, shrinkAboveMs } = options;
    const { numbers, binding } = port;
    numbers[Slot.HAS_STEP] = Number(step !== undefined);
    numbers[Slot.STEP] = numberOrNaN(step);
    numbers[Slot.MAX_STEP] = numberOrNaN(maxStep);
    numbers[Slot.GROW_BELOW_MS] = numberOrNaN(growBelowMs);
    numbers[Slot.SHRINK_ABOVE_MS] = numberOrNaN(shrinkAboveMs);
    const status = binding.calls.segment(binding.page, 0, SegmentCall.OPEN);
    if (status !== 0) {
      const subject = SUBJECTS[port.numbers[Slot.SUBJECT] as number] as keyof FetcherOptions;
      throw port.error(status, options[subject], undefined, ANSWERS);
    }
    this.#timeoutMs = port.numbers[Slot.TIMEOUT_MS] as number;
    this.#handle = port.numbers[Slot.HANDLE] as number;
    this.#release = releaserOf(port, this.#handle);
    unclosed?.register(this, this.#release, this);
  }

  /** Makes a call of the core. `write` must not run code of the user. */
  #call(call: SegmentCall, write?: (port: Port) => void, given?: unknown): Float64Array {
    const nowMs = monotonicClock();
    const { binding } = this.#port;
    const isDrawing = call === SegmentCall.DRAW || call === SegmentCall.STATUS;
    const random = isDrawing ? undefined : randomFor(binding.backend, call === SegmentCall.ASK);
    const { numbers } = this.#port;
    if (random) numbers.set(random, Slot.RANDOM);
    write?.(this.#port);
    numbers[Slot.MONOTONIC_MS] = nowMs;
    const status = binding.calls.segment(binding.page, this.#handle, call);
    if (status !== 0) throw this.#port.error(status, given, undefined, ANSWERS);
    // Read after the call, during which the memory of WebAssembly may have grown.
    const written = this.#port.numbers;
    this.left = written[Slot.LEFT] as number;
    this.#nextMs = written[Slot.NEXT_MS] as number;
    return written;
  }

  /** Draws numbers; possibly none. If `isShort` is true then, call `ask` when they are handed out. */
  draw(): Drawn {
    const numbers = this.#call(SegmentCall.DRAW, ({ numbers }) => {
      numbers[Slot.WANT] = Number.MAX_SAFE_INTEGER;
    });
    this.isShort = numbers[Slot.SHORT] === 1;
    return [this.#port.ids[0] as bigint, numbers[Slot.STRIDE] as number, numbers[Slot.RANGE_COUNT] as number];
  }

  /** Writes numbers that were drawn into an array, from `at` on. In the core, which writes them faster than a loop over bigints. */
  write([first, stride, count]: Drawn, target: BigUint64Array, at: number): void {
    const { binding } = this.#port;
    for (let written = 0; written < count; ) {
      const wanted = Math.min(count - written, Page.IDS);
      const { numbers, ids } = this.#port;
      ids[0] = first + BigInt(written * stride);
      numbers[Slot.STRIDE] = stride;
      numbers[Slot.WANT] = wanted;
      const status = binding.calls.segment(binding.page, 0, SegmentCall.WRITE);
      if (status !== 0) throw this.#port.error(status, wanted);
      copyIds(this.#port.ids, 0, wanted, target, at + written);
      written += wanted;
    }
  }

  /** Asks the core whether to ask the store, and does it, which may run code of the user. Never throws. */
  ask(): void {
    if (this.#last ?? this.#underWay) return;
    clearTimeout(this.#timer);
    try {
      this.#holder ??= digitsAt(drawRandom(), 0);
      const [wanted, ahead] = [this.#wanted(), this.#ahead()];
      const numbers = this.#call(SegmentCall.ASK, ({ numbers }) => {
        numbers[Slot.WANT] = wanted;
        numbers[Slot.AHEAD] = ahead;
      });
      const request = numbers[Slot.REQUEST] as SegmentRequest;
      if (request === SegmentRequest.WAIT) this.#schedule(numbers[Slot.WAIT_MS] as number);
      else if (request === SegmentRequest.ALLOCATE) void this.#fetch(numbers);
    } catch (error) {
      // Such as: the kernel has no random numbers for a process without file descriptors.
      this.#fail(error);
    }
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = unref(setTimeout(() => this.ask(), ms));
  }

  /** Sends the request that the core has written into the page. Never rejects. */
  async #fetch(numbers: Float64Array): Promise<void> {
    const { store, tag } = this.#options;
    const maxCount = this.#options.maxStep as number;
    const count = numbers[Slot.RANGE_COUNT] as number;
    const above = this.#port.ids[0] as bigint;
    const attempt = digitsAt(numbers, Slot.NONCE);
    const controller = new AbortController();
    this.#underWay = controller;
    this.#tries++;
    const { signal } = controller;
    const limit = unref(setTimeout(() => this.#timedOut(controller), this.#timeoutMs));
    const request = {
      tag,
      count: count || undefined,
      maxCount,
      above,
      failoverSkip: this.#options.failoverSkip ?? 10 * maxCount,
      holder: this.#holder as string,
      attempt,
      signal,
    };
    let answer: Allocation;
    try {
      answer = await store.allocate(request);
    } catch (error) {
      // One that timed out has been counted, and nothing is under way after `close()`.
      if (this.#underWay !== controller) return;
      this.#underWay = undefined;
      this.#fail(error);
      return;
    } finally {
      clearTimeout(limit);
    }
    if (this.#underWay === controller) this.#underWay = undefined;
    if (!this.#last) this.#take(answer, attempt);
  }

  #timedOut(controller: AbortController): void {
    if (this.#underWay !== controller) return;
    this.#underWay = undefined;
    this.#late?.abort();
    this.#late = controller;
    this.#fail(noAnswer("allocate", `within ${this.#timeoutMs} ms`, this.#context));
  }

  /** Gives up the tries of an attempt that was answered, or of which nobody wants an answer. */
  #abort(): void {
    this.#late?.abort();
    this.#underWay?.abort();
    this.#late = undefined;
    this.#underWay = undefined;
  }

  #take(answer: Allocation, attempt: string): void {
    let call = SegmentCall.FAIL;
    try {
      const { attempt: named, first, count, stride = 1, step = 0 } = Object(answer) as Allocation;
      if (named !== attempt) throw refusal(LeaseError, "STORE_REFUSED", "attempt", named, Rule.SAME_GRANT);
      // What the core refuses it counts.
      call = SegmentCall.STATUS;
      const isNumber = typeof first === "bigint" && first >= 0n && first < 2n ** 63n - 1n;
      const numbers = this.#call(
        SegmentCall.TAKE,
        ({ numbers, ids }) => {
          writeDigits(numbers, Slot.NONCE, attempt);
          ids[0] = isNumber ? first : 0n;
          // Refused by the rule for ranges.
          numbers[Slot.RANGE_COUNT] = isNumber ? numberOrNaN(count) : 0;
          numbers[Slot.STRIDE] = numberOrNaN(stride);
          numbers[Slot.STEP] = numberOrNaN(step);
        },
        answer,
      );
      // If not, another try of the attempt was answered before.
      if (numbers[Slot.RANGE_COUNT] === 1) {
        this.#problem = undefined;
        this.#abort();
      }
    } catch (error) {
      const context = this.#context;
      this.#failed(call, untrueAnswer(rejectionError(error, "allocate", context), context));
      return;
    }
    this.#changed();
    this.ask();
  }

  /** An attempt failed, or its outcome is unknown. The next one follows after a pause. Never throws. */
  #fail(error: unknown): void {
    this.#failed(SegmentCall.FAIL, rejectionError(error, "allocate", this.#context));
  }

  #failed(call: SegmentCall, problem: FrazilError): void {
    this.#readNext(call);
    this.#problem = problem;
    this.#schedule(this.#nextMs);
    this.#changed(problem);
  }

  /** Reads when the store is asked again. Without a clock that shows a number that is unknown. */
  #readNext(call: SegmentCall): void {
    try {
      this.#call(call);
    } catch {
      // A clock that a program replaced. What is reported is the failure that came before.
      this.#nextMs = BROKEN_CLOCK_MS;
    }
  }

  get #context(): StoreContext {
    const { store, tag } = this.#options;
    return { store, where: `in the ${store.name} store, tag ${JSON.stringify(tag)}` };
  }

  /** Why a call found no number. */
  exhausted(): FrazilError {
    const problem = this.#problem;
    this.#readNext(SegmentCall.STATUS);
    const why = problem?.message ?? "the store has not answered yet";
    return new LeaseError(
      "SEGMENT_EXHAUSTED",
      `every number is used ${this.#context.where}: ${why}. Retry after ${this.#nextMs} ms.`,
      { retryable: true, retryAfterMs: this.#nextMs, cause: problem },
    );
  }

  /** The counters. `ahead`: how many drawn numbers were not handed out yet. */
  stats(ahead: number, waits: number): SegmentStats {
    const numbers = this.#last ?? this.#call(SegmentCall.STATUS);
    const read = (at: Slot) => numbers[at] as number;
    const [step, problem] = [read(Slot.STEP), this.#problem];
    return {
      left: read(Slot.LEFT) + ahead,
      buffers: read(Slot.BUFFERS),
      ...(step > 0 && { step }),
      ranges: read(Slot.RANGES),
      allocated: read(Slot.GRANTED),
      tries: this.#tries,
      failures: read(Slot.FAILURES),
      ...(problem && { problem }),
      fetchMs: read(Slot.FETCH_MS),
      waits,
      closed: this.#last !== undefined,
    };
  }

  close(): void {
    if (this.#last) return;
    clearTimeout(this.#timer);
    unclosed?.unregister(this);
    // Without the clock, which counters do not need, and which may be broken.
    const { binding, numbers } = this.#port;
    numbers[Slot.MONOTONIC_MS] = 0;
    binding.calls.segment(binding.page, this.#handle, SegmentCall.STATUS);
    this.#last = this.#port.numbers.slice();
    this.#last[Slot.LEFT] = this.#last[Slot.BUFFERS] = 0;
    this.#release();
    this.#abort();
  }
}
