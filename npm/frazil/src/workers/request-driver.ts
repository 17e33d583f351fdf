/**
 * Carries what the core wants to know to the store, and the answers back, where each request to the program has I/O of its own and
 * none may wait for that of another: on Cloudflare Workers.
 *
 * - **No promise, timer or signal is shared between requests.** A request that cannot mint asks the store itself, with the grant and
 *   the nonce of the attempt that others may have under way, and waits for its own answer. If a request is cancelled, none of its
 *   promises is settled and none of its timers runs, which nobody else notices.
 * - **Renewal rides on a request**: the first one that finds it due has the store asked, and does not wait. Until the time of that
 *   attempt is over no other request does. Whatever came of it then, the next request tries again.
 * - **After its own outcome each request looks at the lease again**, whoever changed it.
 */
import { waitUntil } from "#host";
import type { FrazilError } from "../errors.js";
import { LeaseCall } from "../generated/lease.js";
import { releaseNoteIn } from "../lease-core.js";
import { noListeners } from "../lease-events.js";
import { type Attached, isOfLease, LeaseHolder, type StoreRequest } from "../lease-holder.js";
import type { Minting } from "../lease-session.js";
import { type Waiting, waitIn, wakeAll } from "../lease-waiters.js";
import { rejectionError } from "../store-errors.js";
import { sleep } from "../wait.js";

/** Keeps the program alive until a promise is settled, although the request was answered. */
export type Keep = (promise: Promise<unknown>) => void;

/** Asks the store in requests, when the core says so. @internal */
export class RequestDriver extends LeaseHolder {
  /** From when until when, by the wall clock, a lease is held and nothing is due. */
  #quietFromMs = 0;
  #quietUntilMs = 0;
  protected attached!: Attached;
  protected isClosing = false;

  /** Each request is given up by its own timer alone. */
  protected get underWay(): Set<AbortController> {
    return new Set();
  }

  protected get limit(): readonly [number, boolean] {
    return [this.timeoutMs, false];
  }

  /** Asks nothing: that is for requests. */
  start(layout: string): Attached {
    this.attached = { minting: this.minting as Minting, listeners: noListeners() };
    this.layout = layout;
    return this.attached;
  }

  /** Whether `close` was not called. */
  get isOpen(): boolean {
    return !this.isClosing;
  }

  /** Whether a lease is held and nothing is due, as far as that is known without a closer look. */
  isQuietAt(wallMs: number): boolean {
    return wallMs >= this.#quietFromMs && wallMs < this.#quietUntilMs;
  }

  /** Whether a lease is held and its window is not over. If so, and a renewal is due, has the store asked beside the request. */
  isHeld(keep: Keep = waitUntil): boolean {
    const held = this.held();
    if (held === undefined) return false;
    const nowMs = Number(this.clock());
    if (!(nowMs >= held.fromMs && nowMs < held.untilMs)) return false;
    this.#askBeside(keep);
    this.#quietFromMs = this.wallMs - (nowMs - held.fromMs);
    this.#quietUntilMs = this.wallMs + Math.min(this.nextMs, held.untilMs - nowMs);
    return true;
  }

  /** Has the store asked beside the request, if that is due and no other request has begun it. */
  #askBeside(keep: Keep): void {
    if (this.nextMs > 1) return;
    const request = this.ask();
    if (request !== undefined) keep(this.#carried(request));
  }

  /** Carries a request. Never rejects. */
  async #carried(request: StoreRequest): Promise<void> {
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

  renewIfDue(): undefined {
    if (!this.isClosing) this.isHeld();
  }

  /** All the time that the call has: what it waits for is its own request to the store, or the pause after one that failed. */
  retryMs(error: FrazilError, retryMs: number, limitMs: number): number {
    return isOfLease(error) && limitMs > 0 ? limitMs : retryMs;
  }

  readonly wait = async (ms: number, signal: AbortSignal | undefined, refusal: FrazilError): Promise<number> => {
    if (!isOfLease(refusal)) return sleep(ms, signal);
    // The call finds that the generator is closed.
    if (this.isClosing) return 0;
    const request = this.ask();
    if (request === undefined) return sleep(Math.min(ms, this.nextMs), signal);
    const carried = this.#carried(request);
    // Its answer counts for other requests too, if this one does not wait for it to the end.
    waitUntil(carried);
    const waiting: Waiting = new Set();
    const waited = waitIn(waiting, ms, signal);
    void carried.then(() => wakeAll(waiting));
    return waited;
  };

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
