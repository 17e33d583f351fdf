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
import { type FrazilError, LeaseError, refusal, show } from "./errors.js";
import { Page, Slot } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import { CODES, RULES, SegmentCall, SegmentRequest, SUBJECTS } from "./generated/segment.js";
import { drawRandom, randomFor } from "./kernel-random.js";
import { type Answers, type Port, releaserOf, unclosed } from "./port.js";
import { numberOrNaN } from "./request.js";
import { noAnswer, rejectionError, type StoreContext, untrueAnswer } from "./store-errors.js";
import type { Allocation, SegmentStore } from "./stores/segment-store.js";
import { BROKEN_CLOCK_MS, type Timer, unref } from "./timer.js";

/** What is known of a tag of a store object. @internal */
export interface TagState {
  /** The end of all that was allocated to this process. No range begins below it, also that of a later segment. */
  above: bigint;
  /** The segment that is open, unless it was garbage-collected. */
  open?: Weak<FetcherOwner> | undefined;
}

/** Whoever hands the numbers out. @internal */
export interface FetcherOwner {
  /** How many numbers callers wait for, beyond those that were drawn. */
  wanted(): number;
  /** How many of the numbers that were drawn are not handed out yet. */
  ahead(): number;
  /** Something has changed for callers that wait: numbers are there, or an attempt failed. */
  changed(failure?: FrazilError): void;
}

/** A reference that does not keep an object. */
interface Weak<T> {
  deref(): T | undefined;
}

/** Workers with a compatibility date before 2025-05-05 have no weak references. @internal */
export const weakly = <T extends object>(target: T): Weak<T> =>
  typeof WeakRef === "undefined" ? { deref: () => target } : new WeakRef(target);

/** What the fetcher needs to know. @internal */
export interface FetcherOptions {
  readonly store: SegmentStore;
  /** The name of the store. */
  readonly name: string;
  readonly state: TagState;
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
export interface Drawn {
  readonly first: bigint;
  readonly stride: number;
  readonly count: number;
}

/** How long a call that found nothing may wait before it tries again, while the store is asked, in milliseconds. */
const FIRST_PAUSE_MS = 50;

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
  readonly #owner: Weak<FetcherOwner>;
  /** Whether another range was needed after the last draw. */
  isShort = false;
  /** How many numbers the core has. */
  left = 0;
  /** How long until the store is asked again, or until the try under way is over, in milliseconds. */
  #nextMs = 1;
  #buffers = 0;
  #fetchMs = 0;
  #isNew = true;
  /** Whether the numbers that were drawn last are the rest of a range, which the core does not count any more. */
  #isRest = false;
  /** The last time that the clock showed. */
  #nowMs = 0;
  #timer: Timer | undefined;
  /** The attempt whose answer would be taken. */
  #attempt: string | undefined;
  /** Whether a look at what is needed is queued. */
  #isAsking = false;
  #underWay: AbortController | undefined;
  /** The try before, which timed out, and whose answer would still be taken. */
  #late: AbortController | undefined;
  /** The counters when it was closed. */
  #last: Float64Array | undefined;
  #tries = 0;
  #problem: FrazilError | undefined;

