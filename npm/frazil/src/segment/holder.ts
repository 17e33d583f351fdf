/**
 * The numbers of a segment as the core has them, and what the outcome of a request to the store means. When to ask, for how many numbers,
 * and what an answer means is decided in the core (`crates/core/src/segment`). Derived classes decide how requests are carried:
 * `SegmentTimerDriver` has timers, and one attempt at a time; on Cloudflare Workers each request that is blocked makes its own try
 * (`SegmentRequestDriver`).
 */
import { digitsAt, writeDigits } from "../asking/digits.js";
import { drawRandom, randomFor } from "../asking/kernel-random.js";
import { noAnswer, rejectionError, type StoreContext, untrueAnswer } from "../asking/store-errors.js";
import { BROKEN_CLOCK_MS } from "../asking/timer.js";
import type { Weak } from "../asking/weak.js";
import { copyIds } from "../base/arrays.js";
import { monotonicClock } from "../base/clock.js";
import { type FrazilError, LeaseError, refusal, show } from "../base/errors.js";
import { PackageRule } from "../base/package-rules.js";
import { type Answers, type Port, releaserOf, unclosed } from "../core/port.js";
import { Frame, Slot } from "../generated/abi.js";
import { Rule } from "../generated/rules.js";
import { CODES, RULES, SegmentCall, SegmentRequest, SUBJECTS } from "../generated/segment.js";
import { numberOrNaN } from "../generator/request.js";
import { LOW } from "../layout/bits.js";
import type { AllocateRequest, Allocation, SegmentStore } from "../stores/segment-store.js";

/** What is known of a tag of a store object. @internal */
export interface TagState {
  /** The end of all that was allocated to this process. No range begins below it, not even a later segment's. */
  above: bigint;
  /** The segment that is open, unless it was garbage-collected. */
  open?: Weak<object> | undefined;
}

/** Leads to the instance of the core that has the ranges: that of generators, or any other, since they share nothing. @internal */
export interface Core {
  port(): Port;
}

/** What the holder needs to know. @internal */
export interface HolderOptions {
  readonly core: Core;
  readonly store: SegmentStore;
  /** The name of the store, in errors. */
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

const ANSWERS: Answers = [CODES, RULES, SUBJECTS];

/** A request to the store that the core has written into the frame. @internal */
export interface SegmentAsked {
  /** The number of the try, and when it began. */
  readonly number: number;
  readonly atMs: number;
  readonly request: AllocateRequest;
}

/** @internal */
export abstract class SegmentHolder {
  protected readonly options: HolderOptions;
  readonly #port: Port;
  readonly #handle: number;
  readonly #release: () => void;
  protected readonly timeoutMs: number;
  /** Drawn with the first request. */
  #holder: string | undefined;
  /** Whether another range is needed, as far as the last call says. */
  isShort = false;
  /** How many numbers the core has. */
  #left = 0;
  /** How many of those that were drawn are not handed out. */
  ahead = 0;
  // The first of these. They differ in their lower 32 bits only, so a number is one addition to those and one read.
  readonly #next = new BigUint64Array(1);
  readonly #halves = new Uint32Array(this.#next.buffer);
  #stride = 1;
  /** How long until the store is asked again, or until the try under way is over, in milliseconds. */
  protected nextMs = 1;
  /** How long a call that found no number may wait before it tries again, in milliseconds. */
  #retryMs = 1;
  #isNew = true;
  /** The time of the last call. */
  protected nowMs = 0;
  /** The attempt whose answer would be taken. */
  protected attempt: string | undefined;
  /** The counters when it was closed. */
  #last: Float64Array | undefined;
  /** Why the last try failed, until one succeeds. */
  protected problem: FrazilError | undefined;

