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
import { monotonicClock, wallClock } from "./clock.js";
import { ConfigError, configError, type FrazilError, LeaseError, refusal } from "./errors.js";
import { LeaseCall, LeaseChange, LeaseReason, LeaseRequest } from "./generated/lease.js";
import { Slot } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import { hintOf } from "./keys.js";
import {
  errorOf,
  type LeaseContext,
  refusalError,
  rejectionError,
  timeoutError,
  untrueAnswer,
} from "./lease-errors.js";
import { drawRandom, WORDS } from "./lease-random.js";
import { type LeaseSession, type Minting, SESSION } from "./lease-session.js";
import type { Port } from "./port.js";
import { numberOrNaN } from "./request.js";
import type { Answer, LeaseStore, Refusal, RefusalReason } from "./stores/store.js";
import { unlessAborted } from "./wait.js";

/** A lease that is held. */
export interface LeaseWindow {
  /** The node id; 0 for a layout without a node field. */
  readonly node: number;
  /** The start of the window, in Unix milliseconds of the store's clock. No ID has an earlier time. */
  readonly fromMs: number;
  /** The end of the window. No ID has this time or a later one. */
  readonly untilMs: number;
}

/** The events of a leased generator. */
export interface LeaseEvents {
  /** A lease began: IDs have this node id from now on. */
  readonly acquired: (lease: LeaseWindow) => void;
  /** The window was extended. */
  readonly renewed: (lease: LeaseWindow) => void;
  /** The lease ended, and another one is asked for. */
  readonly lost: (error: FrazilError) => void;
  /** An attempt failed or was refused. The next one follows by itself. */
  readonly refused: (error: FrazilError) => void;
}

/** Counters of a lease, over all node ids that it had. */
export interface LeaseStats {
  /** Requests to the store: to acquire, to renew, and to fence it. */
  readonly attempts: number;
  readonly acquired: number;
  readonly renewed: number;
  readonly lost: number;
  /** Attempts that failed or were refused. */
  readonly refused: number;
}

/** The condition of a lease. */
export interface LeaseHealth {
  readonly scope: string;
  /** How the store is called. */
  readonly store: string;
  /** Absent while no lease is held. */
  readonly node?: number;
  readonly fromMs?: number;
  readonly untilMs?: number;
  /** How many attempts failed in a row. */
  readonly failures: number;
  /** Why the last of them failed. */
  readonly problem?: FrazilError;
  /** How long until the store may have answered, in milliseconds. */
  readonly nextMs: number;
  /**
   * How far the clock of this machine was ahead of the store's at the last answer, in milliseconds; negative if it was
   * behind. At the length of the window nothing can be minted.
   */
  readonly skewMs: number;
}

type Listeners = { [E in keyof LeaseEvents]: Set<LeaseEvents[E]> };

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

/** What to tell the store when a lease is given up. */
interface ReleaseNote {
  readonly grant: string;
  readonly node: number;
  readonly untilMs: number;
  readonly heldUntilMs: number;
}

/** What the driver needs to know. @internal */
export interface DriverOptions {
  readonly store: LeaseStore;
  readonly scope: string;
  readonly windowMs: number;
  readonly owner: string;
  /** Whether a node id to prefer was given. */
  readonly hasNode: boolean;
  readonly node: unknown;
  readonly storeTime: boolean;
  /** Whether only calls renew. */
  readonly byCalls: boolean;
}

/** The numbers of the store's reasons. What they mean is decided in the core; those that it does not tell apart are left out. */
const REASONS: { readonly [R in RefusalReason]?: LeaseReason } = {
  taken: LeaseReason.TAKEN,
  fenced: LeaseReason.FENCED,
  incarnation: LeaseReason.INCARNATION,
  behind: LeaseReason.BEHIND,
  exhausted: LeaseReason.EXHAUSTED,
};

/** How long until the next look at a clock that shows no number. */
const BROKEN_CLOCK_MS = 1000;

