/**
 * An attempt to have the store do something: it ends with the answer, after its time, or when it is given up. What the store answers
 * later is still used.
 */
import type { FrazilError } from "../base/errors.js";
import { untilAborted } from "../base/wait.js";
import { type Timer, timeOut, unref } from "./timer.js";

/**
 * Has the store do something, and uses the answer. Resolves to the error if there is none in time.
 *
 * `underWay` has what is asked of the store. Aborting a controller, with `timeOut()`, gives its request up. `limitMs`: how long
 * the attempt may take; without it there is no timer. `isHeld`: whether the timer keeps the process alive. `errorOf` makes the
 * error from what the store rejected with.
 */
export async function attempt<T>(
  underWay: Set<AbortController>,
  send: (signal: AbortSignal) => Promise<T>,
  use: (answer: T, isLate: boolean) => void | Promise<void>,
  limitMs: number | undefined,
  isHeld: boolean,
  errorOf: (error: unknown, isGivenUp: boolean) => FrazilError,
): Promise<FrazilError | undefined> {
  const controller = new AbortController();
  const { signal } = controller;
  let isGivenUp = false;
  // Also where the store throws instead of rejecting.
  const answer = (async () => send(signal))().then((answer) => {
    // What has been answered is not given up.
    underWay.delete(controller);
    return use(answer, isGivenUp);
  });
  let timer: Timer | undefined;
  if (limitMs !== undefined) {
    timer = setTimeout(() => controller.abort(timeOut()), limitMs);
    if (!isHeld) unref(timer);
  }
  underWay.add(controller);
  try {
    await untilAborted(answer, signal);
    return undefined;
  } catch (error) {
    isGivenUp = signal.aborted;
    if (isGivenUp) answer.catch(() => {}); // reported as a time-out
    return errorOf(error, isGivenUp);
  } finally {
    clearTimeout(timer);
    underWay.delete(controller);
  }
}
