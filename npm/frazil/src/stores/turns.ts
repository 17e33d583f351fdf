/** Turns of a store object: how much of it is under way at once. */
import { unref } from "../timer.js";

/**
 * How many allocations of a store object are under way at once. An allocation is a read and a write: if all tags of a process read
 * before the first of them wrote, the writes would wait behind all reads, and the time of all would be over together.
 */
const MAX_UNDER_WAY = 16;
/** How long one keeps its turn, in milliseconds: where some of the tags hang, as on one node of a cluster, the others go on. */
const TURN_MS = 500;

class Turns {
  #underWay = 0;
  readonly #waiting = new Set<() => void>();

  async enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#underWay < MAX_UNDER_WAY) {
      this.#underWay++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const admit = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(admit);
        reject(signal?.reason);
      };
      this.#waiting.add(admit);
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#underWay--;
      return;
    }
    this.#waiting.delete(next);
    next();
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
  await turns.enter(signal);
  let hasTurn = true;
  const leave = () => {
    if (hasTurn) turns.leave();
    hasTurn = false;
  };
  const timer = unref(setTimeout(leave, TURN_MS));
  try {
    return await work();
  } finally {
    // When a signal aborts, the caller hears of it at once, but its statement still waits in the pool or on the server. If the turn ended
    // then, the next allocation would add one more.
    if (!signal?.aborted) {
      clearTimeout(timer);
      leave();
    }
  }
}