/** What both clocks showed. */
interface Clocks {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

type Timer = ReturnType<typeof setTimeout>;

/** Does not keep the process alive. Browsers and Workers have timers that are numbers. */
function unref(timer: Timer): Timer {
  (timer as { unref?: () => void }).unref?.();
  return timer;
}

/** Whether a lease is missing, so that an answer of the store helps. */
const isOfLease = ({ code }: FrazilError) => code === "LEASE_EXPIRED" || code === "LEASE_LOST";

/** The listeners of an event. Refuses a name that is none, and what is no function. @internal */
export function listenersOf(listeners: Listeners, event: string, listener: unknown): Set<unknown> {
  const known = Object.keys(listeners).join(", ");
  if (!known.split(", ").includes(event)) {
    const hint = typeof event === "string" ? hintOf(event, known) : ` (one of ${known})`;
    throw configError("INVALID_ARGUMENT", "event", event, Rule.KNOWN_KEY + hint);
  }
  if (typeof listener !== "function") throw configError("INVALID_ARGUMENT", "listener", listener, Rule.FUNCTION);
  return listeners[event as keyof LeaseEvents];
}

const hex = (word: number) => word.toString(16).padStart(8, "0");

/** Drivers whose generators only calls renew: no timer finds that one was garbage-collected. */
const unattached =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : /* @__PURE__ */ new FinalizationRegistry<LeaseDriver>((driver) => driver.abandon());

/** @internal */
export class LeaseDriver implements LeaseSession {
  readonly [SESSION] = true;
  /** The time for IDs. */
  readonly clock: () => number;
  readonly #options: DriverOptions;
  /** Set by `opened`, and taken by `start`. */
  #minting: Minting | undefined;
  /** A reference to the generator: weak while it is open, and strong while it closes. */
  #attached!: { deref(): Attached | undefined };
  #port!: Port;
  #handle = 0;
  #layout = "";
  #timeoutMs = 0;
  #maxAsyncWaitMs = 0;

  #wallMs = 0;
  #monotonicMs = 0;
  /** The store's clock, as estimated, at monotonic time 0. */
  #storeOffsetMs = 0;

  #timer: Timer | undefined;
  /** How long until the store has answered or is asked again, as of the last call of the core. 1 if that is due. */
  #nextMs = 0;
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
  /** Wakes the calls that wait until the lease changes or an attempt ends. A promise would keep what waited for it. */
  readonly #waiting = new Set<() => void>();
  readonly #counts = { attempts: 0, acquired: 0, renewed: 0, lost: 0, refused: 0 };

  constructor(options: DriverOptions) {
    this.#options = options;
    this.clock = options.storeTime ? () => this.#storeOffsetMs + monotonicClock() : wallClock;
  }

