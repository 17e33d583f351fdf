/** Timers that do not keep the process alive. */
export type Timer = ReturnType<typeof setTimeout>;

/** How long until the next look at a clock that shows no number, in milliseconds. */
export const BROKEN_CLOCK_MS = 1000;

/** The reason of a signal that aborts because the time is over, as that of `AbortSignal.timeout()`. */
export const timeOut = (): DOMException => new DOMException("the time of the attempt is over", "TimeoutError");

/** Does not keep the process alive. Browsers and Workers have timers that are numbers. */
export function unref(timer: Timer): Timer {
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
