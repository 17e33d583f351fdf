/**
 * The calls of the core for a lease: what is written to the frame before one, and what is read from it after. The core decides what to ask
 * and what an answer means (`crates/core/src/lease`).
 */

import { digitsAt, writeDigits } from "../asking/digits.js";
import { randomFor } from "../asking/kernel-random.js";
import { untrueAnswer } from "../asking/store-errors.js";
import { monotonicClock, wallClock } from "../base/clock.js";
import { type FrazilError, LeaseError, refusal } from "../base/errors.js";
import { PackageRule } from "../base/package-rules.js";
import type { Answers, Port } from "../core/port.js";
import { Slot } from "../generated/abi.js";
import { CODES, LeaseCall, type LeaseChange, type LeaseReason, RULES, SUBJECTS } from "../generated/lease.js";
import { nodeRefusal, numberOrNaN } from "../generator/request.js";
import type { Minting } from "../generator/session.js";
import { nodeGiven } from "../layout/default-nodes.js";
import type { Answer, Grant, LeaseStore } from "../stores/lease-store.js";
import type { LeaseContext } from "./errors.js";
import type { LeaseWindow } from "./events.js";

const ANSWERS: Answers = [CODES, RULES, SUBJECTS];

/** What the holder needs to know. @internal */
export interface HolderOptions {
  readonly store: LeaseStore;
  /** The name of the store, in errors. */
  readonly name: string;
  readonly scope: string;
  readonly windowMs: number;
  readonly owner: string;
  /** Whether a node id to prefer was given. */
  readonly hasNode: boolean;
  readonly node: unknown;
  readonly storeTime: boolean;
  /** Whether only calls renew. */
  readonly byCalls: boolean;
  /** Whether no copies of the holder are made, as of processes by snapshots of virtual machines. */
  readonly isUncopied: boolean;
}

/** What to tell the store when a lease is given up. */
export interface ReleaseNote {
  readonly grant: string;
  readonly node: number;
  readonly untilMs: number;
  readonly heldUntilMs: number;
}

/** A request to the store, as its outcome refers to it: its number, and what both clocks showed. */
export interface Asked {
  readonly number: number;
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** The core's output after a lease was given up: what to tell the store, if anything. */
export function releaseNoteIn(numbers: Float64Array): ReleaseNote | undefined {
  if (numbers[Slot.HAS_RELEASE] !== 1) return undefined;
  return {
    grant: digitsAt(numbers, Slot.GRANT),
    node: numbers[Slot.LEASE_NODE] as number,
    untilMs: numbers[Slot.UNTIL_MS] as number,
    heldUntilMs: numbers[Slot.RELEASED_UNTIL_MS] as number,
  };
}

/** The part of a lease that the core has. `LeaseHolder` adds the store and the events. */
export class LeaseCalls {
  /** The time for IDs. */
  readonly clock: () => number;
  protected readonly options: HolderOptions;
  protected layout!: string;
  protected timeoutMs!: number;
  maxAsyncWaitMs!: number;
  /** Set by `opened`, and taken by `start`. */
  protected minting: Minting | undefined;
  protected port!: Port;
  #handle!: number;

  /** What both clocks showed last. */
  protected wallMs = 0;
  protected monotonicMs = 0;
  /** The store's clock, as estimated, at monotonic time 0. */
  #storeOffsetMs = 0;
  /** Milliseconds until the next request is due; 1 if it is due now. */
  protected nextMs!: number;
  /** For how long IDs can be minted before something is due; 0 if none can be now. */
  protected usableMs = 0;

  constructor(options: HolderOptions) {
    this.options = options;
    this.clock = options.storeTime ? () => this.#storeOffsetMs + monotonicClock() : wallClock;
  }

  open(port: Port, write: () => void): number {
    const { windowMs, storeTime, scope, hasNode, node, byCalls, isUncopied } = this.options;
    write();
    const { numbers } = port;
    numbers[Slot.WINDOW_MS] = numberOrNaN(windowMs);
    numbers[Slot.HAS_NODE] = Number(hasNode);
    numbers[Slot.NODE] = numberOrNaN(nodeGiven(node));
    numbers[Slot.BY_CALLS] = Number(byCalls);
    numbers[Slot.UNCOPIED] = Number(isUncopied);
    numbers[Slot.STORE_TIME] = Number(storeTime);
    numbers[Slot.DEFAULT_SCOPE] = Number(scope === "default");
    const status = port.binding.calls.lease(port.binding.frame, 0, LeaseCall.OPEN);
    this.timeoutMs = port.numbers[Slot.TIMEOUT_MS] as number;
    this.maxAsyncWaitMs = port.numbers[Slot.MAX_ASYNC_WAIT_MS] as number;
    const { subject } = port;
    if (status !== 0) {
      if (subject === undefined) throw port.error(status, windowMs, undefined, ANSWERS);
      if (subject === "node") throw nodeRefusal(port.error(status, node));
    }
    return status;
  }

  opened(minting: Minting): void {
    this.minting = minting;
    this.port = minting.port;
    this.#handle = minting.handle;
  }