  open(port: Port, write: () => void): number {
    const { windowMs, storeTime, scope, hasNode, node } = this.#options;
    write();
    const { numbers } = port;
    numbers[Slot.WINDOW_MS] = numberOrNaN(windowMs);
    numbers[Slot.HAS_NODE] = Number(hasNode);
    numbers[Slot.NODE] = numberOrNaN(node);
    numbers[Slot.BY_CALLS] = Number(this.#options.byCalls);
    numbers[Slot.STORE_TIME] = Number(storeTime);
    numbers[Slot.DEFAULT_SCOPE] = Number(scope === "default");
    const status = port.binding.calls.lease(port.binding.page, 0, LeaseCall.OPEN);
    this.#timeoutMs = port.numbers[Slot.TIMEOUT_MS] as number;
    this.#maxAsyncWaitMs = port.numbers[Slot.MAX_ASYNC_WAIT_MS] as number;
    const { subject } = port;
    if (status !== 0 && subject === undefined) throw errorOf(port, status, windowMs);
    if (status !== 0 && subject === "node") throw port.error(status, node);
    return status;
  }

  opened(minting: Minting): void {
    this.#minting = minting;
    this.#port = minting.port;
    this.#handle = minting.handle;
  }

  /** Begins to ask the store. The caller keeps what is returned as long as the generator is in use. */
  start(layout: string): Attached {
    const listeners = { acquired: new Set(), renewed: new Set(), lost: new Set(), refused: new Set() } as Listeners;
    const attached = { minting: this.#minting as Minting, listeners };
    this.#minting = undefined;
    this.#layout = layout;
    this.#attached = new WeakRef(attached);
    // Where timers renew, the next one finds that the generator is gone.
    if (this.#options.byCalls) unattached?.register(attached, this, this);
    this.#turn();
    return attached;
  }

  /** The generator was garbage-collected. Nothing is asked of the store; an attempt under way closes the lease when it ends. */
  abandon(): void {
    if (this.#attempt !== undefined || this.#closing !== undefined) return;
    this.#closing = Promise.resolve();
    this.#port.binding.calls.release(this.#port.binding.page, this.#handle);
  }

  get #context(): LeaseContext {
    const { store, scope, windowMs } = this.#options;
    return { store, scope, windowMs, layout: this.#layout };
  }

  readClocks(): void {
    this.#wallMs = Number(wallClock());
    this.#monotonicMs = Number(monotonicClock());
  }

  writeClocks(numbers: Float64Array): void {
    numbers[Slot.WALL_MS] = this.#wallMs;
    numbers[Slot.MONOTONIC_MS] = this.#monotonicMs;
  }

  /**
   * Makes a call of the core, and reads what every such call writes. `write` must not run code of the user. If the core
   * refuses, `valueAtFault` gives the value that is at fault.
   */
  #call(
    call: LeaseCall,
    write?: (numbers: Float64Array) => void,
    valueAtFault?: (subject: string | undefined) => unknown,
  ): Float64Array {
    // Closing needs no clock, and a clock of the user may throw.
    if (call !== LeaseCall.CLOSE) this.readClocks();
    const { binding } = this.#port;
    // The native addon draws from the kernel instead. Other calls than `ASK` need only jitter, and must not fail.
    const isAsking = call === LeaseCall.ASK;
    const random =
      binding.backend !== "wasm" || call === LeaseCall.STATUS
        ? undefined
        : isAsking
          ? drawRandom()
          : crypto.getRandomValues(new Uint32Array(WORDS));
    let { numbers } = this.#port;
    if (random) numbers.set(random, Slot.RANDOM);
    write?.(numbers);
    this.writeClocks(numbers);
    const status = binding.calls.lease(binding.page, this.#handle, call);
    if (status !== 0) throw errorOf(this.#port, status, valueAtFault?.(this.#port.subject));
    // Read after the call, during which the memory of WebAssembly may have grown.
    ({ numbers } = this.#port);
    this.#storeOffsetMs = numbers[Slot.STORE_OFFSET_MS] as number;
    this.#nextMs = numbers[Slot.NEXT_MS] as number;
    return numbers;
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
      this.#report(rejectionError(error, "reading the clocks", this.#context));
      this.#schedule(BROKEN_CLOCK_MS);
    }
  }

  #schedule(ms: number): void {
    if (!this.#options.byCalls) this.#timer = unref(setTimeout(() => this.#turn(), ms));
  }

  #begin(): void {
    this.#call(LeaseCall.STATUS);
    if (this.#attempt !== undefined) {
      // Its timer has not run yet, or it has none.
      if (this.#nextMs <= 1) this.#giveUp();
      return;
    }
    // Random numbers are drawn only for what is due: a call of the user may lead here.
    if (this.#nextMs > 1) {
      this.#schedule(this.#nextMs);
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
        this.#announceChange();
        this.#turn();
      };
      this.#attempt = this.#request(request, numbers)
        .catch((error) => this.#report(rejectionError(error, "an attempt", this.#context)))
        .then(ended);
    }
  }

  /** Asks the core what to request. */
  #ask(): Float64Array {
    try {
      return this.#call(LeaseCall.ASK);
    } catch (error) {
      // Such as: the kernel has no random numbers for a process without file descriptors. The next attempt has a pause.
      this.#call(LeaseCall.FAIL);
      throw error;
    }
  }

  #giveUp(): void {
    for (const controller of this.#underWay) controller.abort();
  }

  /** Wakes the callers that wait for the lease. */
  #announceChange(): void {
    const waiting = [...this.#waiting];
    for (const wake of waiting) wake();
  }

  /** Four numbers of the page as 32 hexadecimal digits. */
  #digits(numbers: Float64Array, at: Slot): string {
    return [0, 1, 2, 3].map((word) => hex(numbers[at + word] as number)).join("");
  }

  /** Sends a request that the core has written into the page, and hands the answer to the core. */
  #request(request: LeaseRequest, numbers: Float64Array): Promise<void> {
    const { store, scope, windowMs, owner, hasNode, node: preferred } = this.#options;
    const asked = { wallMs: this.#wallMs, monotonicMs: this.#monotonicMs };
    if (request === LeaseRequest.FENCE) {
      const behind = numbers[Slot.BEHIND] === 1;
      const send = (signal: AbortSignal) => store.ensure({ scope, behind, signal });
      // After its time-out another attempt may be under way, whose answer this is not.
      const use = (_: unknown, late: boolean) => void (late || this.#call(LeaseCall.FENCED));
      return this.#send("ensure", undefined, send, use);
    }
    const grant = this.#digits(numbers, Slot.GRANT);
    const nonce = this.#digits(numbers, Slot.NONCE);
    const common = { scope, grant, nonce, windowMs, layout: this.#layout };
    if (request === LeaseRequest.ACQUIRE) {
      const send = (signal: AbortSignal) =>
        store.acquire({ ...common, owner, ...(hasNode && { node: preferred as number }), signal });
      return this.#send("acquire", grant, send, (answer, late) =>
        this.#answered("acquire", answer, grant, late ? asked : undefined),
      );
    }
    const node = numbers[Slot.LEASE_NODE] as number;
    const untilMs = numbers[Slot.UNTIL_MS] as number;
    const send = (signal: AbortSignal) => store.renew({ ...common, node, untilMs, signal });
    return this.#send("renew", grant, send, (answer, late) =>
      this.#answered("renew", answer, grant, late ? asked : undefined),
    );
  }

  /** Has the store do something, within the time-out of an attempt. An answer that comes later is still used. */
  async #send<T>(
    verb: string,
    grant: string | undefined,
    send: (signal: AbortSignal) => Promise<T>,
    use: (answer: T, late: boolean) => void | Promise<void>,
  ): Promise<void> {
    const controller = new AbortController();
    let late = false;
    // Also where the store throws instead of rejecting.
    const answer = (async () => send(controller.signal))().then(async (answer) => {
      // What has been answered is not given up.
      this.#underWay.delete(controller);
      if (!late) return use(answer, false);
      if (this.#closing !== undefined) return;
      try {
        await use(answer, true);
      } catch (error) {
        this.#report(rejectionError(error, verb, this.#context));
      }
      // The next attempt may be due at another time now.
      this.#announceChange();
      this.#turn();
    });
    try {
      await this.#inTime(answer, controller);
    } catch (error) {
      late = controller.signal.aborted;
      if (late) answer.catch(() => {}); // reported as a time-out
      const context = this.#context;
      this.#failed(late ? timeoutError(verb, this.#timeoutMs, context) : rejectionError(error, verb, context), grant);
    }
  }

  /** Waits for the store, for as long as an attempt may take; then the controller is aborted. */
  async #inTime(answer: Promise<unknown>, controller: AbortController): Promise<void> {
    let limit: Timer | undefined;
    const isClosing = this.#closing !== undefined;
    if (isClosing || !this.#options.byCalls) limit = setTimeout(() => controller.abort(), this.#timeoutMs);
    // The caller of `close` waits, which keeps the process alive.
    if (limit !== undefined && !isClosing) unref(limit);
    this.#underWay.add(controller);
    try {
      await unlessAborted(answer, controller.signal);
    } finally {
      clearTimeout(limit);
      this.#underWay.delete(controller);
    }
  }

  /** An attempt failed, or its outcome is unknown. */
  #failed(error: FrazilError, grant: string | undefined): void {
    // A store that refuses for good is asked less often than one that does not answer.
    if (error.retryable || grant === undefined) this.#call(LeaseCall.FAIL);
    else this.#refuse(LeaseReason.OTHER, false, 0, grant);
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
    const { grant: named, node, fromMs, untilMs, storeNowMs } = answer;
    if (named !== grant)
      throw untrueAnswer(refusal(LeaseError, "STORE_REFUSED", "grant", named, Rule.SAME_GRANT), this.#context);
    const before = this.held();
    const write = (numbers: Float64Array) => {
      this.#writeGrant(numbers, grant);
      numbers[Slot.LEASE_NODE] = numberOrNaN(node);
      numbers[Slot.FROM_MS] = numberOrNaN(fromMs);
      numbers[Slot.UNTIL_MS] = numberOrNaN(untilMs);
      numbers[Slot.STORE_NOW_MS] = numberOrNaN(storeNowMs);
      numbers[Slot.LATE] = Number(late !== undefined);
      numbers[Slot.ASKED_WALL_MS] = late?.wallMs ?? 0;
      numbers[Slot.ASKED_MONOTONIC_MS] = late?.monotonicMs ?? 0;
    };
    const numbers = this.#callWithAnswer(LeaseCall.TAKE, write, { node, lease: answer });
    const change = numbers[Slot.CHANGE] as LeaseChange;
    this.#isRenewed = change === LeaseChange.BEGUN || change === LeaseChange.EXTENDED;
    if (change === LeaseChange.BEGUN) {
      this.#problem = undefined;
      this.#declined = undefined;
      this.#changed(node);
      this.#counts.acquired++;
      this.#emit("acquired", { node, fromMs, untilMs });
    } else if (change === LeaseChange.EXTENDED) {
      this.#problem = undefined;
      this.#counts.renewed++;
      this.#emit("renewed", { node, fromMs, untilMs });
    } else if (change === LeaseChange.ENDED) {
      this.#ended(
        new LeaseError("LEASE_LOST", "the store answered with another lease than it had granted: it went back", {
          retryable: true,
        }),
        before,
      );
    } else if (change === LeaseChange.DECLINED) {
      // Read before the listeners run: they may use the page.
      const note = this.#releaseNote(numbers);
      // Retryable: another node id is asked for.
      const details = { retryable: true };
      this.#declined = refusal(
        ConfigError,
        "STATE_CONFLICT",
        "node",
        node,
        Rule.ONE_KIND,
        undefined,
        undefined,
        details,
      );
      this.#report(this.#declined);
      await this.#release(note);
    }
  }

  /** Makes a call with values from an answer, which the error names. */
  #callWithAnswer(
    call: LeaseCall,
    write: (numbers: Float64Array) => void,
    values: { readonly [subject: string]: unknown },
  ): Float64Array {
    try {
      return this.#call(call, write, (subject) => values[subject ?? "lease"]);
    } catch (error) {
      throw untrueAnswer(error as FrazilError, this.#context);
    }
  }

  #refused(verb: "acquire" | "renew", answer: Refusal, grant: string): void {
    const error = refusalError(verb, answer, this.#context, this.#declined);
    const before = this.held();
    const { reason, freeAtMs = 0, storeNowMs = 0 } = answer ?? {};
    if (error.code === "STORE_REFUSED") throw error;
    const number = REASONS[reason as RefusalReason] ?? LeaseReason.OTHER;
    // A difference of anything but numbers is refused.
    const freeInMs = Math.max(0, numberOrNaN(freeAtMs) - numberOrNaN(storeNowMs));
    const change = this.#refuse(number, verb === "renew", freeInMs, grant, answer);
    if (change === LeaseChange.ENDED) this.#ended(error, before);
    else this.#report(error);
  }

  #refuse(reason: LeaseReason, renewing: boolean, freeInMs: number, grant: string, answer?: Answer): LeaseChange {
    const write = (numbers: Float64Array) => {
      this.#writeGrant(numbers, grant);
      numbers[Slot.REASON] = reason;
      numbers[Slot.RENEWING] = Number(renewing);
      numbers[Slot.FREE_IN_MS] = freeInMs;
    };
    const numbers = this.#callWithAnswer(LeaseCall.REFUSE, write, { lease: answer });
    return numbers[Slot.CHANGE] as LeaseChange;
  }

