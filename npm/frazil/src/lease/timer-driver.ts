/**
 * Carries what the core wants to know to the store, and the answers back, where timers run: in Node, Deno, Bun and browsers. The core
 * decides what to ask and what an answer means (`crates/core/src/lease`).
 *
 * - **One attempt at a time.** An answer that comes after its time-out is still taken.
 * - **Timers do not keep the process alive.** A caller that waits does.
 * - **Where only calls renew, the only timers are those of calls that wait.** Whatever a call finds due or over, it begins or gives up;
 *   nothing is assumed to run between two calls.
 * - **A generator that was garbage-collected is not renewed any more**: the driver refers to it weakly.
 */

import { copiedHint } from "../asking/kernel-random.js";
import { rejectionError } from "../asking/store-errors.js";
import { BROKEN_CLOCK_MS, type Timer, timeOut, unref } from "../asking/timer.js";
import { type Weak, weakly } from "../asking/weak.js";
import type { FrazilError } from "../base/errors.js";
import { type Sleeping, sleep, wakeAll } from "../base/wait.js";
import { LeaseCall } from "../generated/lease.js";
import type { Minting } from "../generator/session.js";
import { releaseNoteIn } from "./core-calls.js";
import { inWorkers, type LeaseContext } from "./errors.js";
import { noListeners } from "./events.js";
import { type GeneratorView, isOfLease, LeaseHolder } from "./holder.js";

/** Drivers whose generators only calls renew: no timer finds that one was garbage-collected. */
const dropped =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : /* @__PURE__ */ new FinalizationRegistry<LeaseTimerDriver>((driver) => driver.abandon());

/**
 * A thread with more leases than this, in scopes with one name, gets a hint. Tests and migrations have a few at a time.
 */
const MANY = 9;

/** Asks the store when the core says so, one attempt at a time. @internal */
export class LeaseTimerDriver extends LeaseHolder {
  /** Those of this thread that are not closed. */
  static readonly #open = /* @__PURE__ */ new Set<LeaseTimerDriver>();
  /** A reference to the generator: weak while it is open, and strong while it closes. */
  #generator!: Weak<GeneratorView>;

  #timer: Timer | undefined;
  protected readonly underWay = new Set<AbortController>();
  /** The attempt under way. It never rejects. */
  #attempt: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  /** Whether a look at the schedule is queued. */
  #isHurrying = false;
  /** The calls that wait until the lease changes or an attempt ends. */
  readonly #waiting: Sleeping = new Set();

