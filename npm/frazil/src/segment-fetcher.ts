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
import { ConfigError, type ErrorCode, FrazilError, LeaseError, refusal } from "./errors.js";
import { First, Page, Slot } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import { CODES, RULES, SegmentCall, SegmentRequest, SUBJECTS } from "./generated/segment.js";
import { drawRandom } from "./lease-random.js";
import { type Port, releaserOf } from "./port.js";
import { numberOrNaN } from "./request.js";
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
  readonly failoverSkip: number;
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
  /** Requests to the store. */
  readonly attempts: number;
  /** How many attempts failed in a row. */
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

/** Releases the handle of a segment that was garbage-collected and never closed. */
const unclosed =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : /* @__PURE__ */ new FinalizationRegistry<() => void>((release) => release());

/** The error for a status of a call for segments. `value` is what the caller or the store gave. */
function errorOf(port: Port, status: number, value: (subject: string) => unknown): FrazilError {
  const { numbers } = port;
  const rule = RULES[numbers[Slot.RULE] as number];
  const subject = SUBJECTS[numbers[Slot.SUBJECT] as number];
  const code = CODES[status] as ErrorCode | undefined;
  if (rule === undefined && subject === undefined) return port.error(status, value(port.subject));
  const known = subject ?? port.subject;
  const Class = status < First.LeaseError ? ConfigError : LeaseError;
  const [min, max] = [numbers[Slot.MIN], numbers[Slot.MAX]];
  return refusal(Class, code ?? "INVALID_OPTION", known, value(known), rule ?? Rule.WHOLE_NUMBER, min, max);
}

/** @internal */
export class SegmentFetcher {
  readonly #options: FetcherOptions;
  readonly #port: Port;
  readonly #handle: number;
  readonly #timeoutMs: number;
  /** Drawn with the first request. */
  #holder: string | undefined;
  /** How many numbers callers wait for. */
  readonly #wanted: () => number;
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
  #isClosed = false;
  #attempts = 0;
  #problem: FrazilError | undefined;