  #writeGrant(numbers: Float64Array, grant: string): void {
    for (let word = 0; word < 4; word++)
      numbers[Slot.GRANT + word] = Number.parseInt(grant.slice(8 * word, 8 * word + 8), 16);
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

  #releaseNote(numbers: Float64Array): ReleaseNote | undefined {
    if (numbers[Slot.HAS_RELEASE] !== 1) return undefined;
    const grant = this.#digits(numbers, Slot.GRANT);
    const node = numbers[Slot.LEASE_NODE] as number;
    const untilMs = numbers[Slot.UNTIL_MS] as number;
    const heldUntilMs = numbers[Slot.RELEASED_UNTIL_MS] as number;
    return { grant, node, untilMs, heldUntilMs };
  }

  /** Tells the store that a node id is free. If that fails, it is free after its window. */
  async #release(note: ReleaseNote | undefined): Promise<void> {
    if (note === undefined) return;
    const { store, scope } = this.#options;
    const controller = new AbortController();
    const { signal } = controller;
    const released = (async () => store.release({ scope, ...note, signal }))();
    try {
      await this.#inTime(released, controller);
    } catch (error) {
      if (signal.aborted) released.catch(() => {}); // reported as a time-out
      const aborted = signal.aborted;
      this.#report(
        aborted
          ? timeoutError("release", this.#timeoutMs, this.#context)
          : rejectionError(error, "release", this.#context),
      );
    }
  }