  protected override get context(): LeaseContext {
    const manyHere = () => {
      const { scope } = this.options;
      const count = [...LeaseTimerDriver.#open].filter((each) => each.isHolding && each.options.scope === scope).length;
      return count > MANY
        ? `This thread has ${count} leases of scopes with that name, and each call of lease() takes a node id. Call it once, when the program starts.`
        : undefined;
    };
    return { ...super.context, manyHere };
  }

  override get randomHint(): string | undefined {
    // A running isolate of Workers is never cloned.
    return inWorkers() ? undefined : copiedHint();
  }

  protected override free(): void {
    LeaseTimerDriver.#open.delete(this);
    super.free();
  }

  protected get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  protected get generator(): GeneratorView | undefined {
    return this.#generator.deref();
  }

  protected get limit(): readonly [number | undefined, boolean] {
    // The caller of `close` waits, which keeps the process alive.
    const isHeld = this.isClosing;
    return [isHeld || !this.options.byCalls ? this.timeoutMs : undefined, isHeld];
  }

  /** Begins to ask the store. The caller keeps what is returned as long as the generator is in use. */
  start(layout: string): GeneratorView {
    const generator = { minting: this.minting as Minting, listeners: noListeners() };
    this.minting = undefined;
    this.layout = layout;
    LeaseTimerDriver.#open.add(this);
    this.#generator = weakly(generator);
    // Where timers renew, the next one finds that the generator is gone.
    if (this.options.byCalls) dropped?.register(generator, this, this);
    this.#turn(true);
    return generator;
  }

  /** The generator was garbage-collected. Nothing is asked of the store; an attempt under way closes the lease when it ends. */
  abandon(): void {
    if (this.#attempt !== undefined || this.isClosing) return;
    this.#closing = Promise.resolve();
    this.free();
  }

  /**
   * Asks the core what to do, and does it, unless an attempt is under way whose time is not over. `isDue`: whether the core has said
   * that something is due now. Never throws.
   */
  #turn(isDue = false): void {
    clearTimeout(this.#timer);
    if (this.isClosing) return;
    if (this.#attempt === undefined && this.#generator.deref() === undefined) {
      void this.close();
      return;
    }
    try {
      this.#begin(isDue);
    } catch (error) {
      // A clock that a program replaced by one that shows no number.
      this.report(rejectionError(error, "reading the clocks", this.context));
      this.#schedule(BROKEN_CLOCK_MS, false);
    }
  }

  #schedule(ms: number, isDue = true): void {
    if (!this.options.byCalls) this.#timer = unref(setTimeout(() => this.#turn(isDue), ms));
  }

  #begin(isDue: boolean): void {
    if (this.#attempt !== undefined || !isDue) this.call(LeaseCall.STATUS);
    if (this.#attempt !== undefined) {
      // Its timer has not run yet, or it has none.
      if (this.nextMs <= 1) this.#giveUp();
      return;
    }
    // Random numbers are drawn only for what is due: a call of the user may lead here.
    if (!isDue && this.nextMs > 1) {
      this.#schedule(this.nextMs);
      return;
    }
    const request = this.ask();
    if (request === undefined) {
      this.#schedule(this.nextMs);
      return;
    }
    const ended = () => {
      this.#attempt = undefined;
      wakeAll(this.#waiting);
      this.#turn();
    };
    this.#attempt = this.carry(request)
      .catch((error) => this.report(rejectionError(error, "an attempt", this.context)))
      .then(ended);
  }

  #giveUp(): void {
    for (const controller of this.underWay) controller.abort(timeOut());
  }

  protected usedLate(): void {
    // The next attempt may be due at another time now.
    wakeAll(this.#waiting);
    this.#turn();
  }

  protected refusedOfLease(isExpired: boolean): void {
    const { byCalls } = this.options;
    const isIdle = (byCalls || this.#attempt === undefined) && !this.isClosing && !this.#isHurrying;
    if (!isIdle || !(isExpired || byCalls)) return;
    if (isExpired) this.call(LeaseCall.HURRY);
    this.#isHurrying = true;
    // Later, since this runs inside a call that mints, and the store is code of the user.
    void Promise.resolve().then(() => {
      this.#isHurrying = false;
      this.#turn();
    });
  }

  renewIfDue(signal: AbortSignal | undefined, limitMs: number): Promise<number> | undefined {
    if (!this.options.byCalls || this.isClosing) return undefined;
    this.#turn();
    return this.#isAsked ? this.#whileAsked(signal, Math.min(limitMs, this.timeoutMs)) : undefined;
  }

  /** Whether the store is asked, and a call has reason to wait for the answer. */
  get #isAsked(): boolean {
    return this.#attempt !== undefined && !this.isRenewed && !this.isClosing;
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

  readonly wait = (ms: number, signal?: AbortSignal): Promise<number> => sleep(ms, signal, this.#waiting);

  /**
   * Waits for the attempt under way, closes the state, and tells the store. `generator` has the listeners that hear if that
   * fails. Never rejects.
   */
  close(generator?: GeneratorView): Promise<void> {
    if (generator !== undefined) this.#generator = { deref: () => generator };
    if (this.#closing !== undefined) return this.#closing;
    dropped?.unregister(this);
    this.#closing = (async () => {
      clearTimeout(this.#timer);
      // Calls that wait for a lease hear at once that it is gone, not after the attempt under way.
      wakeAll(this.#waiting);
      // The caller waits, and the timers of attempts would not keep the process alive, if they have any.
      const hold = setTimeout(() => this.#giveUp(), this.timeoutMs);
      try {
        await this.#attempt;
        clearTimeout(hold);
        await this.release(releaseNoteIn(this.call(LeaseCall.CLOSE)));
      } finally {
        clearTimeout(hold);
        this.free();
        wakeAll(this.#waiting);
      }
    })();
    return this.#closing;
  }
}
