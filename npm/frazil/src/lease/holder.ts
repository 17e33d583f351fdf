/**
 * What the outcome of a request to the store means for a generator and for its listeners: events, counters, the last problem, the
 * condition. Derived classes decide how requests are carried: `LeaseTimerDriver` has timers, and one attempt at a time; on Cloudflare
 * Workers each request that is blocked makes its own (`LeaseRequestDriver`).
 */

import { attempt } from "../asking/attempt.js";
import { digitsAt } from "../asking/digits.js";
import { rejectionError } from "../asking/store-errors.js";
import { ConfigError, type FrazilError, LeaseError, refusal } from "../base/errors.js";
import { Slot } from "../generated/abi.js";
import { LeaseCall, LeaseChange, LeaseReason, LeaseRequest } from "../generated/lease.js";
import { Rule } from "../generated/rules.js";
import { numberOrNaN } from "../generator/request.js";
import { type Minting, SESSION, type Session } from "../generator/session.js";
import { nodeGiven } from "../layout/default-nodes.js";
import type { Answer, Grant, Refusal, RefusalReason } from "../stores/lease-store.js";
import { type Asked, LeaseCalls, type ReleaseNote, releaseNoteIn } from "./core-calls.js";
import { refusalError, timeoutError } from "./errors.js";
import { emit, type LeaseEvents, type Listeners } from "./events.js";
import type { LeaseHealth, LeaseStats } from "./health.js";

/**
 * What a driver knows of its generator. The listeners are here because a listener that uses the generator would otherwise keep it
 * alive where the driver refers to it weakly.
 *
 * @internal
 */
export interface GeneratorView {
  readonly minting: Minting;
  readonly listeners: Listeners;
}

/** The numbers of the store's reasons. The core decides what they mean; those that it does not tell apart are left out. */
const REASONS: { readonly [R in RefusalReason]?: LeaseReason } = {
  taken: LeaseReason.TAKEN,
  fenced: LeaseReason.FENCED,
  incarnation: LeaseReason.INCARNATION,
  behind: LeaseReason.BEHIND,
  exhausted: LeaseReason.EXHAUSTED,
  missing: LeaseReason.MISSING,
};

/** Whether a lease is missing, so that an answer of the store helps. */
export const isOfLease = ({ code }: FrazilError) => code === "LEASE_EXPIRED" || code === "LEASE_LOST";

/** A request to the store that the core has written into the frame. */
export interface StoreRequest extends Asked {
  readonly verb: "acquire" | "renew" | "ensure";
  /** Absent for `ensure`. */
  readonly grant?: string;
  send(signal: AbortSignal): Promise<unknown>;
}

/** @internal */
export abstract class LeaseHolder extends LeaseCalls implements Session {
  readonly [SESSION] = true;
  /** Why a lease was given back, until another one begins. */
  #declined: FrazilError | undefined;
  #problem: FrazilError | undefined;
  /** Whether an answer renewed the lease since the last request was made. */
  protected isRenewed = false;
  /** Whether a node id is held, as far as the last answer says. */
  protected isHolding = false;
  readonly #counts = { attempts: 0, acquired: 0, renewed: 0, lost: 0, refused: 0 };

  /** Begins. The caller keeps what is returned as long as the generator is in use. */
  abstract start(layout: string): GeneratorView;
  /**
   * Ends the lease: closes the state, and tells the store. `generator` has the listeners that hear if that fails. Never rejects.
   */
  abstract close(generator?: GeneratorView): Promise<void>;
  abstract renewIfDue(signal: AbortSignal | undefined, limitMs: number): Promise<number> | undefined;
  abstract retryMs(error: FrazilError, retryMs: number, limitMs: number): number;
  abstract readonly wait: NonNullable<Session["wait"]>;
  /** Whether `close` was called. */
  protected abstract get isClosing(): boolean;
  /** The generator, unless it was garbage-collected. */
  protected abstract get generator(): GeneratorView | undefined;
  /** An answer to a request that was given up has been used. */
  protected abstract usedLate(): void;
  /** How long a request may take, if a timer ends it; and whether the timer keeps the process alive. */
  protected abstract get limit(): readonly [limitMs: number | undefined, isHeld: boolean];
  /** What is asked of the store. Aborting a controller gives its request up. */
  protected abstract readonly underWay: Set<AbortController>;