  refused(error: FrazilError): void {
    if (!isOfLease(error)) return;
    if (this.#problem)
      Object.defineProperty(error, "cause", { value: this.#problem, writable: true, configurable: true });
    const { byCalls } = this.#options;
    const isIdle = (byCalls || this.#attempt === undefined) && this.#closing === undefined && !this.#isHurrying;
    const isExpired = error.code === "LEASE_EXPIRED";
    if (!isIdle || !(isExpired || byCalls)) return;
    if (isExpired) this.#call(LeaseCall.HURRY);
    this.#isHurrying = true;
    // Later, since this runs inside a call that mints, and the store is code of the user.
    queueMicrotask(() => {
      this.#isHurrying = false;
      this.#turn();
    });
  }

  renewIfDue(signal: AbortSignal | undefined, limitMs: number): Promise<number> | undefined {
    if (!this.#options.byCalls || this.#closing !== undefined) return undefined;
    this.#turn();
    return this.#isAsked ? this.#whileAsked(signal, Math.min(limitMs, this.#timeoutMs)) : undefined;
  }

  /** Whether the store is asked, and a call has reason to wait for the answer. */
  get #isAsked(): boolean {
    return this.#attempt !== undefined && !this.#isRenewed && this.#closing === undefined;
  }

  /** Waits until the store has answered, at most for so long. Resolves to how long that was. */
  async #whileAsked(signal: AbortSignal | undefined, limitMs: number): Promise<number> {
    let leftMs = limitMs;
    while (this.#isAsked && leftMs > 0) {
      leftMs -= await this.wait(Math.min(leftMs, this.#nextMs), signal);
      this.#turn();
    }
    return limitMs - leftMs;
  }

  retryMs(error: FrazilError, retryMs: number, limitMs: number): number {
    // An answer may come sooner than the error says, and wakes the call.
    return isOfLease(error) && limitMs > 0 ? Math.min(error.retryAfterMs ?? 1, limitMs) : retryMs;
  }

  readonly wait = async (ms: number, signal: AbortSignal | undefined): Promise<number> => {
    const beganMs = monotonicClock();
    let timer: Timer | undefined;
    // A timer that is over counts in full, so that a clock that stands still does not make a call wait for ever.
    let isOver = false;
    let wake: (() => void) | undefined;
    const over = new Promise<void>((resolve) => {
      wake = resolve;
      this.#waiting.add(wake);
      timer = setTimeout(() => {
        isOver = true;
        resolve();
      }, ms);
    });
    try {
      await unlessAborted(over, signal);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(wake as () => void);
    }
    return isOver ? ms : Math.min(ms, Math.max(0, monotonicClock() - beganMs));
  };

  /** The lease that is held, as the page says after the last call. */
  held(): LeaseWindow | undefined {
    if (this.#closing !== undefined) return undefined;
    const numbers = this.#call(LeaseCall.STATUS);
    if (numbers[Slot.HELD] !== 1) return undefined;
    const node = numbers[Slot.HELD_NODE] as number;
    return { node, fromMs: numbers[Slot.HELD_FROM_MS] as number, untilMs: numbers[Slot.HELD_UNTIL_MS] as number };
  }

  /** Why the last attempt failed; `undefined` after one that succeeded. */
  get problem(): FrazilError | undefined {
    return this.#problem;
  }

  get maxAsyncWaitMs(): number {
    return this.#maxAsyncWaitMs;
  }

  stats(): LeaseStats {
    return { ...this.#counts };
  }

  health(): LeaseHealth {
    const { scope, store } = this.#options;
    const held = this.held();
    const numbers = this.#port.numbers;
    const failures = numbers[Slot.FAILURES] as number;
    const nextMs = numbers[Slot.NEXT_MS] as number;
    const skewMs = numbers[Slot.SKEW_MS] as number;
    const problem = this.#problem && { problem: this.#problem };
    // Read last: the name may be a getter, which is code of the user.
    return { scope, store: store.name, ...held, failures, ...problem, nextMs, skewMs };
  }

  /** How long a window lasts, in milliseconds. */
  get windowMs(): number {
    return this.#options.windowMs;
  }

  /** The error for a store that has not answered at all within a time. */
  noAnswer(verb: string): FrazilError {
    return timeoutError(verb, this.#maxAsyncWaitMs, this.#context);
  }

  /** A listener that throws does not stop the others or the lease: its error is thrown where nothing catches it. */
  #emit<E extends keyof LeaseEvents>(event: E, detail: Parameters<LeaseEvents[E]>[0]): void {
    // To a program that closed the generator only that the store could not be told matters.
    if (this.#closing !== undefined && event !== "refused") return;
    const { listeners } = this.#attached.deref() ?? {};
    for (const listener of [...(listeners?.[event] ?? [])] as ((detail: unknown) => void)[]) {
      try {
        listener(detail);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
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
      this.#announceChange();
      // The caller waits, and the timers of attempts would not keep the process alive, if they have any.
      const hold = setTimeout(() => this.#giveUp(), this.#timeoutMs);
      try {
        await this.#attempt;
        clearTimeout(hold);
        await this.#release(this.#releaseNote(this.#call(LeaseCall.CLOSE)));
      } finally {
        clearTimeout(hold);
        this.#port.binding.calls.release(this.#port.binding.page, this.#handle);
        this.#announceChange();
      }
    })();
    return this.#closing;
  }
}
