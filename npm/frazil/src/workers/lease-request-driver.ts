/**
 * Carries the core's questions to the store, and the answers back, where each request to the program has its own I/O and may not wait for
 * another's: on Cloudflare Workers.
 *
 * - **No promise, timer or signal is shared between requests** (`sleepUntil`). A request that cannot mint asks the store itself, with
 *   the grant and the nonce of the attempt that others may have under way, and waits for its own answer.
 * - **Renewal rides on a request**: the first one that finds it due has the store asked, and does not wait. Until the time of that
 *   attempt is over no other request does. Whatever came of it then, the next request tries again.
 * - **After its own outcome each request looks at the lease again**, whoever changed it.
 */

import { rejectionError } from "../asking/store-errors.js";
import { wallClock } from "../base/clock.js";
import type { FrazilError } from "../base/errors.js";
import { sleep } from "../base/wait.js";
import type { Answers } from "../core/port.js";
import { CODES, MEANINGS, Slot } from "../generated/abi.js";
import { LeaseCall } from "../generated/lease.js";
import type { Minting } from "../generator/session.js";
import { releaseNoteIn } from "../lease/core-calls.js";
import { noListeners } from "../lease/events.js";
import { type GeneratorView, isOfLease, LeaseHolder, type StoreRequest } from "../lease/holder.js";
import { type Keep, sleepUntil } from "./request-context.js";
import { waitUntil } from "./runtime.js";

const RENEWS = "Call await leased() in each request, to renew it.";
/** What to do on Workers about a refusal. */
const CURES: { readonly [code: string]: string } = {
  LEASE_EXPIRED: RENEWS,
  LEASE_LOST: RENEWS,
  SEQUENCE_EXHAUSTED: "The clock of a Worker moves on with I/O: await nextAsync() waits for it.",
};
const MEANT = /* @__PURE__ */ Object.entries(MEANINGS).map(([status, meaning]): [string, string] => {
  const cure = CURES[CODES[status as never] as string];
  return [status, cure === undefined ? meaning : `${meaning}\n${cure}`];
});
const ANSWERS: Answers = [{}, {}, {}, /* @__PURE__ */ Object.fromEntries(MEANT)];

/** Asks the store in requests, when the core says so. @internal */
export class LeaseRequestDriver extends LeaseHolder {
  /** The wall clock since the core looked, and until when nothing is due if it does not go back. */
  #shownMs = 0;
  #quietUntilMs = 0;
  #isAsking = false;
  /** When the store was asked last, or this was made. */
  #askedMs = wallClock();
  readonly answers = ANSWERS;
  readonly closed =
    ", which all requests of the isolate share\nDo not call close() in a request. The next await leased() makes another one.";
  protected generator!: GeneratorView;
  protected isClosing = false;

  /** Each request is given up by its own timer alone. */
  protected get underWay(): Set<AbortController> {
    return new Set();
  }

  protected get limit(): readonly [number, boolean] {
    return [this.timeoutMs, false];
  }

  /** Asks nothing: that is for requests. */
  start(layout: string): GeneratorView {
    this.generator = { minting: this.minting as Minting, listeners: noListeners() };
    this.layout = layout;
    return this.generator;
  }

  /** Whether `close` was not called. */
  get isOpen(): boolean {
    return !this.isClosing;
  }