  /** Asks the core what to request. `undefined`: nothing for now. */
  protected ask(): StoreRequest | undefined {
    let numbers: Float64Array;
    try {
      numbers = this.call(LeaseCall.ASK);
    } catch (error) {
      // Such as: the kernel has no random numbers for a process without file descriptors. The next attempt has a pause.
      this.tell(LeaseCall.FAIL, 0);
      throw error;
    }
    const request = numbers[Slot.REQUEST] as LeaseRequest;
    if (request === LeaseRequest.NOTHING) return undefined;
    if (request === LeaseRequest.WAIT) {
      this.nextMs = numbers[Slot.WAIT_MS] as number;
      return undefined;
    }
    this.#counts.attempts++;
    this.isRenewed = false;
    const { store, scope, windowMs, owner, hasNode, node: preferred } = this.options;
    const { wallMs, monotonicMs, layout } = this;
    const asked = { number: numbers[Slot.ASKED_NUMBER] as number, wallMs, monotonicMs };
    if (request === LeaseRequest.FENCE) {
      const behind = numbers[Slot.BEHIND] === 1;
      return { ...asked, verb: "ensure", send: (signal) => store.ensure({ scope, behind, signal }) };
    }
    const grant = digitsAt(numbers, Slot.GRANT);
    const common = { scope, grant, nonce: digitsAt(numbers, Slot.NONCE), windowMs, layout };
    if (request === LeaseRequest.ACQUIRE) {
      const node = hasNode && { node: nodeGiven(preferred) as number };
      return {
        ...asked,
        verb: "acquire",
        grant,
        send: (signal) => store.acquire({ ...common, owner, ...node, signal }),
      };
    }
    const node = numbers[Slot.LEASE_NODE] as number;
    const untilMs = numbers[Slot.UNTIL_MS] as number;
    return {
      ...asked,
      verb: "renew",
      grant,
      send: (signal) => store.renew({ ...common, node, untilMs, signal }),
    };
  }

