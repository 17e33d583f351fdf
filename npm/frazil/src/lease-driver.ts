/**
 * Carries what the core wants to know to the store, and the answers back: requests, timers and events of a lease. What to
 * ask and what an answer means is decided in the core (`crates/core/src/lease.rs`).
 *
 * - **One attempt at a time.** An answer that comes after its time-out is still taken.
 * - **Timers do not keep the process alive.** A caller that waits does.
 * - **Where only calls renew, there are no timers but those of calls that wait.** Whatever a call finds due or over, it begins
 *   or gives up; nothing is assumed to run between two calls.
 * - **A generator that was garbage-collected is not renewed any more**: the driver refers to it weakly.
 */

import { digitsAt } from "./digits.js";
import { ConfigError, type FrazilError, LeaseError, refusal } from "./errors.js";
import { LeaseCall, LeaseChange, LeaseReason, LeaseRequest } from "./generated/lease.js";
import { Slot } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import { attempt } from "./lease-attempt.js";
import { type Clocks, LeaseCore, type ReleaseNote, releaseNoteIn } from "./lease-core.js";
import { refusalError, timeoutError } from "./lease-errors.js";
import {
  emit,
  type LeaseEvents,
  type LeaseHealth,
  type LeaseStats,
  type LeaseWindow,
  type Listeners,
  noListeners,
} from "./lease-events.js";
import { type LeaseSession, type Minting, SESSION } from "./lease-session.js";
import { type Waiting, waitIn, wakeAll } from "./lease-waiters.js";
import { numberOrNaN } from "./request.js";
import { rejectionError } from "./store-errors.js";
import type { Answer, Refusal, RefusalReason } from "./stores/store.js";
import { BROKEN_CLOCK_MS, type Timer, unref } from "./timer.js";

/**
 * What the driver refers to weakly, and the generator strongly. The listeners are here because a listener that uses the
 * generator would otherwise keep it alive.
 *
 * @internal
 */
export interface Attached {
  readonly minting: Minting;
  readonly listeners: Listeners;
}

/** The numbers of the store's reasons. What they mean is decided in the core; those that it does not tell apart are left out. */
const REASONS: { readonly [R in RefusalReason]?: LeaseReason } = {
  taken: LeaseReason.TAKEN,
  fenced: LeaseReason.FENCED,
  incarnation: LeaseReason.INCARNATION,
  behind: LeaseReason.BEHIND,
  exhausted: LeaseReason.EXHAUSTED,
};

/** Whether a lease is missing, so that an answer of the store helps. */
const isOfLease = ({ code }: FrazilError) => code === "LEASE_EXPIRED" || code === "LEASE_LOST";

/** Drivers whose generators only calls renew: no timer finds that one was garbage-collected. */
const unattached =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : /* @__PURE__ */ new FinalizationRegistry<LeaseDriver>((driver) => driver.abandon());

/** Asks the store when the core says so, and tells the generator and its listeners what came of it. @internal */
export class LeaseDriver extends LeaseCore implements LeaseSession {
  readonly [SESSION] = true;
  /** A reference to the generator: weak while it is open, and strong while it closes. */
  #attached!: { deref(): Attached | undefined };

  #timer: Timer | undefined;
  /** What is asked of the store. */
  readonly #underWay = new Set<AbortController>();
  /** The attempt under way. It never rejects. */
  #attempt: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  /** Why a lease was given back, until another one begins. */
  #declined: FrazilError | undefined;
  /** Whether a look at the schedule is queued. */
  #isHurrying = false;
  #problem: FrazilError | undefined;
  /** Whether an answer to an earlier attempt renewed the lease, so that no call waits for the one under way. */
  #isRenewed = false;
  /** The calls that wait until the lease changes or an attempt ends. */
  readonly #waiting: Waiting = new Set();
  readonly #counts = { attempts: 0, acquired: 0, renewed: 0, lost: 0, refused: 0 };

  /** Begins to ask the store. The caller keeps what is returned as long as the generator is in use. */
  start(layout: string): Attached {
    const attached = { minting: this.minting as Minting, listeners: noListeners() };
    this.minting = undefined;
    this.layout = layout;
    this.#attached = new WeakRef(attached);
    // Where timers renew, the next one finds that the generator is gone.
    if (this.options.byCalls) unattached?.register(attached, this, this);
    this.#turn();
    return attached;
  }

