/** How many allocations of a store object are under way at once: those beyond the limit wait for a turn. */

import { unref } from "../../../asking/timer.js";
import { monotonicClock } from "../../../base/clock.js";
import { onAbort } from "../../../base/wait.js";

/**
 * How many allocations of a store object are under way at once. An allocation is a read and a write: if all tags of a process read
 * before the first of them wrote, the writes would wait behind all reads, and the time of all would be over together.
 */
const MAX_UNDER_WAY = 16;
/** How long one keeps its turn, in milliseconds: where some of the tags hang, as on one node of a cluster, the others go on. */
const TURN_MS = 500;

class Turns {
  /** The turns under way, each with the time at which it began. */
  readonly #underWay = new Map<object, number>();
  readonly #waiting = new Set<(turn: object) => void>();

  async enter(signal: AbortSignal | undefined): Promise<object> {
    signal?.throwIfAborted();
    this.#endOld();
    if (this.#underWay.size < MAX_UNDER_WAY) return this.#begin();
    return new Promise((resolve, reject) => {
      const admit = (turn: object) => {
        unwatch?.();
        resolve(turn);
      };
      this.#waiting.add(admit);
      const unwatch =
        signal &&
        onAbort(signal, () => {
          this.#waiting.delete(admit);
          unwatch?.();
          reject(signal.reason);
        });
    });
  }

  /** Ends a turn, unless it has ended, and begins the one that has waited longest. */
  leave(turn: object): void {
    if (!this.#underWay.delete(turn)) return;
    const [admit] = this.#waiting;
    if (admit === undefined) return;
    this.#waiting.delete(admit);
    admit(this.#begin());
  }

  #begin(): object {
    const turn = {};
    this.#underWay.set(turn, monotonicClock());
    return turn;
  }

  /** Ends the turns whose timer never fired: it was one of fake timers, which are gone. */
  #endOld(): void {
    const nowMs = monotonicClock();
    for (const [turn, beganMs] of this.#underWay) if (Math.abs(nowMs - beganMs) > 2 * TURN_MS) this.leave(turn);
  }
}

const turnsOf = /* @__PURE__ */ new WeakMap<object, Turns>();

/**
 * Runs an allocation of a store object when fewer than `MAX_UNDER_WAY` others are under way, in the order of the calls. Its turn ends with
 * it, or, if it was aborted, after `TURN_MS`.
 */
export async function inTurn<T>(store: object, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  const turns = turnsOf.get(store) ?? new Turns();
  turnsOf.set(store, turns);
  const turn = await turns.enter(signal);
  if (signal?.aborted) {
    turns.leave(turn);
    throw signal.reason;
  }
  const timer = unref(setTimeout(() => turns.leave(turn), TURN_MS));
  try {
    return await work();
  } finally {
    // When a signal aborts, the caller hears of it at once, but its statement still waits in the pool or on the server. If the turn ended
    // then, the next allocation would add one more.
    if (!signal?.aborted) {
      clearTimeout(timer);
      turns.leave(turn);
    }
  }
}