  /** Has the store carry out a request. An answer that comes after its time-out is still used. */
  protected async carry(request: StoreRequest): Promise<void> {
    // A refused answer throws at once: with a promise between, workerd reports an unhandled rejection (2024-09-01).
    const error = await this.#attempted(request.verb, request.send, (answer, isGivenUp) =>
      isGivenUp ? this.#usedLate(request, answer) : this.#used(request, answer),
    );
    if (error) this.#failed(error, request);
  }

  /** Uses an answer to a request that was given up. Never rejects. */
  async #usedLate(request: StoreRequest, answer: unknown): Promise<void> {
    if (this.isClosing) return;
    try {
      await this.#used(request, answer);
    } catch (error) {
      this.report(rejectionError(error, request.verb, this.context));
    }
    this.usedLate();
  }

  /** Has the store do something within the time of an attempt. Resolves to the error if that failed. */
  #attempted<T>(
    verb: string,
    send: (signal: AbortSignal) => Promise<T>,
    use: (answer: T, isGivenUp: boolean) => void | Promise<void>,
  ): Promise<FrazilError | undefined> {
    const [limitMs, isHeld] = this.limit;
    return attempt(this.underWay, send, use, limitMs, isHeld, (error, isGivenUp) =>
      isGivenUp ? timeoutError(verb, this.timeoutMs, this.context) : rejectionError(error, verb, this.context),
    );
  }

  /** A request failed, or its outcome is unknown. */
  #failed(error: FrazilError, { grant, number }: StoreRequest): void {
    if (this.isFree) return;
    // A store that refuses for good is asked less often than one that does not answer.
    const change =
      error.retryable || grant === undefined
        ? this.tell(LeaseCall.FAIL, number)
        : this.refuse(LeaseReason.OTHER, false, 0, grant, number);
    if (change !== LeaseChange.DROPPED) this.report(error);
  }

  protected report(error: FrazilError): void {
    this.#problem = error;
    this.#counts.refused++;
    this.#emit("refused", error);
  }

  /** Hands an answer of the store to the core. */
  #used(request: StoreRequest, answer: unknown): Promise<void> | undefined {
    if (this.isFree) return undefined;
    const { grant, number } = request;
    const given = answer as Answer | undefined;
    if (grant === undefined) this.tell(LeaseCall.FENCED, number);
    else if (given?.granted === true) return this.#granted(request, grant, given);
    else this.#refused(request, grant, given as Refusal);
    return undefined;
  }

  #granted(request: StoreRequest, grant: string, answer: Grant): Promise<void> | undefined {
    const lease = this.take(grant, answer, request);
    const { numbers } = this.port;
    const change = numbers[Slot.CHANGE] as LeaseChange;
    this.isRenewed = change === LeaseChange.BEGUN || change === LeaseChange.EXTENDED;
    if (change === LeaseChange.BEGUN) {
      this.#declined = undefined;
      this.#changed(lease.node);
    }
    if (this.isRenewed) {
      const event = change === LeaseChange.BEGUN ? "acquired" : "renewed";
      this.#problem = undefined;
      this.#counts[event]++;
      this.#emit(event, lease);
    } else if (change === LeaseChange.ENDED) {
      this.#ended(
        new LeaseError("LEASE_LOST", "the store answered with another lease than it had granted: it went back", {
          retryable: true,
        }),
      );
    } else if (change === LeaseChange.DECLINED) {
      // Read before the listeners run: they may use the frame.
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
      this.report(this.#declined);
      return this.release(note);
    }
    return undefined;
  }

  #refused({ verb, number }: StoreRequest, grant: string, answer: Refusal): void {
    const error = refusalError(verb as "acquire" | "renew", answer, this.context, this.#declined);
    const { reason, freeAtMs = 0, storeNowMs = 0 } = answer ?? {};
    if (error.code === "STORE_REFUSED") throw error;
    const code = REASONS[reason as RefusalReason] ?? LeaseReason.OTHER;
    // A difference of anything but numbers is refused.
    const freeInMs = Math.max(0, numberOrNaN(freeAtMs) - numberOrNaN(storeNowMs));
    const change = this.refuse(code, verb === "renew", freeInMs, grant, number, answer);
    if (change === LeaseChange.ENDED) this.#ended(error);
    else if (change !== LeaseChange.DROPPED) this.report(error);
  }

  #ended(error: FrazilError): void {
    this.#changed(undefined);
    this.#problem = error;
    if (this.isClosing) return;
    this.#counts.lost++;
    this.#emit("lost", error);
  }

  #changed(node: number | undefined): void {
    this.isHolding = node !== undefined;
    // A generator that closes has no node id any more.
    if (!this.isClosing) this.generator?.minting.changed(node);
  }

  /** Tells the store that a node id is free. If that fails, it is free after its window. */
  protected async release(note: ReleaseNote | undefined): Promise<void> {
    if (note === undefined) return;
    const { store, scope } = this.options;
    const send = (signal: AbortSignal) => store.release({ scope, ...note, signal });
    const error = await this.#attempted("release", send, () => {});
    if (error) this.report(error);
  }

  refused(error: FrazilError): void {
    if (!isOfLease(error)) return;
    if (this.#problem)
      Object.defineProperty(error, "cause", { value: this.#problem, writable: true, configurable: true });
    this.refusedOfLease(error.code === "LEASE_EXPIRED");
  }

  /** A call was refused because no lease is held. */
  protected abstract refusedOfLease(isExpired: boolean): void;

  /** Why the last attempt failed; `undefined` after one that succeeded. */
  get problem(): FrazilError | undefined {
    return this.#problem;
  }

  stats(): LeaseStats {
    return { ...this.#counts };
  }

  health(): LeaseHealth {
    const { scope, name: store } = this.options;
    // After close() there is no lease to ask about: all is 0.
    const numbers = this.isClosing ? [] : this.call(LeaseCall.STATUS);
    const at = (slot: Slot) => numbers[slot] ?? 0;
    const untilMs = at(Slot.HELD_UNTIL_MS);
    const held = untilMs > 0 && { node: at(Slot.HELD_NODE), fromMs: at(Slot.HELD_FROM_MS), untilMs };
    const [failures, nextMs, skewMs] = [at(Slot.FAILURES), at(Slot.NEXT_MS), at(Slot.SKEW_MS)];
    const problem = this.#problem && { problem: this.#problem };
    return { scope, store, ...held, failures, ...problem, nextMs, skewMs };
  }

  /** Whether the time comes from the store. */
  get hasStoreTime(): boolean {
    return this.options.storeTime;
  }

  /** How long a window lasts, in milliseconds. */
  get windowMs(): number {
    return this.options.windowMs;
  }

  /** The problem with the random numbers of grants and nonces, where the host may be copied. */
  get randomHint(): string | undefined {
    return undefined;
  }

  /** The error for a store that has not answered at all within a time. */
  noAnswer(verb: string): FrazilError {
    return timeoutError(verb, this.maxAsyncWaitMs, this.context);
  }

  #emit<E extends keyof LeaseEvents>(event: E, detail: Parameters<LeaseEvents[E]>[0]): void {
    // To a program that closed the generator only that the store could not be told matters.
    if (!this.isClosing || event === "refused") emit(this.generator?.listeners, event, detail);
  }
}