  /** The generator was garbage-collected. Nothing is asked of the store; an attempt under way closes the lease when it ends. */
  abandon(): void {
    if (this.#attempt !== undefined || this.#closing !== undefined) return;
    this.#closing = Promise.resolve();
    this.free();
  }

  /** Asks the core what to do, and does it, unless an attempt is under way whose time is not over. Never throws. */
  #turn(): void {
    clearTimeout(this.#timer);
    if (this.#closing !== undefined) return;
    if (this.#attempt === undefined && this.#attached.deref() === undefined) {
      void this.close();
      return;
    }
    try {
      this.#begin();
    } catch (error) {
      // A clock that a program replaced by one that shows no number.
      this.#report(rejectionError(error, "reading the clocks", this.context));
      this.#schedule(BROKEN_CLOCK_MS);
    }
  }

  #schedule(ms: number): void {
    if (!this.options.byCalls) this.#timer = unref(setTimeout(() => this.#turn(), ms));
  }

  #begin(): void {
    this.call(LeaseCall.STATUS);
    if (this.#attempt !== undefined) {
      // Its timer has not run yet, or it has none.
      if (this.nextMs <= 1) this.#giveUp();
      return;
    }
    // Random numbers are drawn only for what is due: a call of the user may lead here.
    if (this.nextMs > 1) {
      this.#schedule(this.nextMs);
      return;
    }
    const numbers = this.#ask();
    const request = numbers[Slot.REQUEST] as LeaseRequest;
    if (request === LeaseRequest.WAIT) {
      this.#schedule(numbers[Slot.WAIT_MS] as number);
    } else if (request !== LeaseRequest.NOTHING) {
      this.#counts.attempts++;
      this.#isRenewed = false;
      const ended = () => {
        this.#attempt = undefined;
        wakeAll(this.#waiting);
        this.#turn();
      };
      this.#attempt = this.#request(request, numbers)
        .catch((error) => this.#report(rejectionError(error, "an attempt", this.context)))
        .then(ended);
    }
  }

  /** Asks the core what to request. */
  #ask(): Float64Array {
    try {
      return this.call(LeaseCall.ASK);
    } catch (error) {
      // Such as: the kernel has no random numbers for a process without file descriptors. The next attempt has a pause.
      this.call(LeaseCall.FAIL);
      throw error;
    }
  }

  #giveUp(): void {
    for (const controller of this.#underWay) controller.abort();
  }

  /** Sends a request that the core has written into the page, and hands the answer to the core. */
  #request(request: LeaseRequest, numbers: Float64Array): Promise<void> {
    const { store, scope, windowMs, owner, hasNode, node: preferred } = this.options;
    const asked = { wallMs: this.wallMs, monotonicMs: this.monotonicMs };
    if (request === LeaseRequest.FENCE) {
      const behind = numbers[Slot.BEHIND] === 1;
      const send = (signal: AbortSignal) => store.ensure({ scope, behind, signal });
      // After its time-out another attempt may be under way, whose answer this is not.
      const use = (_: unknown, late: boolean) => void (late || this.call(LeaseCall.FENCED));
      return this.#send("ensure", undefined, send, use);
    }
    const grant = digitsAt(numbers, Slot.GRANT);
    const nonce = digitsAt(numbers, Slot.NONCE);
    const common = { scope, grant, nonce, windowMs, layout: this.layout };
    const node = numbers[Slot.LEASE_NODE] as number;
    const untilMs = numbers[Slot.UNTIL_MS] as number;
    const verb = request === LeaseRequest.ACQUIRE ? "acquire" : "renew";
    const send = (signal: AbortSignal) =>
      verb === "acquire"
        ? store.acquire({ ...common, owner, ...(hasNode && { node: preferred as number }), signal })
        : store.renew({ ...common, node, untilMs, signal });
    return this.#send(verb, grant, send, (answer, late) =>
      this.#answered(verb, answer, grant, late ? asked : undefined),
    );
  }

  /** Has the store do something for a lease. An answer that comes after its time-out is still used. */
  async #send<T>(
    verb: string,
    grant: string | undefined,
    send: (signal: AbortSignal) => Promise<T>,
    use: (answer: T, late: boolean) => void | Promise<void>,
  ): Promise<void> {
    const error = await this.#attempted(verb, send, async (answer, late) => {
      if (!late) return use(answer, false);
      if (this.#closing !== undefined) return;
      try {
        await use(answer, true);
      } catch (error) {
        this.#report(rejectionError(error, verb, this.context));
      }
      // The next attempt may be due at another time now.
      wakeAll(this.#waiting);
      this.#turn();
    });
    if (error) this.#failed(error, grant);
  }

  /** Has the store do something within the time of an attempt. Resolves to the error if that failed. */
  #attempted<T>(
    verb: string,
    send: (signal: AbortSignal) => Promise<T>,
    use: (answer: T, late: boolean) => void | Promise<void>,
  ): Promise<FrazilError | undefined> {
    // The caller of `close` waits, which keeps the process alive.
    const isHeld = this.#closing !== undefined;
    const limitMs = isHeld || !this.options.byCalls ? this.timeoutMs : undefined;
    return attempt(this.#underWay, send, use, limitMs, isHeld, (error, isGivenUp) =>
      isGivenUp ? timeoutError(verb, this.timeoutMs, this.context) : rejectionError(error, verb, this.context),
    );
  }

  /** An attempt failed, or its outcome is unknown. */
  #failed(error: FrazilError, grant: string | undefined): void {
    // A store that refuses for good is asked less often than one that does not answer.
    if (error.retryable || grant === undefined) this.call(LeaseCall.FAIL);
    else this.refuse(LeaseReason.OTHER, false, 0, grant);
    this.#report(error);
  }

  #report(error: FrazilError): void {
    this.#problem = error;
    this.#counts.refused++;
    this.#emit("refused", error);
  }

  /** Hands an answer of the store to the core. `late`: when the store was asked, if that attempt was given up. */
  async #answered(verb: "acquire" | "renew", answer: Answer, grant: string, late: Clocks | undefined): Promise<void> {
    if (answer?.granted !== true) {
      // The attempt counts as failed already, and the next one gets the same refusal if it still holds.
      if (!late) this.#refused(verb, answer, grant);
      return;
    }
    const before = this.held();
    const lease = this.take(grant, answer, late);
    const { numbers } = this.port;
    const change = numbers[Slot.CHANGE] as LeaseChange;
    this.#isRenewed = change === LeaseChange.BEGUN || change === LeaseChange.EXTENDED;
    if (change === LeaseChange.BEGUN) {
      this.#declined = undefined;
      this.#changed(lease.node);
    }
    if (this.#isRenewed) {
      const event = change === LeaseChange.BEGUN ? "acquired" : "renewed";
      this.#problem = undefined;
      this.#counts[event]++;
      this.#emit(event, lease);
    } else if (change === LeaseChange.ENDED) {
      this.#ended(
        new LeaseError("LEASE_LOST", "the store answered with another lease than it had granted: it went back", {
          retryable: true,
        }),
        before,
      );
    } else if (change === LeaseChange.DECLINED) {
      // Read before the listeners run: they may use the page.
      const note = releaseNoteIn(numbers);
      // Retryable: another node id is asked for.
      const details = { retryable: true };
      this.#declined = refusal(
        ConfigError,
        "STATE_CONFLICT",
        "node",
        lease.node,
        Rule.ONE_KIND,
        undefined,
        undefined,
        details,
      );
      this.#report(this.#declined);
      await this.#release(note);
    }
  }

  #refused(verb: "acquire" | "renew", answer: Refusal, grant: string): void {
    const error = refusalError(verb, answer, this.context, this.#declined);
    const before = this.held();
    const { reason, freeAtMs = 0, storeNowMs = 0 } = answer ?? {};
    if (error.code === "STORE_REFUSED") throw error;
    const number = REASONS[reason as RefusalReason] ?? LeaseReason.OTHER;
    // A difference of anything but numbers is refused.
    const freeInMs = Math.max(0, numberOrNaN(freeAtMs) - numberOrNaN(storeNowMs));
    const change = this.refuse(number, verb === "renew", freeInMs, grant, answer);
    if (change === LeaseChange.ENDED) this.#ended(error, before);
    else this.#report(error);
  }

  #ended(error: FrazilError, before: LeaseWindow | undefined): void {
    this.#changed(undefined);
    this.#problem = error;
    if (before === undefined) return;
    this.#counts.lost++;
    this.#emit("lost", error);
  }

  #changed(node: number | undefined): void {
    // A generator that closes has no node id any more.
    if (this.#closing === undefined) this.#attached.deref()?.minting.changed(node);
  }

  /** Tells the store that a node id is free. If that fails, it is free after its window. */
  async #release(note: ReleaseNote | undefined): Promise<void> {
    if (note === undefined) return;
    const { store, scope } = this.options;
    const send = (signal: AbortSignal) => store.release({ scope, ...note, signal });
    const error = await this.#attempted("release", send, () => {});
    if (error) this.#report(error);
  }

  refused(error: FrazilError): void {
    if (!isOfLease(error)) return;
    if (this.#problem)
      Object.defineProperty(error, "cause", { value: this.#problem, writable: true, configurable: true });
    const { byCalls } = this.options;
    const isIdle = (byCalls || this.#attempt === undefined) && this.#closing === undefined && !this.#isHurrying;
    const isExpired = error.code === "LEASE_EXPIRED";
    if (!isIdle || !(isExpired || byCalls)) return;
    if (isExpired) this.call(LeaseCall.HURRY);
    this.#isHurrying = true;
    // Later, since this runs inside a call that mints, and the store is code of the user.
    queueMicrotask(() => {
      this.#isHurrying = false;
      this.#turn();
    });
  }

  renewIfDue(signal: AbortSignal | undefined, limitMs: number): Promise<number> | undefined {
    if (!this.options.byCalls || this.#closing !== undefined) return undefined;
    this.#turn();
    return this.#isAsked ? this.#whileAsked(signal, Math.min(limitMs, this.timeoutMs)) : undefined;
  }

  /** Whether the store is asked, and a call has reason to wait for the answer. */
  get #isAsked(): boolean {
    return this.#attempt !== undefined && !this.#isRenewed && this.#closing === undefined;
  }

  /** Waits until the store has answered, at most for so long. Resolves to how long that was. */
  async #whileAsked(signal: AbortSignal | undefined, limitMs: number): Promise<number> {
    let leftMs = limitMs;
    while (this.#isAsked && leftMs > 0) {
      leftMs -= await this.wait(Math.min(leftMs, this.nextMs), signal);
      this.#turn();
    }
    return limitMs - leftMs;
  }

  retryMs(error: FrazilError, retryMs: number, limitMs: number): number {
    // An answer may come sooner than the error says, and wakes the call.
    return isOfLease(error) && limitMs > 0 ? Math.min(error.retryAfterMs ?? 1, limitMs) : retryMs;
  }

  readonly wait = (ms: number, signal: AbortSignal | undefined): Promise<number> => waitIn(this.#waiting, ms, signal);

  /** Why the last attempt failed; `undefined` after one that succeeded. */
  get problem(): FrazilError | undefined {
    return this.#problem;
  }

  stats(): LeaseStats {
    return { ...this.#counts };
  }

  health(): LeaseHealth {
    const { scope, store } = this.options;
    const held = this.held();
    const { numbers } = this.port;
    const failures = numbers[Slot.FAILURES] as number;
    const nextMs = numbers[Slot.NEXT_MS] as number;
    const skewMs = numbers[Slot.SKEW_MS] as number;
    const problem = this.#problem && { problem: this.#problem };
    // Read last: the name may be a getter, which is code of the user.
    return { scope, store: store.name, ...held, failures, ...problem, nextMs, skewMs };
  }

  /** The lease that is held, as the page says after the last call. */
  held(): LeaseWindow | undefined {
    if (this.#closing !== undefined) return undefined;
    const numbers = this.call(LeaseCall.STATUS);
    if (numbers[Slot.HELD] !== 1) return undefined;
    const node = numbers[Slot.HELD_NODE] as number;
    return { node, fromMs: numbers[Slot.HELD_FROM_MS] as number, untilMs: numbers[Slot.HELD_UNTIL_MS] as number };
  }

  /** How long a window lasts, in milliseconds. */
  get windowMs(): number {
    return this.options.windowMs;
  }

  /** The error for a store that has not answered at all within a time. */
  noAnswer(verb: string): FrazilError {
    return timeoutError(verb, this.maxAsyncWaitMs, this.context);
  }

  #emit<E extends keyof LeaseEvents>(event: E, detail: Parameters<LeaseEvents[E]>[0]): void {
    // To a program that closed the generator only that the store could not be told matters.
    if (this.#closing === undefined || event === "refused") emit(this.#attached.deref()?.listeners, event, detail);
  }

  /**
   * Waits for the attempt under way, closes the state, and tells the store. `attached` has the listeners that hear if that
   * fails. Never rejects.
   */
  close(attached?: Attached): Promise<void> {
    if (attached !== undefined) this.#attached = { deref: () => attached };
    if (this.#closing !== undefined) return this.#closing;
    unattached?.unregister(this);
    this.#closing = (async () => {
      clearTimeout(this.#timer);
      // Calls that wait for a lease hear at once that there is none any more, and not after the attempt under way.
      wakeAll(this.#waiting);
      // The caller waits, and the timers of attempts would not keep the process alive, if they have any.
      const hold = setTimeout(() => this.#giveUp(), this.timeoutMs);
      try {
        await this.#attempt;
        clearTimeout(hold);
        await this.#release(releaseNoteIn(this.call(LeaseCall.CLOSE)));
      } finally {
        clearTimeout(hold);
        this.free();
        wakeAll(this.#waiting);
      }
    })();
    return this.#closing;
  }
}