  constructor(options: FetcherOptions, wanted: () => number, changed: (failure?: FrazilError) => void) {
    this.#options = options;
    this.#wanted = wanted;
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
    if (status !== 0) throw errorOf(port, status, (subject) => options[subject as keyof FetcherOptions]);
    this.#timeoutMs = port.numbers[Slot.TIMEOUT_MS] as number;
    this.#handle = port.numbers[Slot.HANDLE] as number;
    unclosed?.register(this, releaserOf(port, this.#handle), this);
  }

  /** Makes a call of the core. `write` must not run code of the user. */
  #call(call: SegmentCall, write?: (port: Port) => void, given?: unknown): Float64Array {
    const nowMs = monotonicClock();
    const { binding } = this.#port;
    // The native addon draws from the kernel instead. Other calls than `ASK` need only jitter, and must not fail.
    let random: Uint32Array | undefined;
    if (binding.backend === "wasm" && call === SegmentCall.ASK) random = drawRandom();
    else if (binding.backend === "wasm" && (call === SegmentCall.TAKE || call === SegmentCall.FAIL))
      random = crypto.getRandomValues(new Uint32Array(8));
    const { numbers } = this.#port;
    if (random) numbers.set(random, Slot.RANDOM);
    write?.(this.#port);
    numbers[Slot.MONOTONIC_MS] = nowMs;
    const status = binding.calls.segment(binding.page, this.#handle, call);
    if (status !== 0) throw errorOf(this.#port, status, () => given);
    // Read after the call, during which the memory of WebAssembly may have grown.
    const written = this.#port.numbers;
    this.left = written[Slot.LEFT] as number;
    this.#nextMs = written[Slot.NEXT_MS] as number;
    return written;
  }

  /** Draws up to `want` numbers; possibly none. If `isShort` is true then, call `ask` when they are handed out. */
  draw(want: number): Drawn {
    const numbers = this.#call(SegmentCall.DRAW, ({ numbers }) => {
      numbers[Slot.WANT] = want;
    });
    this.isShort = numbers[Slot.SHORT] === 1;
    return {
      first: this.#port.ids[0] as bigint,
      stride: numbers[Slot.STRIDE] as number,
      count: numbers[Slot.RANGE_COUNT] as number,
    };
  }

  /** Writes numbers that were drawn into an array, from `at` on. */
  write({ first, stride, count }: Drawn, target: BigUint64Array, at: number): void {
    const { binding } = this.#port;
    for (let written = 0; written < count; ) {
      const wanted = Math.min(count - written, Page.IDS);
      const { numbers, ids } = this.#port;
      ids[0] = first + BigInt(written * stride);
      numbers[Slot.STRIDE] = stride;
      numbers[Slot.WANT] = wanted;
      const status = binding.calls.segment(binding.page, 0, SegmentCall.WRITE);
      if (status !== 0) throw errorOf(this.#port, status, () => wanted);
      copyIds(this.#port.ids, 0, wanted, target, at + written);
      written += wanted;
    }
  }

  /** Asks the core whether to ask the store, and does it, which may run code of the user. Never throws. */
  ask(): void {
    if (this.#isClosed || this.#underWay !== undefined) return;
    clearTimeout(this.#timer);
    try {
      this.#holder ??= digitsAt(drawRandom(), 0);
      const wanted = this.#wanted();
      const numbers = this.#call(SegmentCall.ASK, ({ numbers }) => {
        numbers[Slot.WANT] = wanted;
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
    this.#timer = unref(setTimeout(() => this.ask(), Math.max(1, Math.ceil(ms))));
  }

  /** Sends the request that the core has written into the page. Never rejects. */
  async #fetch(numbers: Float64Array): Promise<void> {
    const { store, tag, maxStep, failoverSkip } = this.#options;
    const count = numbers[Slot.RANGE_COUNT] as number;
    const above = this.#port.ids[0] as bigint;
    const attempt = digitsAt(numbers, Slot.NONCE);
    const controller = new AbortController();
    this.#underWay = controller;
    this.#attempts++;
    const { signal } = controller;
    const limit = unref(setTimeout(() => this.#timedOut(controller), this.#timeoutMs));
    const request = {
      tag,
      count: count || undefined,
      maxCount: maxStep as number,
      above,
      failoverSkip,
      holder: this.#holder as string,
      attempt,
      signal,
    };
    try {
      const allocation = await store.allocate(request);
      if (this.#underWay === controller) this.#underWay = undefined;
      this.#take(allocation, attempt);
    } catch (error) {
      // One that timed out has been counted.
      if (this.#underWay !== controller) return;
      this.#underWay = undefined;
      if (!this.#isClosed) this.#fail(error);
    } finally {
      clearTimeout(limit);
    }
  }

  #timedOut(controller: AbortController): void {
    if (this.#underWay !== controller) return;
    this.#underWay = undefined;
    this.#late?.abort();
    this.#late = controller;
    this.#fail(this.#timeoutError());
  }

  /** Gives up the tries of an attempt that was answered, or of which nobody wants an answer. */
  #abort(): void {
    this.#late?.abort();
    this.#underWay?.abort();
    this.#late = undefined;
    this.#underWay = undefined;
  }

  #take(answer: Allocation, attempt: string): void {
    if (this.#isClosed) return;
    const { attempt: named, first, count, stride = 1, step = 0 } = Object(answer) as Allocation;
    try {
      if (named !== attempt) {
        this.#fail(refusal(LeaseError, "STORE_REFUSED", "attempt", named, Rule.SAME_GRANT));
        return;
      }
      const isNumber = typeof first === "bigint" && first >= 0n && first < 2n ** 63n;
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
      // The core has counted the failure, and tells the pause.
      this.#readNext(SegmentCall.STATUS);
      this.#report(error);
      return;
    }
    this.#changed();
    this.ask();
  }

  /** An attempt failed, or its outcome is unknown. The next one follows after a pause. Never throws. */
  #fail(error: unknown): void {
    this.#readNext(SegmentCall.FAIL);
    this.#report(error);
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

  #report(error: unknown): void {
    this.#problem = this.#described(error);
    this.#schedule(this.#nextMs);
    this.#changed(this.#problem);
  }

  #described(error: unknown): FrazilError {
    if (FrazilError.is(error)) return error;
    const said = error instanceof Error ? `: ${error.message}` : typeof error === "string" ? `: ${error}` : "";
    return new LeaseError("STORE_UNAVAILABLE", `allocate failed ${this.#where}${said}`, {
      retryable: true,
      cause: error,
    });
  }

  get #where(): string {
    const { store, tag } = this.#options;
    return `in the ${store.name} store, tag ${JSON.stringify(tag)}`;
  }

  #timeoutError(): FrazilError {
    const known = this.#options.store.waitsFor?.();
    const why = known === undefined ? "" : `: ${known}`;
    return new LeaseError(
      "STORE_UNAVAILABLE",
      `allocate had no answer within ${this.#timeoutMs} ms ${this.#where}${why}`,
      {
        retryable: true,
      },
    );
  }

  /** Why a call found no number. */
  exhausted(): FrazilError {
    const problem = this.#problem;
    this.#readNext(SegmentCall.STATUS);
    const retryAfterMs = this.#nextMs;
    const why = problem === undefined ? "the store has not answered yet" : problem.message;
    return new LeaseError(
      "SEGMENT_EXHAUSTED",
      `every number is used, and the next range is not there ${this.#where}: ${why}. Retry after ${retryAfterMs} ms.`,
      { retryable: true, retryAfterMs, cause: problem },
    );
  }

  /** The counters. `ahead`: how many drawn numbers were not handed out yet. */
  stats(ahead: number, waits: number): SegmentStats {
    const numbers = this.#isClosed ? new Float64Array(Slot.SHORT + 1) : this.#call(SegmentCall.STATUS);
    const read = (at: Slot) => numbers[at] as number;
    const [step, problem] = [read(Slot.STEP), this.#problem];
    return {
      left: read(Slot.LEFT) + ahead,
      buffers: read(Slot.BUFFERS),
      ...(step > 0 && { step }),
      ranges: read(Slot.RANGES),
      allocated: read(Slot.GRANTED),
      attempts: this.#attempts,
      failures: read(Slot.FAILURES),
      ...(problem && { problem }),
      fetchMs: read(Slot.FETCH_MS),
      waits,
      closed: this.#isClosed,
    };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    unclosed?.unregister(this);
    this.#abort();
    const { binding } = this.#port;
    binding.calls.segment(binding.page, this.#handle, SegmentCall.CLOSE);
  }
}
