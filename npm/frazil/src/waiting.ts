/** Calls that wait for an answer of a store: each for a time, or until it is woken. */
import { monotonicClock } from "./clock.js";
import type { Timer } from "./timer.js";
import { unlessAborted } from "./wait.js";

/** Wakes each call that waits. A promise that all share would keep what waited for it. */
export type Waiting = Set<() => void>;

/** Wakes all calls that wait. */
export function wakeAll(waiting: Waiting): void {
  for (const wake of [...waiting]) wake();
}

/** Waits for so long, or until it is woken. Resolves to how long that was, in milliseconds. */
export async function waitIn(waiting: Waiting, ms: number, signal: AbortSignal | undefined): Promise<number> {
  const beganMs = monotonicClock();
  let timer: Timer | undefined;
  // A timer that is over counts in full, so that a clock that stands still does not make a call wait for ever.
  let isOver = false;
  let wake: (() => void) | undefined;
  const over = new Promise<void>((resolve) => {
    wake = resolve;
    waiting.add(wake);
    timer = setTimeout(() => {
      isOver = true;
      resolve();
    }, ms);
  });
  try {
    await unlessAborted(over, signal);
  } finally {
    clearTimeout(timer);
    waiting.delete(wake as () => void);
  }
  return isOver ? ms : Math.min(ms, Math.max(0, monotonicClock() - beganMs));
}
