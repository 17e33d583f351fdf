/**
 * The calls that wait for numbers. Each has a ticket, and they are served in the order of the tickets.
 *
 * - **First come, first served**: a call that wants many numbers is not overtaken by those behind it.
 * - **No call fails while its numbers are there**: when its time is over, or when the store refuses, it takes them if it can, also
 *   before calls that came earlier and want more.
 * - **The cost of a call does not depend on how many others wait.** (In a `Set`, the first of many is found slowly if those before it were
 *   deleted one by one.)
 */

import { onAbort } from "../base/wait.js";
import type { Outcome } from "./numbers.js";

/** A call that waits. */
interface Call {
  readonly count: number;
  /** Takes its numbers, which are there. */
  readonly serve: () => void;
  /** Takes its numbers if they are there, and fails otherwise. */
  readonly end: (failed: Outcome<never>) => void;
}

/** The numbers that a call took, or the error that it throws. @internal */
export function taken<T>(take: () => T): Outcome<T> {
  try {
    const numbers = take();
    return () => numbers;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** @internal */
export class SegmentWaiters {
  readonly #has: (count: number) => boolean;
  readonly #limitMs: number;
  readonly #exhausted: (count: number) => unknown;
  readonly #calls = new Map<number, Call>();
  /** No call that waits has a lower ticket. */
  #firstTicket = 0;
  #nextTicket = 0;
  /** How many calls wait, or were served and have not continued yet. */
  #pending = 0;
  /** How many numbers the calls want together. */
  wanted = 0;

  /** `has`: whether that many numbers are there. `exhausted`: the error for a call that has waited for `limitMs`. */
  constructor(has: (count: number) => boolean, limitMs: number, exhausted: (count: number) => unknown) {
    this.#has = has;
    this.#limitMs = limitMs;
    this.#exhausted = exhausted;
  }

  /** Whether a call may take numbers at once, and overtakes none that came before, nor the result of one. */
  get isFree(): boolean {
    return this.#pending === 0;
  }

  /** Whether no call waits. */
  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  /** Waits until `count` numbers are there, and takes them with `take`. The caller calls the outcome as soon as it goes on. */
  wait<T>(count: number, signal: AbortSignal | undefined, take: () => T): Promise<Outcome<T>> {
    return new Promise((resolve) => {
      const leave = (work: () => Outcome<T>) => {
        if (!this.#calls.delete(ticket)) return;
        clearTimeout(timer);
        this.wanted -= count;
        const outcome = work();
        resolve(() => {
          this.#pending--;
          unwatch?.();
          return outcome();
        });
      };
      const serve = () => leave(() => taken(take));
      const end = (failed: Outcome<never>) => (this.#has(count) ? serve() : leave(() => failed));
      const aborted = () => {
        leave(() => () => {
          throw signal?.reason;
        });
        // Calls behind may want less.
        this.serve();
      };
      const over = () => {
        end(() => {
          throw this.#exhausted(count);
        });
        this.serve();
      };
      const unwatch = signal && onAbort(signal, aborted);
      const timer = setTimeout(over, this.#limitMs);
      const ticket = this.#nextTicket++;
      this.#calls.set(ticket, { count, serve, end });
      this.#pending++;
      this.wanted += count;
    });
  }

  /** Serves the calls, in their order, as long as there are numbers. */
  serve(): void {
    for (let call = this.#first(); call !== undefined && this.#has(call.count); call = this.#first()) call.serve();
  }

  /** Ends the wait of all calls: each takes its numbers if they are there, and fails otherwise. */
  endAll(failed: Outcome<never>): void {
    for (let call = this.#first(); call !== undefined; call = this.#first()) call.end(failed);
  }

  #first(): Call | undefined {
    for (; this.#firstTicket < this.#nextTicket; this.#firstTicket++) {
      const call = this.#calls.get(this.#firstTicket);
      if (call !== undefined) return call;
    }
    return undefined;
  }
}
