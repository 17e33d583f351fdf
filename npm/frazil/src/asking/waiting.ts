/** Calls that wait for an answer of a store: each for a time, or until it is woken. */
import { monotonicClock } from "../base/clock.js";
import { unlessAborted, waitedSince } from "../base/wait.js";
import type { Timer } from "./timer.js";

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
  return waitedSince(beganMs, isOver ? ms : 0);
}