  /** Whether the handle is closed: no call of the core may follow. */
  protected isFree = false;

  /** Closes the handle. */
  protected free(): void {
    const { binding } = this.port;
    this.isFree = true;
    binding.calls.release(binding.frame, this.#handle);
  }

  protected get context(): LeaseContext {
    const { name, scope } = this.options;
    return {
      ...this.options,
      layout: this.layout,
      where: `in the ${name} store, scope ${JSON.stringify(scope)}`,
    };
  }

  read(): void {
    this.wallMs = Number(wallClock());
    this.monotonicMs = Number(monotonicClock());
  }

  write(numbers: Float64Array): void {
    numbers[Slot.WALL_MS] = this.wallMs;
    numbers[Slot.MONOTONIC_MS] = this.monotonicMs;
  }

  /**
   * Makes a call of the core, and reads what every such call writes. `write` must not run code of the user. If the core
   * refuses, `valueAtFault` gives the value that is at fault.
   */
  protected call(
    call: LeaseCall,
    write?: (numbers: Float64Array) => void,
    valueAtFault?: (subject: string | undefined) => unknown,
  ): Float64Array {
    // Closing needs no clock, and a clock of the user may throw.
    if (call !== LeaseCall.CLOSE) this.read();
    const { binding } = this.port;
    const random = call === LeaseCall.STATUS ? undefined : randomFor(binding.backend, call === LeaseCall.ASK);
    let { numbers } = this.port;
    if (random) numbers.set(random, Slot.RANDOM);
    numbers[Slot.SHOWN_MS] = 0;
    write?.(numbers);
    this.write(numbers);
    const status = binding.calls.lease(binding.frame, this.#handle, call);
    if (status !== 0) throw this.port.error(status, valueAtFault?.(this.port.subject), undefined, ANSWERS);
    // Read after the call, during which the memory of WebAssembly may have grown.
    ({ numbers } = this.port);
    this.#storeOffsetMs = numbers[Slot.STORE_OFFSET_MS] as number;
    this.nextMs = numbers[Slot.NEXT_MS] as number;
    this.usableMs = numbers[Slot.USABLE_MS] as number;
    return numbers;
  }

  /**
   * Hands an answer of the store to the core, each of whose values is read once. Returns the lease that was answered. The outcome is in the
   * frame.
   */
  protected take(grant: string, answer: Grant, { number, wallMs, monotonicMs }: Asked): LeaseWindow {
    const { grant: named, node, fromMs, untilMs, storeNowMs } = answer;
    if (named !== grant)
      throw untrueAnswer(refusal(LeaseError, "STORE_REFUSED", "grant", named, PackageRule.SAME_GRANT), this.context);
    const write = (numbers: Float64Array) => {
      writeDigits(numbers, Slot.GRANT, grant);
      numbers[Slot.LEASE_NODE] = numberOrNaN(node);
      numbers[Slot.FROM_MS] = numberOrNaN(fromMs);
      numbers[Slot.UNTIL_MS] = numberOrNaN(untilMs);
      numbers[Slot.STORE_NOW_MS] = numberOrNaN(storeNowMs);
      numbers[Slot.ASKED_NUMBER] = number;
      numbers[Slot.ASKED_WALL_MS] = wallMs;
      numbers[Slot.ASKED_MONOTONIC_MS] = monotonicMs;
    };
    this.#callWithAnswer(LeaseCall.TAKE, write, { node, lease: answer });
    return { node, fromMs, untilMs };
  }

  /** Makes a call with values from an answer, which the error names. */
  #callWithAnswer(
    call: LeaseCall,
    write: (numbers: Float64Array) => void,
    values: { readonly [subject: string]: unknown },
  ): Float64Array {
    try {
      return this.call(call, write, (subject) => values[subject ?? "lease"]);
    } catch (error) {
      throw untrueAnswer(error as FrazilError, this.context);
    }
  }

  /** Hands a refusal of the store to the core. */
  protected refuse(
    reason: LeaseReason,
    renewing: boolean,
    freeInMs: number,
    grant: string,
    number: number,
    answer?: Answer,
  ): LeaseChange {
    const write = (numbers: Float64Array) => {
      writeDigits(numbers, Slot.GRANT, grant);
      numbers[Slot.ASKED_NUMBER] = number;
      numbers[Slot.REASON] = reason;
      numbers[Slot.RENEWING] = Number(renewing);
      numbers[Slot.FREE_IN_MS] = freeInMs;
    };
    const numbers = this.#callWithAnswer(LeaseCall.REFUSE, write, { lease: answer });
    return numbers[Slot.CHANGE] as LeaseChange;
  }

  /** Tells the core about a request without an answer. `FENCED`: the store has fenced itself. `number`: 0 for what is no request. */
  protected tell(call: LeaseCall.FAIL | LeaseCall.FENCED, number: number): LeaseChange {
    const numbers = this.call(call, (numbers) => {
      numbers[Slot.ASKED_NUMBER] = number;
    });
    return numbers[Slot.CHANGE] as LeaseChange;
  }
}