  /** `byCalls`: whether each call that waits asks by itself. */
  constructor(options: HolderOptions, byCalls: boolean) {
    this.options = options;
    const port = options.core.port();
    this.#port = port;
    const { step, maxStep, growBelowMs, shrinkAboveMs } = options;
    const { numbers, binding } = port;
    numbers[Slot.BY_CALLS] = Number(byCalls);
    numbers[Slot.HAS_STEP] = Number(step !== undefined);
    numbers[Slot.STEP] = numberOrNaN(step);
    numbers[Slot.MAX_STEP] = numberOrNaN(maxStep);
    numbers[Slot.GROW_BELOW_MS] = numberOrNaN(growBelowMs);
    numbers[Slot.SHRINK_ABOVE_MS] = numberOrNaN(shrinkAboveMs);
    const status = binding.calls.segment(binding.frame, 0, SegmentCall.OPEN);
    if (status !== 0) {
      const subject = SUBJECTS[port.numbers[Slot.SUBJECT] as number] as keyof HolderOptions;
      throw port.error(status, options[subject], undefined, ANSWERS);
    }
    this.timeoutMs = port.numbers[Slot.TIMEOUT_MS] as number;
    this.#handle = port.numbers[Slot.HANDLE] as number;
    this.#release = releaserOf(port, this.#handle);
    unclosed?.register(this, this.#release, this);
  }

  protected get isClosed(): boolean {
    return this.#last !== undefined;
  }

  /** Makes a call of the core. `write` must not run code of the user. */
  protected call(
    call: SegmentCall,
    write?: (port: Port) => void,
    given?: unknown,
    nowMs = monotonicClock(),
  ): Float64Array {
    const { binding } = this.#port;
    const needsNone = call === SegmentCall.DRAW || call === SegmentCall.STATUS;
    const isAsking = call === SegmentCall.ASK || call === SegmentCall.ASK_AGAIN;
    const random = needsNone ? undefined : randomFor(binding.backend, isAsking);
    const { numbers } = this.#port;
    if (random) numbers.set(random, Slot.RANDOM);
    numbers[Slot.AHEAD] = this.ahead;
    write?.(this.#port);
    numbers[Slot.MONOTONIC_MS] = nowMs;
    const status = binding.calls.segment(binding.frame, this.#handle, call);
    if (status !== 0) throw this.#port.error(status, given, undefined, ANSWERS);
    // Read after the call, during which the memory of WebAssembly may have grown.
    const written = this.#port.numbers;
    this.nowMs = written[Slot.MONOTONIC_MS] as number;
    this.#left = written[Slot.LEFT] as number;
    this.isShort = written[Slot.SHORT] === 1;
    this.#isNew = written[Slot.RANGES] === 0;
    this.nextMs = written[Slot.NEXT_MS] as number;
    this.#retryMs = written[Slot.RETRY_MS] as number;
    return written;
  }

  /** Whether that many numbers are there. */
  has(count: number): boolean {
    return this.ahead + this.#left >= count;
  }

  /** Looks what is there. */
  look(nowMs: number): Float64Array {
    return this.call(SegmentCall.STATUS, undefined, undefined, nowMs);
  }

  /** Draws numbers, where all that were are handed out; possibly none. If `isShort` is true then, the store is to be asked. */
  draw(nowMs: number): void {
    const write = ({ numbers }: Port) => {
      numbers[Slot.WANT] = Number.MAX_SAFE_INTEGER;
    };
    const numbers = this.call(SegmentCall.DRAW, write, undefined, nowMs);
    this.#next[0] = this.#port.ids[0] as bigint;
    this.#stride = numbers[Slot.STRIDE] as number;
    this.ahead = numbers[Slot.RANGE_COUNT] as number;
  }

  /** Hands out one of the numbers that were drawn. */
  one(): bigint {
    this.ahead--;
    const number = this.#next[0] as bigint;
    (this.#halves[LOW] as number) += this.#stride;
    return number;
  }

  /**
   * Hands out `count` of the numbers that were drawn: writes them into an array, from `at` on. In the core, which writes them faster than
   * a loop over bigints.
   */
  write(count: number, target: BigUint64Array, at: number): void {
    const { binding } = this.#port;
    for (let written = 0; written < count; ) {
      const wanted = Math.min(count - written, Frame.IDS);
      const { numbers, ids } = this.#port;
      ids[0] = this.#next[0] as bigint;
      numbers[Slot.STRIDE] = this.#stride;
      numbers[Slot.WANT] = wanted;
      const status = binding.calls.segment(binding.frame, 0, SegmentCall.WRITE);
      if (status !== 0) throw this.#port.error(status, wanted);
      copyIds(this.#port.ids, 0, wanted, target, at + written);
      (this.#halves[LOW] as number) += wanted * this.#stride;
      this.ahead -= wanted;
      written += wanted;
    }
  }

  /**
   * Asks the core what to request of the store. `wanted`: how many numbers callers wait for. `undefined`: nothing. `"wait"`: nothing for
   * `nextMs`.
   */
  protected asked(call: SegmentCall.ASK | SegmentCall.ASK_AGAIN, wanted: number): SegmentAsked | "wait" | undefined {
    this.#holder ??= digitsAt(drawRandom(), 0);
    const numbers = this.call(call, ({ numbers }) => {
      numbers[Slot.WANT] = wanted;
    });
    const request = numbers[Slot.REQUEST] as SegmentRequest;
    if (request === SegmentRequest.WAIT) return "wait";
    if (request === SegmentRequest.NOTHING) return undefined;
    const { tag, state, failoverSkip } = this.options;
    const maxCount = this.options.maxStep as number;
    const own = this.#port.ids[0] as bigint;
    const attempt = digitsAt(numbers, Slot.NONCE);
    this.attempt = attempt;
    return {
      number: numbers[Slot.ASKED_NUMBER] as number,
      atMs: this.nowMs,
      request: {
        tag,
        count: (numbers[Slot.RANGE_COUNT] as number) || undefined,
        maxCount,
        above: own > state.above ? own : state.above,
        failoverSkip: failoverSkip ?? 10 * maxCount,
        holder: this.#holder,
        attempt,
      },
    };
  }

  /**
   * Takes the answer to the attempt that is under way, and returns the problem if it cannot be true. The attempt is over then, unless
   * that is about another one.
   */
  protected take(answer: Allocation, { number, atMs, request: { attempt } }: SegmentAsked): FrazilError | undefined {
    const { state } = this.options;
    let call = SegmentCall.FAIL;
    let isBelow = false;
    let given = "";
    try {
      const { attempt: named, first, count, stride = 1, step = 0 } = Object(answer) as Allocation;
      if (named !== attempt) throw refusal(LeaseError, "STORE_REFUSED", "attempt", named, PackageRule.SAME_GRANT);
      given = `first ${show(first)}, count ${show(count)}, stride ${show(stride)}, step ${show(step)}`;
      const isNumber = typeof first === "bigint" && first >= 0n && first < 2n ** 63n - 1n;
      // The core knows what was allocated to this segment alone, and ends an attempt whose range has no numbers.
      isBelow = isNumber && first < state.above;
      // The core counts its refusals.
      call = SegmentCall.STATUS;
      const write = ({ numbers, ids }: Port) => {
        writeDigits(numbers, Slot.NONCE, attempt);
        numbers[Slot.ASKED_NUMBER] = number;
        numbers[Slot.ASKED_MONOTONIC_MS] = atMs;
        ids[0] = isNumber ? first : 0n;
        // Refused by the rule for ranges.
        numbers[Slot.RANGE_COUNT] = isNumber && !isBelow ? numberOrNaN(count) : 0;
        numbers[Slot.STRIDE] = numberOrNaN(stride);
        numbers[Slot.STEP] = numberOrNaN(step);
      };
      // Another try of the attempt may have been answered before.
      if (this.call(SegmentCall.TAKE, write, given)[Slot.TAKEN] === 0) return undefined;
      state.above = first + BigInt(stride) * BigInt(count - 1) + 1n;
      this.problem = undefined;
      this.attempt = undefined;
      return undefined;
    } catch (error) {
      if (call === SegmentCall.STATUS) this.attempt = undefined;
      const context = this.context;
      const problem = untrueAnswer(
        isBelow
          ? refusal(LeaseError, "STORE_REFUSED", "segment", given, Rule.SEGMENT_ABOVE)
          : rejectionError(error, "allocate", context),
        context,
      );
      this.#failed(call, problem, number);
      return problem;
    }
  }

  /** A try failed, or its outcome is unknown. The next one follows after a pause. `number`: 0 for what was no try. Never throws. */
  protected fail(problem: FrazilError, number: number): void {
    this.#failed(SegmentCall.FAIL, problem, number);
  }

  #failed(call: SegmentCall, problem: FrazilError, number: number): void {
    // An answer may come after `close()`: on Workers no request is aborted.
    if (this.isClosed) return;
    // Not if another try was answered meanwhile.
    if (this.#readNext(call === SegmentCall.FAIL && !problem.retryable ? SegmentCall.REFUSE : call, number) !== 0)
      this.problem = problem;
  }

  /** Reads when the store is asked again, and how many tries failed. Without a clock that shows a number that is unknown. */
  #readNext(call: SegmentCall, number = 0): number | undefined {
    try {
      const write = ({ numbers }: Port) => {
        numbers[Slot.ASKED_NUMBER] = number;
      };
      return this.call(call, write)[Slot.FAILURES];
    } catch {
      // A clock that a program replaced. Then the earlier failure is reported.
      this.nextMs = this.#retryMs = BROKEN_CLOCK_MS;
      return undefined;
    }
  }

  /** The error for a try that took too long. */
  protected noAnswer(): FrazilError {
    return noAnswer("allocate", `within ${this.timeoutMs} ms`, this.context);
  }

  /** The error for a try that was rejected. */
  protected rejected(error: unknown): FrazilError {
    return rejectionError(error, "allocate", this.context);
  }

  protected get context(): StoreContext {
    const { store, name, tag } = this.options;
    return { store, where: `in the ${name} store, tag ${JSON.stringify(tag)}` };
  }

  /** Why a call found fewer numbers than it wants. */
  exhausted(count: number): FrazilError {
    const { problem } = this;
    this.#readNext(SegmentCall.STATUS);
    const left = this.#left + this.ahead;
    let what = "all numbers are used";
    if (this.#isNew) what = "no number was allocated yet";
    else if (left > 0) what = `numbers left: ${left} of ${count},`;
    const why = problem?.message ?? "the store has not answered yet";
    const fewer = !this.#isNew && left > 0 ? " Ask for fewer, or raise maxStep." : "";
    const retryAfterMs = this.#retryMs;
    return new LeaseError(
      "SEGMENT_EXHAUSTED",
      `${what} ${this.context.where}: ${why}\nRetry after ${retryAfterMs} ms.${fewer} ${problem?.hint ?? ""}`.trim(),
      { retryable: true, retryAfterMs, cause: problem },
    );
  }

  /** The counters. */
  stats(waits: number): SegmentStats {
    // Without the clock, which counters do not need, and which may be broken.
    const numbers = this.#last ?? this.look(this.nowMs);
    const read = (at: Slot) => numbers[at] as number;
    const [step, problem] = [read(Slot.STEP), this.problem];
    return {
      left: read(Slot.LEFT) + this.ahead,
      buffers: read(Slot.BUFFERS),
      ...(step > 0 && { step }),
      ranges: read(Slot.RANGES),
      allocated: read(Slot.ALLOCATED),
      tries: read(Slot.ASKED_NUMBER),
      failures: read(Slot.FAILURES),
      ...(problem && { problem }),
      fetchMs: read(Slot.FETCH_MS),
      waits,
      closed: this.#last !== undefined,
    };
  }

  close(): void {
    if (this.#last) return;
    unclosed?.unregister(this);
    // Without the clock, as in `stats`.
    this.#last = this.look(this.nowMs).slice(0, Frame.NUMBERS);
    this.ahead = this.#left = this.#last[Slot.LEFT] = this.#last[Slot.BUFFERS] = 0;
    this.#release();
    this.attempt = undefined;
  }
}