  constructor(options: FetcherOptions, owner: Weak<FetcherOwner>) {
    this.#options = options;
    this.#owner = owner;
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
  #call(call: SegmentCall, write?: (port: Port) => void, given?: unknown, nowMs = monotonicClock()): Float64Array {
    const { binding } = this.#port;
    const isDrawing = call === SegmentCall.DRAW || call === SegmentCall.STATUS;
    const random = isDrawing ? undefined : randomFor(binding.backend, call === SegmentCall.ASK);
    const { numbers } = this.#port;
    if (random) numbers.set(random, Slot.RANDOM);
    write?.(this.#port);
    numbers[Slot.MONOTONIC_MS] = nowMs;
    const status = binding.calls.segment(binding.page, this.#handle, call);
    if (status !== 0) throw this.#port.error(status, given, undefined, ANSWERS);
    this.#nowMs = nowMs;
    // Read after the call, during which the memory of WebAssembly may have grown.
    const written = this.#port.numbers;
    this.left = written[Slot.LEFT] as number;
    this.#buffers = written[Slot.BUFFERS] as number;
    this.#fetchMs = written[Slot.FETCH_MS] as number;
    this.#isNew = written[Slot.RANGES] === 0;
    this.#nextMs = written[Slot.NEXT_MS] as number;
    return written;
  }

  /** Looks what is there. */
  look(nowMs: number): void {
    this.#call(SegmentCall.STATUS, undefined, undefined, nowMs);
  }

  /** Draws numbers; possibly none. If `isShort` is true then, call `ask` when they are handed out. Runs no code of the user. */
  draw(nowMs: number): Drawn {
    const before = this.#buffers;
    const write = ({ numbers }: Port) => {
      numbers[Slot.WANT] = Number.MAX_SAFE_INTEGER;
    };
    const numbers = this.#call(SegmentCall.DRAW, write, undefined, nowMs);
    this.isShort = numbers[Slot.SHORT] === 1;
    this.#isRest = this.#buffers < before;
    // No list, whose iterator a program can replace.
    return {
      first: this.#port.ids[0] as bigint,
      stride: numbers[Slot.STRIDE] as number,
      count: numbers[Slot.RANGE_COUNT] as number,
    };
  }

  /** Writes numbers that were drawn into an array, from `at` on. In the core, which writes them faster than a loop over bigints. */
  write({ first, stride, count }: Drawn, target: BigUint64Array, at: number): void {
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
    if (this.#last) return;
    clearTimeout(this.#timer);
    const owner = this.#owner.deref();
    // It was garbage-collected, and not closed.
    if (owner === undefined) {
      this.close();
      return;
    }
    try {
      if (this.#underWay) {
        // Its timer may be lost: with the request of a Worker, or with a clock that a test took back.
        this.look(monotonicClock());
        if (this.#nextMs > 1) this.#schedule(this.#nextMs);
        else this.#timedOut(this.#underWay);
        return;
      }
      this.#holder ??= digitsAt(drawRandom(), 0);
      const wanted = owner.wanted();
      const ahead = owner.ahead();
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
    const { store, tag, state } = this.#options;
    const maxCount = this.#options.maxStep as number;
    const count = numbers[Slot.RANGE_COUNT] as number;
    const own = this.#port.ids[0] as bigint;
    const attempt = digitsAt(numbers, Slot.NONCE);
    const controller = new AbortController();
    this.#attempt = attempt;
    this.#underWay = controller;
    this.#tries++;
    const { signal } = controller;
    const limit = unref(setTimeout(() => this.#timedOut(controller), this.#timeoutMs));
    const request = {
      tag,
      count: count || undefined,
      maxCount,
      above: own > state.above ? own : state.above,
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
    // Another try of the attempt may have been answered before.
    if (this.#attempt !== attempt) return;
    if (this.#underWay === controller) this.#underWay = undefined;
    this.#take(answer, attempt);
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
    this.#attempt = undefined;
  }

  #take(answer: Allocation, attempt: string): void {
    const { state } = this.#options;
    let call = SegmentCall.FAIL;
    let isBelow = false;
    let given = "";
    try {
      const { attempt: named, first, count, stride = 1, step = 0 } = Object(answer) as Allocation;
      if (named !== attempt) throw refusal(LeaseError, "STORE_REFUSED", "attempt", named, Rule.SAME_GRANT);
      given = `first ${show(first)}, count ${show(count)}, stride ${show(stride)}, step ${show(step)}`;
      const isNumber = typeof first === "bigint" && first >= 0n && first < 2n ** 63n - 1n;
      // The core knows what was allocated to this segment alone, and ends an attempt whose range has no numbers.
      isBelow = isNumber && first < state.above;
      // What the core refuses it counts.
      call = SegmentCall.STATUS;
      const write = ({ numbers, ids }: Port) => {
        writeDigits(numbers, Slot.NONCE, attempt);
        ids[0] = isNumber ? first : 0n;
        // Refused by the rule for ranges.
        numbers[Slot.RANGE_COUNT] = isNumber && !isBelow ? numberOrNaN(count) : 0;
        numbers[Slot.STRIDE] = numberOrNaN(stride);
        numbers[Slot.STEP] = numberOrNaN(step);
      };
      this.#call(SegmentCall.TAKE, write, given);
      state.above = first + BigInt(stride) * BigInt(count - 1) + 1n;
      this.#problem = undefined;
      this.#abort();
    } catch (error) {
      // The attempt is over. Its other try is, too.
      if (call === SegmentCall.STATUS) this.#abort();
      const context = this.#context;
      const problem = isBelow
        ? refusal(LeaseError, "STORE_REFUSED", "segment", given, Rule.SEGMENT_ABOVE)
        : rejectionError(error, "allocate", context);
      this.#failed(call, untrueAnswer(problem, context));
      return;
    }
    this.#owner.deref()?.changed();
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
    this.#owner.deref()?.changed(problem);
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
    const { store, name, tag } = this.#options;
    return { store, where: `in the ${name} store, tag ${JSON.stringify(tag)}` };
  }

  /** Why a call found fewer numbers than it wants. `ahead`: how many drawn numbers were not handed out yet. */
  exhausted(count: number, ahead: number): FrazilError {
    const problem = this.#problem;
    this.#readNext(SegmentCall.STATUS);
    const left = this.left + ahead;
    let what = "every number is used";
    if (this.#isNew) what = "no number was allocated yet";
    else if (left > 0)
      what = `the call wants ${count} numbers, of which ${left} are there: ask for fewer, or raise maxStep,`;
    const why = problem?.message ?? "the store has not answered yet";
    // An answer is sooner there than the time of the try is over.
    const retryAfterMs = this.#underWay
      ? Math.min(this.#nextMs, Math.max(this.#fetchMs, FIRST_PAUSE_MS))
      : this.#nextMs;
    return new LeaseError(
      "SEGMENT_EXHAUSTED",
      `${what} ${this.#context.where}: ${why}. Retry after ${retryAfterMs} ms.`,
      { retryable: true, retryAfterMs, cause: problem },
    );
  }

  /** The counters. `ahead`: how many drawn numbers were not handed out yet. */
  stats(ahead: number, waits: number): SegmentStats {
    // Without the clock, which counters do not need, and which may be broken.
    const numbers = this.#last ?? this.#call(SegmentCall.STATUS, undefined, undefined, this.#nowMs);
    const read = (at: Slot) => numbers[at] as number;
    const [step, problem] = [read(Slot.STEP), this.#problem];
    return {
      left: read(Slot.LEFT) + ahead,
      buffers: read(Slot.BUFFERS) + Number(this.#isRest && ahead > 0),
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
    // Without the clock, as in `stats`.
    this.#last = this.#call(SegmentCall.STATUS, undefined, undefined, this.#nowMs).slice();
    this.left = this.#last[Slot.LEFT] = this.#last[Slot.BUFFERS] = 0;
    this.#release();
    this.#abort();
  }
}
