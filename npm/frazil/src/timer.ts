/** Timers that do not keep the process alive. */
export type Timer = ReturnType<typeof setTimeout>;

/** How long until the next look at a clock that shows no number, in milliseconds. */
export const BROKEN_CLOCK_MS = 1000;

/** Does not keep the process alive. Browsers and Workers have timers that are numbers. */
export function unref(timer: Timer): Timer {
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