  /** Whether a node id may be held: the store was asked within the last window. */
  get isInUse(): boolean {
    return !this.isClosing && Math.abs(wallClock() - this.#askedMs) <= this.windowMs;
  }

  /** Whether it has never held a lease, and the store has refused it for good at the last attempt. */
  get isRefused(): boolean {
    return this.stats().acquired === 0 && this.problem?.retryable === false;
  }

  /** Whether a lease is held and nothing is due, as far as that is known without a closer look. */
  isQuietAt(wallMs: number): boolean {
    const isQuiet = wallMs >= this.#shownMs && wallMs < this.#quietUntilMs;
    if (isQuiet) this.#shownMs = wallMs;
    return isQuiet;
  }

  /** Whether a lease is held and its window is not over. If so, and a renewal is due, has the store asked beside the request. */
  isHeld(keep: Keep = waitUntil): boolean {
    if (this.isClosing) return false;
    const shownMs = this.#shownMs;
    this.#shownMs = this.#quietUntilMs = 0;
    this.call(LeaseCall.STATUS, (numbers) => {
      numbers[Slot.SHOWN_MS] = shownMs;
    });
    if (this.usableMs === 0) return false;
    this.#askBeside(keep);
    this.#shownMs = this.wallMs;
    this.#quietUntilMs = this.wallMs + this.usableMs;
    return true;
  }

  /** Has the store asked beside the request, if that is due and no other request has begun it. */
  #askBeside(keep: Keep): void {
    // workerd may run microtasks while it draws random numbers: other calls of this.
    if (this.nextMs > 1 || this.#isAsking) return;
    this.#isAsking = true;
    try {
      const request = this.ask();
      if (request !== undefined) keep(this.#carried(request));
    } finally {
      this.#isAsking = false;
    }
  }

  /** Carries a request. Never rejects. */
  async #carried(request: StoreRequest): Promise<void> {
    this.#askedMs = request.wallMs;
    try {
      await this.carry(request);
    } catch (error) {
      this.report(rejectionError(error, request.verb, this.context));
    }
    this.#quietUntilMs = 0;
  }

  protected usedLate(): void {
    this.#quietUntilMs = 0;
  }

  protected refusedOfLease(isExpired: boolean): void {
    if (this.isClosing) return;
    this.#quietUntilMs = 0;
    if (isExpired) this.call(LeaseCall.HURRY);
    // Later, since this runs inside a call that mints, and the store is code of the user. An asynchronous call asks itself before.
    void Promise.resolve().then(() => {
      if (this.isClosing) return;
      try {
        this.call(LeaseCall.STATUS);
        this.#askBeside(waitUntil);
      } catch (error) {
        this.report(rejectionError(error, "an attempt", this.context));
      }
    });
  }

  /**
   * A lease that is held is renewed beside the request. If the store refused for good, the request asks it again as soon as that is due,
   * before it gets the earlier reason: it may be mended.
   */
  renewIfDue(signal: AbortSignal | undefined, limitMs: number): Promise<number> | undefined {
    const isRefused = !this.isClosing && !this.isHeld() && this.problem?.retryable === false;
    return isRefused && this.nextMs <= 1 ? this.#askOwn(limitMs, signal) : undefined;
  }

  /** All the time that the call has: what it waits for is its own request to the store, or the pause after one that failed. */
  retryMs(error: FrazilError, retryMs: number, limitMs: number): number {
    return isOfLease(error) && limitMs > 0 ? limitMs : retryMs;
  }

  readonly wait = async (ms: number, signal: AbortSignal | undefined, refusal: FrazilError): Promise<number> => {
    if (!isOfLease(refusal)) return sleep(ms, signal);
    // The call finds that the generator is closed.
    return this.isClosing ? 0 : this.#askOwn(ms, signal);
  };

  /** Asks the store in this request, if that is due, and waits for the answer; else waits until it is due. For `ms` at most. */
  async #askOwn(ms: number, signal: AbortSignal | undefined): Promise<number> {
    const request = this.ask();
    if (request === undefined) return sleep(Math.min(ms, this.nextMs), signal);
    return sleepUntil(this.#carried(request), ms, signal);
  }

  /** Closes the state and tells the store. Requests that have asked it are not waited for. */
  async close(): Promise<void> {
    if (this.isClosing) return;
    this.isClosing = true;
    this.#quietUntilMs = 0;
    const note = releaseNoteIn(this.call(LeaseCall.CLOSE));
    this.free();
    await this.release(note);
  }
}
